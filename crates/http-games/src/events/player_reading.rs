//! Reads the events after a position in all games of a player, or in the games that a notification has named. Knows no page and
//! no stream.

use std::collections::HashMap;

use futures_util::future::join_all;
use serde::Serialize;
use utoipa::ToSchema;

use super::player_position::{FeedPosition, Rest};
use mancala_db::{
    events::{
        game_log::{self, LogRange},
        player_feed::{self, ChangedGame, FeedQuery},
    },
    games::SeatedGame,
};
use mancala_domain::{GameId, PlayerId};
use mancala_http::{answer::problem::Problem, state::AppState};
use mancala_process::repeats;
use mancala_wire::view::event::{EventView, views};

use crate::games::find::{find, find_listed, with_read_permit};

/// The position from which a client resumes.
#[derive(Clone, Debug)]
pub struct ResumeFrom {
    pub position: FeedPosition,
    /// The parameter or header that gave it, for error details.
    pub source: &'static str,
}

/// Why a position is refused.
pub const UNKNOWN: &str =
    "too old, or from a database state that is lost: read the games again, and start without a position";

/// The first position: the client's, or else the present moment.
pub async fn begin(state: &AppState, resume: Option<ResumeFrom>) -> Result<FeedPosition, Problem> {
    let now = with_read_permit(state, async { player_feed::now(&state.db).await.map_err(Problem::from) }).await?;
    match resume {
        None => Ok(FeedPosition::at(now)),
        Some(ResumeFrom { position, .. }) if position.since.is_known_at(&now) => Ok(position),
        Some(ResumeFrom { source, .. }) => Err(Problem::invalid(source, UNKNOWN)),
    }
}

/// A batch of events, and the position after them.
pub struct Batch {
    pub events: Vec<PlayerEventView>,
    pub position: FeedPosition,
    /// Whether the database has no later events.
    pub is_last: bool,
}

