//! Reads the events of all of a player's games after a position. Knows no page and no stream.

use std::{collections::HashMap, fmt};

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{
    db::{
        events::{
            game_log::{self, LogRange},
            player_feed::{self, ChangedGame, FeedQuery, Moment},
        },
        games,
    },
    domain::{GameId, PlayerId},
    http::{
        answer::{cursor::Cursors, problem::Problem},
        games::find::with_read_permit,
        state::AppState,
        view::event::{EventView, views},
    },
};

/// A position in the feed of a player's events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedPosition {
    /// Transactions that were not over at this moment are still to be read.
    since: Moment,
    /// Set if some of their events were read already.
    rest: Option<Rest>,
}

/// The unread rest of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rest {
    /// The last event that was read, in the order of games and of their `seq`.
    past: (GameId, u32),
    /// The moment of the first read, from which the feed goes on after the rest.
    next: Moment,
}

/// The position from which a client resumes.
#[derive(Clone, Debug)]
pub struct ResumeFrom {
    pub(crate) position: FeedPosition,
    /// The parameter or header that gave it, for error details.
    pub(crate) source: &'static str,
}

/// Why a position is refused.
pub(crate) const UNKNOWN: &str =
    "too old, or from a database state that is lost: read the games again, and start without a position";

/// The first position: the client's, or else the present moment.
pub async fn begin(state: &AppState, resume: Option<ResumeFrom>) -> Result<FeedPosition, Problem> {
    let now = with_read_permit(state, async { player_feed::now(&state.db).await.map_err(Problem::from) }).await?;
    match resume {
        None => Ok(FeedPosition { since: now, rest: None }),
        Some(ResumeFrom { position, .. }) if position.since.is_known_at(&now) => Ok(position),
        Some(ResumeFrom { source, .. }) => Err(Problem::invalid(source, UNKNOWN)),
    }
}

/// Some events, and the position after them.
pub struct Batch {
    pub events: Vec<PlayerEventView>,
    pub position: FeedPosition,
    /// Whether no more events are stored after it.
    pub is_last: bool,
}

/// Up to `limit` events after a position.
pub async fn read(state: &AppState, player: PlayerId, position: &FeedPosition, limit: u32) -> Result<Batch, Problem> {
    let mut batch = read_once(state, player, position, limit).await?;
    if position.rest.is_some() && batch.position.rest.is_none() {
        // That was the rest of an earlier batch. There may be newer events.
        let room = limit.saturating_sub(u32::try_from(batch.events.len()).unwrap_or(limit));
        if room == 0 {
            return Ok(Batch { is_last: false, ..batch });
        }
        let newer = read_once(state, player, &batch.position, room).await?;
        batch.events.extend(newer.events);
        return Ok(Batch { events: batch.events, ..newer });
    }
    Ok(batch)
}

/// The same, but a rest is not followed by newer events.
pub(crate) async fn read_once(
    state: &AppState,
    player: PlayerId,
    position: &FeedPosition,
    limit: u32,
) -> Result<Batch, Problem> {
    let rest = position.rest.as_ref();
    let query = FeedQuery {
        since: &position.since,
        until: rest.map(|rest| &rest.next),
        past: rest.map(|rest| rest.past),
        limit,
    };
    let news = player_feed::news(&state.db, player, &query).await?;
    if !position.since.is_known_at(&news.now) {
        // While the client waited, another server became the primary.
        return Err(Problem::invalid("?after", UNKNOWN));
    }
    let next = rest.map_or(news.now, |rest| rest.next.clone());
    let mut is_last = news.games.len() < limit as usize;
    let (mut room, mut taken) = (limit, vec![]);
    for mut changed in news.games {
        if room == 0 {
            is_last = false;
            break;
        }
        let last_seq = changed.last_seq.min(changed.first_seq.saturating_add(room - 1));
        is_last &= last_seq == changed.last_seq;
        changed.last_seq = last_seq;
        room -= last_seq + 1 - changed.first_seq;
        taken.push(changed);
    }
    let after = |past| FeedPosition { since: position.since.clone(), rest: Some(Rest { past, next: next.clone() }) };
    let end = match taken.last() {
        Some(last) if !is_last => after((last.game, last.last_seq)),
        _ => FeedPosition { since: next.clone(), rest: None },
    };
    let mut events = vec![];
    for event in load(state, &taken).await? {
        let id = after((GameId(event.game_id), event.seq)).seal(&state.cursors, player);
        events.push(PlayerEventView { id, event });
    }
    if let Some(last) = events.last_mut() {
        last.id = end.seal(&state.cursors, player);
    }
    Ok(Batch { events, position: end, is_last })
}

