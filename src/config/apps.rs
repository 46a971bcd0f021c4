//! The command for apps: services of others whose users play here.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::values::calls_per_minute;

/// Subcommands for apps. The name of an app is 1 to 32 letters and digits, and . _ - between them.
#[derive(Clone, Debug, Subcommand)]
pub enum App {
    /// Make an app, and print its key, which is not shown again
    Create {
        /// The name: 1 to 32 letters and digits, and . _ - between them
        name: String,
        #[command(flatten)]
        policies: AppPolicies,
    },
    /// Print the name of each app, its id, when it and its key were made, whether it is disabled, and its settings. Below it, print the
    /// issuers that it trusts
    List,
    /// Give an app another key, and print it. The former key is void at once, and so are the tokens of its players
    Rotate {
        /// The app's name
        name: String,
    },
    /// Refuse an app's key, and the tokens of its players
    Disable {
        /// The app's name
        name: String,
    },
    /// Accept the key of a disabled app again
    Enable {
        /// The app's name
        name: String,
    },
    /// Change the opponents of an app's players, or its quotas. Running servers follow at once
    Update {
        /// The app's name
        name: String,
        #[command(flatten)]
        policies: AppPolicies,
    },
    /// Let clients exchange the tokens of an issuer for tokens of the app's players
    Trust {
        /// The app's name
        name: String,
        #[command(flatten)]
        trust: AppTrust,
        #[command(flatten)]
        keys: AppKeys,
    },
    /// Refuse the tokens of an issuer from now on, and the tokens of all players of the app that were issued before
    Untrust {
        /// The app's name
        name: String,
        #[command(flatten)]
        trust: AppTrust,
    },
}

/// Opponents of an app's players, and the app's quotas.
#[derive(Clone, Copy, Debug, Args)]
pub struct AppPolicies {
    /// The opponents that players of the app may have, beside the computer
    #[arg(long, value_enum)]
    pub plays_with: Option<PlaysWith>,
    /// How often the app may call in a minute, 60 at least; 0 for the default, 3,000 at once and 100 a second
    #[arg(long, value_name = "NUMBER", value_parser = calls_per_minute)]
    pub calls_per_minute: Option<i32>,
    /// How many players the app may create in a day; 0 for the default, 20,000
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(i32).range(0..=10_000_000))]
    pub players_per_day: Option<i32>,
}

/// The opponents of an app's players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlaysWith {
    /// All players
    Everyone,
    /// Only other players of the app
    App,
}

/// The issuer and the audience of tokens that are exchanged for tokens of an app's players.
#[derive(Clone, Debug, Args)]
pub struct AppTrust {
    /// The claim `iss` of the tokens. An app has one issuer, because it knows its players by `sub`
    #[arg(long, value_name = "URL")]
    pub issuer: String,
    /// The claim `aud` of the tokens, or one of its values
    #[arg(long, value_name = "AUDIENCE")]
    pub audience: String,
}

/// The source of the keys of an issuer.
#[derive(Clone, Debug, Args)]
#[group(required = true, multiple = false)]
pub struct AppKeys {
    /// The address at which the issuer publishes its keys as a JSON Web Key Set. The rules for addresses of webhooks apply
    #[arg(long, value_name = "URL")]
    pub jwks_url: Option<String>,
    /// A file with the issuer's public keys as a JSON Web Key Set. It is read once, and stored. `trust` again replaces it
    #[arg(long, value_name = "FILE")]
    pub jwks_file: Option<PathBuf>,
}
