//! Names that a request gives: of players, and of the second seat of a game against oneself.

use mancala_domain::PlayerName;

use crate::{answer::problem::Problem, state::name_rules::NameRules};

/// A name that a player takes.
pub fn parse_name(name: &str, rules: &NameRules) -> Result<PlayerName, Problem> {
    parse_name_at("/name", name, rules)
}

/// A name that a player takes, from a field at this pointer.
pub fn parse_name_at(pointer: &'static str, name: &str, rules: &NameRules) -> Result<PlayerName, Problem> {
    let name: PlayerName = name.parse().map_err(|error| Problem::invalid(pointer, format!("{error}")))?;
    refuse_reserved_at(pointer, &name, rules)?;
    Ok(name)
}

pub fn refuse_reserved(name: &PlayerName, rules: &NameRules) -> Result<(), Problem> {
    refuse_reserved_at("/name", name, rules)
}

fn refuse_reserved_at(pointer: &'static str, name: &PlayerName, rules: &NameRules) -> Result<(), Problem> {
    rules.refusal(name).map_or(Ok(()), |detail| Err(Problem::invalid(pointer, detail)))
}
