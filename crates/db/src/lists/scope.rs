//! The text of a list's filter, to which its cursors are bound. Clients hold cursors, so the text of a filter never changes, even if its
//! types are renamed.

use std::fmt::Display;

use mancala_domain::{PlayerId, Status, Visibility};
use mancala_rules::{Side, Variant};

use super::filter::{Ended, Filter, GameScope, Order, PlayerGames, Statuses};
use crate::kinds::{ClockKind, OpponentKind};

impl Filter {
    /// The text of the filter.
    pub fn scope(&self) -> String {
        let Self { preset, reason, plies, imported, analysed, practice, since, until, .. } = self;
        let practice = practice.map_or_else(String::new, |only| format!(", practice: Some({only})"));
        format!(
            "Filter {{ whose: {}, status: {}, variant: {}, preset: {preset:?}, clock: {}, open_to: {}, ended: {}, reason: {reason:?}, \
             plies: {plies:?}, imported: {imported:?}, analysed: {analysed:?}, since: {}, until: {}, order: {}, viewer: {}{practice} }}",
            whose(self.whose),
            status(self.status),
            some(self.variant.map(Variant::word).map(capital)),
            some(self.clock.map(ClockKind::as_str).map(capital)),
            some(self.open_to.map(opponent)),
            some(self.ended.map(ended)),
            some(*since),
            some(*until),
            order(self.order),
            some(self.viewer.map(player)),
        )
    }
}

fn some<T: Display>(value: Option<T>) -> String {
    value.map_or_else(|| "None".to_owned(), |value| format!("Some({value})"))
}

/// A word such as `per_move` as `PerMove`.
fn capital(word: &str) -> String {
    let capitals = word.split('_').filter_map(|part| part.split_at_checked(1));
    capitals.map(|(first, rest)| first.to_ascii_uppercase() + rest).collect()
}

fn player(PlayerId(id): PlayerId) -> String {
    format!("PlayerId({id})")
}

fn whose(whose: GameScope) -> String {
    match whose {
        GameScope::Public => "Everybodys".to_owned(),
        GameScope::Players(PlayerGames { player: of, opponent, visibility, to_move }) => format!(
            "Players(Of {{ player: {}, opponent: {}, visibility: {}, to_move: {to_move} }})",
            player(of),
            some(opponent.map(player)),
            some(visibility.map(Visibility::as_str).map(capital)),
        ),
        GameScope::ImportedBy(importer) => format!("ImportedBy({})", player(importer)),
        GameScope::At(key) => format!("At(PositionKey({}))", key.0),
    }
}

fn status(statuses: Statuses) -> String {
    let word = |status: Status| capital(status.as_str());
    match statuses {
        Statuses::Any => some(None::<String>),
        Statuses::One(one) => some(Some(word(one))),
        Statuses::Marked(_) => {
            let marked: Vec<_> = Status::ALL.into_iter().filter(|one| statuses.has(*one)).map(word).collect();
            format!("[{}]", marked.join(", "))
        }
    }
}

fn opponent(kind: OpponentKind) -> String {
    if kind == OpponentKind::Oneself { "Oneself".to_owned() } else { capital(kind.as_str()) }
}

fn ended(ended: Ended) -> &'static str {
    match ended {
        Ended::WonBy(Side::South) => "WonBy(South)",
        Ended::WonBy(Side::North) => "WonBy(North)",
        Ended::Drawn => "Drawn",
        Ended::Won => "Won",
        Ended::Lost => "Lost",
    }
}

const fn order(order: Order) -> &'static str {
    match order {
        Order::Created => "Created",
        Order::Finished => "Finished",
        Order::Updated => "Updated",
        Order::Deadline => "Deadline",
        Order::Turn => "Turn",
    }
}

#[cfg(test)]
mod tests {
    use mancala_domain::PositionKey;
    use time::macros::datetime;
    use uuid::Uuid;

    use super::*;

    const PUBLIC: Filter = Filter {
        whose: GameScope::Public,
        status: Statuses::Any,
        variant: None,
        preset: None,
        clock: None,
        open_to: None,
        ended: None,
        reason: None,
        plies: (0, i32::MAX),
        imported: None,
        analysed: None,
        practice: None,
        since: None,
        until: None,
        order: Order::Created,
        viewer: None,
    };

    #[test]
    fn the_text_of_a_filter_is_that_of_earlier_releases() {
        let [one, two] = [PlayerId(Uuid::from_u128(1)), PlayerId(Uuid::from_u128(2))];
        let players =
            PlayerGames { player: one, opponent: Some(two), visibility: Some(Visibility::Private), to_move: true };
        let narrow = Filter {
            whose: GameScope::Players(players),
            status: [Status::Active, Status::Finished].into_iter().collect(),
            variant: Some(Variant::ToguzKumalak),
            preset: Some("standard"),
            clock: Some(ClockKind::PerMove),
            open_to: Some(OpponentKind::Oneself),
            ended: Some(Ended::WonBy(Side::North)),
            reason: Some("timeout".to_owned()),
            plies: (1, 9),
            imported: Some(false),
            analysed: Some(true),
            practice: Some(false),
            since: Some(datetime!(2026-11-01 00:00:00.5 UTC)),
            until: None,
            order: Order::Turn,
            viewer: Some(one),
        };
        let at = Filter { whose: GameScope::At(PositionKey(7)), status: Statuses::One(Status::Finished), ..PUBLIC };
        for (filter, text) in [
            (
                &PUBLIC,
                "Filter { whose: Everybodys, status: None, variant: None, preset: None, clock: None, open_to: None, ended: None, \
                 reason: None, plies: (0, 2147483647), imported: None, analysed: None, since: None, until: None, order: Created, \
                 viewer: None }",
            ),
            (
                &narrow,
                "Filter { whose: Players(Of { player: PlayerId(00000000-0000-0000-0000-000000000001), opponent: \
                 Some(PlayerId(00000000-0000-0000-0000-000000000002)), visibility: Some(Private), to_move: true }), status: \
                 [Active, Finished], variant: Some(ToguzKumalak), preset: Some(\"standard\"), clock: Some(PerMove), open_to: \
                 Some(Oneself), ended: Some(WonBy(North)), reason: Some(\"timeout\"), plies: (1, 9), imported: Some(false), \
                 analysed: Some(true), since: Some(2026-11-01 0:00:00.5 +00:00:00), until: None, order: Turn, viewer: \
                 Some(PlayerId(00000000-0000-0000-0000-000000000001)), practice: Some(false) }",
            ),
            (
                &at,
                "Filter { whose: At(PositionKey(7)), status: Some(Finished), variant: None, preset: None, clock: None, open_to: \
                 None, ended: None, reason: None, plies: (0, 2147483647), imported: None, analysed: None, since: None, until: \
                 None, order: Created, viewer: None }",
            ),
        ] {
            assert_eq!(filter.scope(), text);
        }
    }
}
