//! Reads the options, or reports their fault in one line.

use std::{env, error::Error};

use clap::{
    Command, CommandFactory, FromArgMatches,
    builder::{Resettable, StyledStr},
    error::{ContextKind, ContextValue, ErrorKind},
    parser::ValueSource,
};

use super::{help, options::Cli};

/// A command line or an environment without a valid set of options, or with a request for help.
#[derive(Debug)]
pub enum Misread {
    /// The requested help or version.
    Shown(StyledStr),
    /// The error, in one line.
    Wrong(String),
}

impl Cli {
    /// The options as given. An empty variable counts as not set.
    pub fn read() -> Result<Self, Misread> {
        let command = Self::command().mut_args(|argument| {
            let argument = help::place(argument);
            let value = argument.get_env().and_then(env::var_os);
            if value.is_some_and(|value| value.is_empty()) {
                return argument.env(Resettable::Reset);
            }
            argument
        });
        let read = command.try_get_matches().and_then(|matches| {
            let mut cli = Self::from_arg_matches(&matches)?;
            cli.serve.database.has_data_dir_flag = matches.value_source("data_dir") == Some(ValueSource::CommandLine);
            Ok(cli)
        });
        read.map_err(|error| match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Misread::Shown(error.render()),
            _ => Misread::Wrong(one_line(&error)),
        })
    }
}

/// The error, with the flag and its variable. It never repeats a value, which may be a secret in the wrong place.
fn one_line(error: &clap::Error) -> String {
    let said = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
        _ => None,
    };
    let argument = said(ContextKind::InvalidArg).filter(|argument| is_flag(argument)).map(|flag| with_variable(&flag));
    let cause = match error.kind() {
        ErrorKind::ValueValidation => error.source().map(ToString::to_string),
        ErrorKind::InvalidValue => match said(ContextKind::ValidValue).filter(|words| !words.is_empty()) {
            Some(words) => Some(format!("must be one of {words}")),
            None => Some("a value is missing".to_owned()),
        },
        ErrorKind::MissingRequiredArgument => return missing(said(ContextKind::InvalidArg)),
        ErrorKind::UnknownArgument => Some("unknown option: see --help".to_owned()),
        ErrorKind::ArgumentConflict => match said(ContextKind::PriorArg).filter(|prior| is_flag(prior)) {
            Some(prior) if said(ContextKind::InvalidArg).as_ref() != Some(&prior) => {
                Some(format!("it excludes {prior}"))
            }
            _ => Some("it is given more than once".to_owned()),
        },
        _ => None,
    };
    match (argument, cause) {
        (Some(argument), Some(cause)) => format!("{argument}: {cause}"),
        (Some(argument), None) => format!("{argument} is used in a wrong way: see --help"),
        (None, _) => "unknown argument: see --help".to_owned(),
    }
}

/// Names the missing argument. The name is one of the program's own, so it may be shown.
fn missing(arguments: Option<String>) -> String {
    match arguments {
        Some(arguments) => format!("{arguments} is missing: see --help"),
        None => "an argument is missing: see --help".to_owned(),
    }
}

/// Whether the service or one of the commands has an option with this name. The name is without its dashes.
fn is_known(name: &str) -> bool {
    fn has(command: &Command, name: &str) -> bool {
        let mut arguments = command.get_arguments();
        arguments.any(|argument| argument.get_long() == Some(name))
            || command.get_subcommands().any(|own| has(own, name))
    }
    has(&Cli::command(), name)
}

/// Whether this is the name of an option and nothing else, with or without the name of its value.
fn is_flag(argument: &str) -> bool {
    let name = argument.split([' ', '=']).next().unwrap_or_default();
    let is_known = name.strip_prefix("--").is_some_and(is_known);
    let is_short = name.len() <= FLAG_BYTES_MAX && name == argument;
    name.starts_with("--")
        && (is_known || is_short)
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// An unknown flag that is longer is not repeated: it is more than a misspelt option.
const FLAG_BYTES_MAX: usize = 24;

/// The flag, and its variable if it has one.
fn with_variable(flag: &str) -> String {
    let name = flag.split([' ', '=']).next().and_then(|name| name.strip_prefix("--"));
    let command = Cli::command();
    let known = command.get_arguments().find(|argument| argument.get_long().is_some() && argument.get_long() == name);
    match known.and_then(|argument| argument.get_env()) {
        Some(variable) => format!("{flag} or {}", variable.display()),
        None => flag.to_owned(),
    }
}
