//! Names that a request gives: of players, and of the second seat of a game against oneself.

use crate::{
    domain::{PlayerName, ReservedNames},
    http::answer::problem::Problem,
};

/// A name that a player takes.
pub(crate) fn parse_name(name: &str, reserved: &ReservedNames) -> Result<PlayerName, Problem> {
    parse_name_at("/name", name, reserved)
}

/// The same of a name in another field.
pub(crate) fn parse_name_at(
    pointer: &'static str,
    name: &str,
    reserved: &ReservedNames,
) -> Result<PlayerName, Problem> {
    let name: PlayerName = name.parse().map_err(|error| Problem::invalid(pointer, format!("{error}")))?;
    refuse_reserved_at(pointer, &name, reserved)?;
    Ok(name)
}

pub(crate) fn refuse_reserved(name: &PlayerName, reserved: &ReservedNames) -> Result<(), Problem> {
    refuse_reserved_at("/name", name, reserved)
}

fn refuse_reserved_at(pointer: &'static str, name: &PlayerName, reserved: &ReservedNames) -> Result<(), Problem> {
    let detail = "this name, or one that reads alike, is reserved";
    if reserved.contains(name.as_str()) { Err(Problem::invalid(pointer, detail)) } else { Ok(()) }
}
