//! Variables of the environment whose names are nearly those of options.
//!
//! A misspelt `DATABASE_URL` would otherwise be no option at all, and the server would begin with an empty database of its own.

use std::{collections::BTreeSet, env};

use clap::CommandFactory;
use strsim::damerau_levenshtein;

use super::{options::Cli, variables::VARIABLES};

/// Shorter names have too many neighbours: `PAGE` is near `PATH`.
const NAME_MIN: usize = 6;

/// From this length on, a name with two mistakes is recognized. `SMTP_URL` is near `HTTP_URL`.
const TWO_MISTAKES_FROM: usize = 10;

/// A variable that no option has, and the option that was probably meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misspelt {
    pub given: String,
    pub meant: String,
}

/// The variables of this process that are nearly the name of an option which is not set.
pub fn misspelt() -> Vec<Misspelt> {
    let is_set = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        // An empty variable counts as not set.
        (!value.is_empty()).then(|| name.into_string().ok()).flatten()
    };
    among(&env::vars_os().filter_map(is_set).collect())
}

fn among(set: &BTreeSet<String>) -> Vec<Misspelt> {
    let ours = ours();
    let unset: Vec<&String> = ours.iter().filter(|name| name.len() >= NAME_MIN && !set.contains(*name)).collect();
    let meant = |given: &String| {
        let upper = given.to_ascii_uppercase().replace('-', "_");
        unset.iter().find(|name| damerau_levenshtein(name, &upper) <= mistakes_max(name)).map(|name| (*name).clone())
    };
    let others = set.iter().filter(|given| !ours.contains(*given));
    others.filter_map(|given| Some(Misspelt { given: given.clone(), meant: meant(given)? })).collect()
}

const fn mistakes_max(name: &str) -> usize {
    if name.len() >= TWO_MISTAKES_FROM { 2 } else { 1 }
}

/// The variables of all options.
fn ours() -> BTreeSet<String> {
    let command = Cli::command();
    let options = command.get_arguments().filter_map(|argument| argument.get_env()?.to_str().map(str::to_owned));
    options.chain(VARIABLES.iter().map(|variable| variable.name.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(names: &[&str]) -> Vec<(String, String)> {
        let found = among(&names.iter().map(|name| (*name).to_owned()).collect());
        found.into_iter().map(|Misspelt { given, meant }| (given, meant)).collect()
    }

    #[test]
    fn a_name_with_one_or_two_mistakes_is_recognized() {
        for (given, option) in [
            ("DATABSE_URL", "DATABASE_URL"),
            ("DATABASE_ULR", "DATABASE_URL"),
            ("DATABASEURL", "DATABASE_URL"),
            ("DATABASE_URI", "DATABASE_URL"),
            ("DATA_BASE_URLS", "DATABASE_URL"),
            ("database_url", "DATABASE_URL"),
            ("DATABASE-URL", "DATABASE_URL"),
            ("DATA_DRI", "DATA_DIR"),
            ("DATADIR", "DATA_DIR"),
            ("READ_DATABSE_URL", "READ_DATABASE_URL"),
            ("JWT_PUBLIC_KEY_FILE", "JWT_PUBLIC_KEY_FILES"),
            ("JWT_PRIVATE_KEY_FLIE", "JWT_PRIVATE_KEY_FILE"),
            ("LISTN", "LISTEN"),
            ("OTEL_EXPORTER_OTLP_ENDPONT", "OTEL_EXPORTER_OTLP_ENDPOINT"),
        ] {
            assert_eq!(meant(&[given]), [(given.to_owned(), option.to_owned())]);
        }
    }

    #[test]
    fn names_of_others_and_our_own_are_left_alone() {
        let ours = ours();
        let all: Vec<&str> = ours.iter().map(String::as_str).collect();
        assert_eq!(meant(&all), []);
        for name in &all {
            assert_eq!(meant(&[name]), [], "one option is no mistake for another");
        }
        assert_eq!(meant(&["DATABASE_URL", "DATABASE_URL2"]), [], "what was meant is there");
        for others in [
            "PATH",
            "HOME",
            "USER",
            "SHELL",
            "TERM",
            "PWD",
            "LANG",
            "LC_ALL",
            "HOSTNAME",
            "LOGNAME",
            "PGHOST",
            "PGPORT",
            "PGUSER",
            "PGDATABASE",
            "PGPASSWORD",
            "PGDATA",
            "PGSSLROOTCERT",
            "PG_CONFIG",
            "HTTP_URL",
            "HTTP_PROXY",
            "https_proxy",
            "page",
            "RUST_BACKTRACE",
            "RUST_LIB_BACKTRACE",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "NOTIFY_SOCKET",
            "WATCHDOG_USEC",
            "WATCHDOG_PID",
            "LISTEN_FDS",
            "LISTEN_PID",
            "LISTENER",
            "INVOCATION_ID",
            "JOURNAL_STREAM",
            "STATE_DIRECTORY",
            "OTEL_SDK_DISABLED",
            "OTEL_EXPORTER_OTLP_HEADERS",
            "OTEL_TRACES_SAMPLER",
            "OTEL_LOG_LEVEL",
            "XDG_DATA_DIRS",
            "XDG_DATA_HOME",
            "TZ",
            "MALLOC_CONF",
            "REDIS_URL",
            "MAILTO",
            "KUBERNETES_PORT",
            "KUBERNETES_SERVICE_HOST",
        ] {
            assert_eq!(meant(&[others]), []);
        }
    }
}