/// Up to `limit` events after a position, of all games of the player.
pub async fn read(state: &AppState, player: PlayerId, position: &FeedPosition, limit: u32) -> Result<Batch, Problem> {
    let mut batch = read_once(state, player, position, limit).await?;
    if position.rest.is_some() && batch.position.rest.is_none() {
        // The batch had the rest of an earlier one. Newer events may follow.
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
async fn read_once(state: &AppState, player: PlayerId, position: &FeedPosition, limit: u32) -> Result<Batch, Problem> {
    let rest = position.rest.as_ref();
    let query = FeedQuery {
        since: &position.since,
        ahead: &position.ahead,
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
    let after = |past| FeedPosition { rest: Some(Rest { past, next: next.clone() }), ..position.clone() };
    let end = match taken.last() {
        Some(last) if !is_last => after((last.game, last.last_seq)),
        _ => FeedPosition::at(next.clone()),
    };
    let mut events = vec![];
    for event in load_changed(state, &taken).await? {
        let id = after((GameId(event.game_id), event.seq)).seal(&state.cursors, player);
        events.push(PlayerEventView { id, event });
    }
    if let Some(last) = events.last_mut() {
        last.id = end.seal(&state.cursors, player);
    }
    Ok(Batch { events, position: end, is_last })
}

/// Reads up to `limit` events after a position, in these games only, which a notification has named. All games are read instead if these
/// are too many, or if a read of all games has begun.
pub async fn read_named(
    state: &AppState,
    player: PlayerId,
    position: &FeedPosition,
    named: &[GameId],
    limit: u32,
) -> Result<Batch, Problem> {
    if !position.has_room_for(named) {
        return Box::pin(read(state, player, position, limit)).await;
    }
    let known = read_until(state, position, named).await?;
    // A process that played the move, or another stream of which has read it, has the game already.
    let mut found = vec![];
    for (game, looked_up) in named.iter().zip(join_all(named.iter().map(|game| find(state, *game))).await) {
        match looked_up {
            Ok(game) => found.extend(game),
            Err(error) if error.is_data_error() => leave_out(*game, &error.to_string()),
            Err(error) => return Err(error.into()),
        }
    }
    let (mut room, mut is_last, mut ranges) = (limit, true, vec![]);
    let seated = found.iter().map(|found| &found.seated);
    for seated in seated.filter(|seated| seated.game.change().people.contains(&Some(player))) {
        let Some(after) = known.get(&seated.game.id()) else { continue };
        let until = seated.game.version().min(after.saturating_add(room));
        is_last &= until == seated.game.version();
        if until > *after {
            room -= until - after;
            ranges.push((seated, LogRange { game: &seated.game, after: *after, until }));
        }
    }
    let (mut events, mut end) = (vec![], position.clone());
    for event in load(state, &ranges).await? {
        end.advance(GameId(event.game_id), event.seq);
        events.push(PlayerEventView { id: end.seal(&state.cursors, player), event });
    }
    // Events that cannot be read are passed: the stream would read them again and again.
    for (_, range) in &ranges {
        end.advance(range.game.id(), range.until);
    }
    Ok(Batch { events, position: end, is_last })
}

/// The last event before a position in each of these games.
async fn read_until(
    state: &AppState,
    position: &FeedPosition,
    games: &[GameId],
) -> Result<HashMap<GameId, u32>, Problem> {
    let (ahead, others): (Vec<_>, Vec<_>) =
        games.iter().map(|game| (*game, position.ahead_in(*game))).partition(|(_, seq)| seq.is_some());
    let mut until: HashMap<_, _> = ahead.into_iter().filter_map(|(game, seq)| Some((game, seq?))).collect();
    if !others.is_empty() {
        let others: Vec<_> = others.into_iter().map(|(game, _)| game).collect();
        let seen = player_feed::last_seen(&state.db, &position.since, &others).await?;
        if !position.since.is_known_at(&seen.now) {
            return Err(Problem::invalid("?after", UNKNOWN));
        }
        until.extend(seen.seqs);
    }
    Ok(until)
}

/// The events of games in ranges of `seq`.
async fn load(state: &AppState, ranges: &[(&SeatedGame, LogRange<'_>)]) -> Result<Vec<EventView>, Problem> {
    if ranges.is_empty() {
        return Ok(vec![]);
    }
    let slices = game_log::read_all(&state.db, &ranges.iter().map(|(_, range)| *range).collect::<Vec<_>>()).await?;
    let mut all = vec![];
    for ((seated, _), slice) in ranges.iter().zip(slices) {
        match slice {
            Ok(slice) => match views(seated, &slice) {
                Ok(views) => all.extend(views),
                Err(error) => leave_out(seated.game.id(), &error.to_string()),
            },
            Err(error) if error.is_data_error() => leave_out(seated.game.id(), &error.to_string()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(all)
}

/// Says that events of a game are left out: the reader gets those of other games.
fn leave_out(game: GameId, error: &str) {
    if let Some(line) = repeats::admit("games whose events cannot be read", error) {
        tracing::error!(left_out = line.left_out, game.id = %game.0, "a player's feed lacks events of a game: {error}");
    }
}

/// Reads the new events of these games.
async fn load_changed(state: &AppState, changed: &[ChangedGame]) -> Result<Vec<EventView>, Problem> {
    if changed.is_empty() {
        return Ok(vec![]);
    }
    let ids: Vec<_> = changed.iter().map(|changed| changed.game).collect();
    let found = find_listed(state, &state.db, &ids).await?;
    let found: HashMap<_, _> = found.iter().map(|found| (found.seated.game.id(), &found.seated)).collect();
    let pairs = changed.iter().filter_map(|changed| Some((*found.get(&changed.game)?, changed)));
    let range = |(seated, changed): (_, &ChangedGame)| {
        let seated: &SeatedGame = seated;
        (seated, LogRange { game: &seated.game, after: changed.first_seq - 1, until: changed.last_seq })
    };
    load(state, &pairs.map(range).collect::<Vec<_>>()).await
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
pub struct PlayerEventPage {
    pub items: Vec<PlayerEventView>,
    /// The `cursor` of the next page; null if there are no more events so far.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
    /// The `after` with which to go on later, also if the page is empty.
    pub last_event_id: String,
}