/// The events of these games in their ranges of `seq`.
pub(crate) async fn load(state: &AppState, changed: &[ChangedGame]) -> Result<Vec<EventView>, Problem> {
    if changed.is_empty() {
        return Ok(vec![]);
    }
    let ids: Vec<_> = changed.iter().map(|changed| changed.game).collect();
    let found: HashMap<_, _> =
        games::find_all(&state.db, &ids).await?.into_iter().map(|seated| (seated.game.id(), seated)).collect();
    let pairs: Vec<_> = changed.iter().filter_map(|changed| Some((found.get(&changed.game)?, changed))).collect();
    let ranges = pairs.iter().map(|(seated, changed)| LogRange {
        game: &seated.game,
        after: changed.first_seq - 1,
        until: changed.last_seq,
    });
    let slices = game_log::read_all(&state.db, &ranges.collect::<Vec<_>>()).await?;
    let mut all = vec![];
    for ((seated, _), slice) in pairs.iter().zip(&slices) {
        all.extend(views(seated, slice)?);
    }
    Ok(all)
}

impl FeedPosition {
    /// As a cursor that is valid for this player only.
    pub fn seal(&self, cursors: &Cursors, player: PlayerId) -> String {
        cursors.seal(&self.to_string(), &cursor_scope(player))
    }

    pub(crate) fn open(text: &str, cursors: &Cursors, player: PlayerId) -> Option<Self> {
        let text = cursors.open(text, &cursor_scope(player))?;
        let mut words = text.split(' ');
        let since = words.next()?.parse().ok()?;
        let rest = match words.next() {
            None => None,
            Some(game) => {
                let past = (GameId(Uuid::try_parse(game).ok()?), words.next()?.parse().ok()?);
                Some(Rest { past, next: words.next()?.parse().ok()? })
            }
        };
        Some(Self { since, rest })
    }
}

/// `<moment>`, or with a rest `<moment> <game> <seq> <moment>`.
impl fmt::Display for FeedPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.since)?;
        if let Some(Rest { past: (game, seq), next }) = &self.rest {
            write!(f, " {} {seq} {next}", game.0.simple())?;
        }
        Ok(())
    }
}

/// The list to which a cursor of these events is bound.
pub(crate) fn cursor_scope(player: PlayerId) -> String {
    format!("events of {}", player.0)
}

/// An event of one of the caller's games.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PlayerEvent)]
pub struct PlayerEventView {
    /// The position after it, for `after`. A repeated event may have another `id`.
    pub id: String,
    #[serde(flatten)]
    pub event: EventView,
}

/// A page of events of all the caller's games.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlayerEventPage {
    pub(crate) items: Vec<PlayerEventView>,
    /// The `cursor` of the next page; null if there are no more events so far.
    #[schema(required = true)]
    pub(crate) next_cursor: Option<String>,
    /// The `after` with which to go on later, also if the page is empty.
    pub(crate) last_event_id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_position_opens_for_its_player_only() {
        let cursors = Cursors::new([7; 32]);
        let (ana, bo) = (PlayerId(Uuid::from_u128(1)), PlayerId(Uuid::from_u128(2)));
        let moment = |text: &str| text.parse::<Moment>().expect("a moment");
        let whole = FeedPosition { since: moment("18446744073709551000:600:0,1,599:-1:1800000000"), rest: None };
        let rest = Rest { past: (GameId(Uuid::from_u128(3)), u32::MAX), next: moment("9:0::2:1800000000") };
        for position in [whole.clone(), FeedPosition { rest: Some(rest), ..whole.clone() }] {
            let text = position.seal(&cursors, ana);
            assert_eq!(FeedPosition::open(&text, &cursors, ana), Some(position));
            assert_eq!(FeedPosition::open(&text, &cursors, bo), None);
        }
        for text in ["", "1", "1:0::0:0 2 3", "x y"] {
            assert_eq!(FeedPosition::open(&cursors.seal(text, &cursor_scope(ana)), &cursors, ana), None, "{text}");
        }
    }
}
