//! Wire types that several resources share.

use mancala_db::players::suspensions::Suspension;
use mancala_domain::{Player, PlayerKind};
use mancala_rules::Side;
use serde::{Deserialize, Serialize, Serializer, ser::Error};
use time::{OffsetDateTime, UtcOffset};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat, Type},
};

/// Why writing a wire type as JSON cannot fail.
pub const ALWAYS_JSON: &str = "wire types have string keys and are always JSON";

/// A moment in RFC 3339, in UTC with milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Timestamp(pub OffsetDateTime);

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let utc = self.0.to_offset(UtcOffset::UTC);
        let (date, time) = (utc.date(), utc.time());
        let year = u16::try_from(date.year()).map_err(|_| S::Error::custom("a year before 0"))?;
        let mut text = *b"0000-00-00T00:00:00.000Z";
        // A game has several moments, and the library's formatter takes ten times as long.
        write_digits(&mut text[0..4], year);
        write_digits(&mut text[5..7], u8::from(date.month()).into());
        write_digits(&mut text[8..10], date.day().into());
        write_digits(&mut text[11..13], time.hour().into());
        write_digits(&mut text[14..16], time.minute().into());
        write_digits(&mut text[17..19], time.second().into());
        write_digits(&mut text[20..23], time.millisecond());
        serializer.serialize_str(str::from_utf8(&text).map_err(S::Error::custom)?)
    }
}

/// Writes a number with leading zeros. If the number is longer, it writes the last digits.
fn write_digits(places: &mut [u8], mut number: u16) {
    for place in places.iter_mut().rev() {
        *place = b'0' + u8::try_from(number % 10).expect("a remainder of ten is a digit");
        number /= 10;
    }
}

impl PartialSchema for Timestamp {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .description(Some("A moment: RFC 3339, UTC, with milliseconds."))
            .examples(["2026-11-21T20:15:00.000Z"])
            .into()
    }
}

impl ToSchema for Timestamp {}

/// A side of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Side)]
pub enum SideWord {
    South,
    North,
}

impl From<Side> for SideWord {
    fn from(side: Side) -> Self {
        match side {
            Side::South => SideWord::South,
            Side::North => SideWord::North,
        }
    }
}

impl From<SideWord> for Side {
    fn from(word: SideWord) -> Self {
        match word {
            SideWord::South => Side::South,
            SideWord::North => Side::North,
        }
    }
}

/// The side to move; null if no side is. A type of its own, because the field may be absent as well.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(transparent)]
pub struct TurnView(pub Option<SideWord>);

impl From<Option<Side>> for TurnView {
    fn from(turn: Option<Side>) -> Self {
        Self(turn.map(SideWord::from))
    }
}

/// A suspension, as its player sees it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Suspension)]
pub struct SuspensionView {
    /// Why, in words of an operator.
    pub reason: String,
    pub since: Timestamp,
    /// When it ends; null for a ban.
    #[schema(required = true)]
    pub until: Option<Timestamp>,
    /// What becomes of the player's games that have begun: `play_on`, the player still moves; `stop`, the player does not move, and clocks
    /// stand until the suspension ends; `end`, they end, as with a ban.
    pub games: &'static str,
}

impl From<&Suspension> for SuspensionView {
    fn from(suspension: &Suspension) -> Self {
        Self {
            reason: suspension.reason.to_string(),
            since: Timestamp(suspension.begun_at),
            until: suspension.until.map(Timestamp),
            games: suspension.games.as_str(),
        }
    }
}

/// A player as other players see them.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Player)]
pub struct PlayerView {
    pub id: uuid::Uuid,
    #[schema(example = "Ana")]
    pub name: String,
    pub kind: PlayerKindWord,
    /// In a seat of a game against oneself: the name of the person who sits there beside the player. It is to be shown
    /// in place of `name`. Absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "Bo")]
    pub display_name: Option<String>,
}

/// The kind of a player. Clients ignore values that they do not know.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = PlayerKind)]
pub enum PlayerKindWord {
    Guest,
    Account,
    Computer,
    /// A name in imported games, without an account.
    Imported,
    Deleted,
    /// A service with players of its own, which sits in no game.
    App,
}

impl From<&Player> for PlayerView {
    fn from(player: &Player) -> Self {
        Self { id: player.id.0, name: player.name.to_string(), kind: player.kind.into(), display_name: None }
    }
}

impl From<PlayerKind> for PlayerKindWord {
    fn from(kind: PlayerKind) -> Self {
        match kind {
            PlayerKind::Guest => PlayerKindWord::Guest,
            PlayerKind::Account => PlayerKindWord::Account,
            PlayerKind::Computer => PlayerKindWord::Computer,
            PlayerKind::Imported => PlayerKindWord::Imported,
            PlayerKind::Deleted => PlayerKindWord::Deleted,
            PlayerKind::App => PlayerKindWord::App,
        }
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_moment_is_written_in_utc_with_milliseconds() {
        for (moment, text) in [
            (datetime!(2026-11-21 20:15:00 UTC), "\"2026-11-21T20:15:00.000Z\""),
            (datetime!(2026-01-02 01:02:03.004_999 +01:30), "\"2026-01-01T23:32:03.004Z\""),
            (datetime!(0099-12-31 23:59:59.999 UTC), "\"0099-12-31T23:59:59.999Z\""),
        ] {
            assert_eq!(serde_json::to_string(&Timestamp(moment)).expect("a moment is JSON"), text);
        }
    }
}
