//! A position in the events of all of a player's games, and its text. Knows no database and no event.
//!
//! A position never claims more than was read. A read of all games moves `since`; a read of single games adds to `ahead` only.
//! So an event that a later notification names, or none, is still after the position.

use std::fmt;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use mancala_db::events::player_feed::Moment;
use mancala_domain::{GameId, PlayerId};
use mancala_http::answer::cursor::Cursors;
use mancala_wire::live::NAMED_GAMES_MAX;
use uuid::Uuid;

/// The most games that a position names: the number that a notification names.
const AHEAD_MAX: usize = NAMED_GAMES_MAX;

/// A position in the feed of a player's events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedPosition {
    /// The moment of the last read. Transactions that were not over then are still to be read.
    pub since: Moment,
    /// The games of which more was read, each with the `seq` of the last event that was. A game's events are stored in the order
    /// of their `seq`, so one number says all.
    pub ahead: Vec<(GameId, u32)>,
    /// Set if a read of all games has begun and is not over.
    pub rest: Option<Rest>,
}

/// The unread rest of a read of all games.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The last event that was read, in the order of games and of their `seq`.
    pub past: (GameId, u32),
    /// The moment of the first read. The feed continues from it after the other games were read.
    pub next: Moment,
}

impl FeedPosition {
    /// All events up to a moment were read.
    pub const fn at(since: Moment) -> Self {
        Self { since, ahead: vec![], rest: None }
    }

    /// Whether these games can be read alone. Otherwise all games are read, and then none is ahead.
    pub fn has_room_for(&self, games: &[GameId]) -> bool {
        let added = games.iter().filter(|game| self.ahead_in(**game).is_none()).count();
        self.rest.is_none() && self.ahead.len() + added <= AHEAD_MAX
    }

    /// The last event that was read of a game that is ahead.
    pub fn ahead_in(&self, game: GameId) -> Option<u32> {
        self.ahead.iter().find(|(ahead, _)| *ahead == game).map(|(_, seq)| *seq)
    }

    /// Records that all events of a game were read up to this one.
    pub fn advance(&mut self, game: GameId, seq: u32) {
        match self.ahead.iter_mut().find(|(ahead, _)| *ahead == game) {
            Some((_, last)) => *last = seq,
            None => self.ahead.push((game, seq)),
        }
    }

    /// Writes the position as a cursor that is valid for this player only.
    pub fn seal(&self, cursors: &Cursors, player: PlayerId) -> String {
        cursors.seal(&self.to_string(), &cursor_scope(player))
    }

    pub fn open(text: &str, cursors: &Cursors, player: PlayerId) -> Option<Self> {
        let text = cursors.open(text, &cursor_scope(player))?;
        let mut words = text.split(' ');
        let first = words.next()?;
        let (since, ahead) = match first.match_indices(':').nth(MOMENT_COLONS) {
            Some((end, _)) => (&first[..end], read_ahead(&first[end + 1..])?),
            None => (first, vec![]),
        };
        let since = since.parse().ok()?;
        let rest = match words.next() {
            None => None,
            Some(game) => {
                let past = (GameId(Uuid::try_parse(game).ok()?), words.next()?.parse().ok()?);
                Some(Rest { past, next: words.next()?.parse().ok()? })
            }
        };
        Some(Self { since, ahead, rest })
    }
}

/// How many colons the text of a moment has.
const MOMENT_COLONS: usize = 4;

/// `<moment>` or `<moment>:<game>.<seq>,…`, and with a rest ` <game> <seq> <moment>`. The release before takes no notice of
/// the games that are ahead: there a client gets some events again.
impl fmt::Display for FeedPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.since)?;
        for (n, (game, seq)) in self.ahead.iter().enumerate() {
            write!(f, "{}{}.{seq}", if n == 0 { ':' } else { ',' }, BASE64_URL_SAFE_NO_PAD.encode(game.0))?;
        }
        if let Some(Rest { past: (game, seq), next }) = &self.rest {
            write!(f, " {} {seq} {next}", game.0.simple())?;
        }
        Ok(())
    }
}

fn read_ahead(text: &str) -> Option<Vec<(GameId, u32)>> {
    let entry = |entry: &str| {
        let (game, seq) = entry.split_once('.')?;
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(game).ok()?;
        Some((GameId(Uuid::from_slice(&bytes).ok()?), seq.parse().ok()?))
    };
    text.split(',').map(entry).collect()
}

/// The list to which a cursor of these events is bound.
fn cursor_scope(player: PlayerId) -> String {
    format!("events of {}", player.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Moment {
        text.parse().expect("a moment")
    }

    fn game(n: usize) -> GameId {
        GameId(Uuid::from_u128(n as u128))
    }

    #[test]
    fn a_sealed_position_opens_for_its_player_only() {
        let cursors = Cursors::new([7; 32]);
        let (ana, bo) = (PlayerId(Uuid::from_u128(1)), PlayerId(Uuid::from_u128(2)));
        let whole = FeedPosition::at(moment("18446744073709551000:600:0,1,599:-1:1800000000"));
        let ahead = FeedPosition { ahead: vec![(game(3), 1), (game(usize::MAX), u32::MAX)], ..whole.clone() };
        let rest = Some(Rest { past: (game(3), u32::MAX), next: moment("9:0::2:1800000000") });
        let resting = [&whole, &ahead].map(|position| FeedPosition { rest: rest.clone(), ..position.clone() });
        for position in [whole, ahead].into_iter().chain(resting) {
            let text = position.seal(&cursors, ana);
            assert_eq!(FeedPosition::open(&text, &cursors, ana), Some(position));
            assert_eq!(FeedPosition::open(&text, &cursors, bo), None);
        }
        for text in ["", "1", "1:0::0:0 2 3", "x y", "1:0::0:0:", "1:0::0:0:x.1", "1:0::0:0:AAAA.1", "1:0::0:0:1"] {
            assert_eq!(FeedPosition::open(&cursors.seal(text, &cursor_scope(ana)), &cursors, ana), None, "{text}");
        }
    }

    #[test]
    fn the_longest_position_is_opened() {
        let cursors = Cursors::new([7; 32]);
        let ana = PlayerId(Uuid::from_u128(1));
        // A moment names at most this many transactions, even with a transaction that is under way for weeks.
        let names: Vec<_> = (0..50).map(|n| (1_000_000_000_u64 + n).to_string()).collect();
        let since = moment(&format!("9000000000000000000:2000000000:{}:-2147483648:1800000000", names.join(",")));
        let rest = Rest { past: (game(1), u32::MAX), next: since.clone() };
        let ahead = (0..AHEAD_MAX).map(|n| (game(n), u32::MAX)).collect();
        let position = FeedPosition { since, ahead, rest: Some(rest) };
        let text = position.seal(&cursors, ana);
        assert_eq!(FeedPosition::open(&text, &cursors, ana), Some(position), "{} characters", text.len());
    }

    #[test]
    fn a_position_has_room_for_a_bounded_number_of_games() {
        let mut position = FeedPosition::at(moment("9:0::2:1800000000"));
        for n in 0..AHEAD_MAX {
            assert!(position.has_room_for(&[game(0), game(n)]));
            position.advance(game(n), 1);
        }
        position.advance(game(0), 5);
        assert_eq!((position.ahead_in(game(0)), position.ahead_in(game(AHEAD_MAX))), (Some(5), None));
        assert!(position.has_room_for(&[game(0), game(1)]) && !position.has_room_for(&[game(0), game(AHEAD_MAX)]));
        position.rest = Some(Rest { past: (game(1), 1), next: position.since.clone() });
        assert!(!position.has_room_for(&[game(0)]));
    }
}
