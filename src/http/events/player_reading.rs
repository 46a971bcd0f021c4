//! Reads the events of all of a player's games after a place.

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
        games::find::in_turn,
        state::AppState,
        view::event::{EventView, views},
    },
};

/// Where to go on: what was not over at a moment, or the rest of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    since: Moment,
    /// There if some of it was read already.
    rest: Option<Rest>,
}

/// What is left to be read of what had happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rest {
    /// What comes after this, in the order of games and of their events.
    past: (GameId, u32),
    /// When the first of it was read: after the rest, it goes on from there.
    next: Moment,
}

/// A place, and what said it.
#[derive(Clone, Debug)]
pub struct Said {
    pub(crate) place: Place,
    pub(crate) by: &'static str,
}

/// Why a place is refused.
pub(crate) const UNKNOWN: &str =
    "too old, or of a state of the database that is lost: read the games again, and begin anew";

/// Where to begin: at the present moment, unless the client says something else.
pub async fn begin(state: &AppState, said: Option<Said>) -> Result<Place, Problem> {
    let now = in_turn(state, async { player_feed::now(&state.db).await.map_err(Problem::from) }).await?;
    match said {
        None => Ok(Place { since: now, rest: None }),
        Some(Said { place, .. }) if place.since.is_known_at(&now) => Ok(place),
        Some(Said { by, .. }) => Err(Problem::invalid(by, UNKNOWN)),
    }
}

/// Some of what has happened, and where it ends.
pub struct Portion {
    pub events: Vec<PlayerEventView>,
    pub place: Place,
    /// Whether that was all.
    pub is_all: bool,
}

/// Up to `limit` events from a place on.
pub async fn read(state: &AppState, player: PlayerId, place: &Place, limit: u32) -> Result<Portion, Problem> {
    let mut portion = read_once(state, player, place, limit).await?;
    if place.rest.is_some() && portion.place.rest.is_none() {
        // That was the rest of what had happened when the first of it was read. More may have happened since.
        let room = limit.saturating_sub(u32::try_from(portion.events.len()).unwrap_or(limit));
        if room == 0 {
            return Ok(Portion { is_all: false, ..portion });
        }
        let since = read_once(state, player, &portion.place, room).await?;
        portion.events.extend(since.events);
        return Ok(Portion { events: portion.events, ..since });
    }
    Ok(portion)
}

/// The same, but of a rest only what belongs to it.
pub(crate) async fn read_once(
    state: &AppState,
    player: PlayerId,
    place: &Place,
    limit: u32,
) -> Result<Portion, Problem> {
    let rest = place.rest.as_ref();
    let asked =
        FeedQuery { since: &place.since, until: rest.map(|rest| &rest.next), past: rest.map(|rest| rest.past), limit };
    let news = player_feed::news(&state.db, player, &asked).await?;
    if !place.since.is_known_at(&news.now) {
        // While somebody waited, another server was made the primary.
        return Err(Problem::invalid("?after", UNKNOWN));
    }
    let next = rest.map_or(news.now, |rest| rest.next.clone());
    let mut is_all = news.games.len() < limit as usize;
    let (mut room, mut taken) = (limit, vec![]);
    for mut changed in news.games {
        if room == 0 {
            is_all = false;
            break;
        }
        let last_seq = changed.last_seq.min(changed.first_seq.saturating_add(room - 1));
        is_all &= last_seq == changed.last_seq;
        changed.last_seq = last_seq;
        room -= last_seq + 1 - changed.first_seq;
        taken.push(changed);
    }
    let after = |past| Place { since: place.since.clone(), rest: Some(Rest { past, next: next.clone() }) };
    let end = match taken.last() {
        Some(last) if !is_all => after((last.game, last.last_seq)),
        _ => Place { since: next.clone(), rest: None },
    };
    let mut events = vec![];
    for event in load(state, &taken).await? {
        let id = after((GameId(event.game_id), event.seq)).seal(&state.cursors, player);
        events.push(PlayerEventView { id, event });
    }
    if let Some(last) = events.last_mut() {
        last.id = end.seal(&state.cursors, player);
    }
    Ok(Portion { events, place: end, is_all })
}

/// Events of some games.
pub(crate) async fn load(state: &AppState, changed: &[ChangedGame]) -> Result<Vec<EventView>, Problem> {
    if changed.is_empty() {
        return Ok(vec![]);
    }
    let ids: Vec<_> = changed.iter().map(|changed| changed.game).collect();
    let found: HashMap<_, _> =
        games::find_all(&state.db, &ids).await?.into_iter().map(|seated| (seated.game.id(), seated)).collect();
    let known: Vec<_> = changed.iter().filter_map(|changed| Some((found.get(&changed.game)?, changed))).collect();
    let wanted = known.iter().map(|(seated, changed)| LogRange {
        game: &seated.game,
        after: changed.first_seq - 1,
        until: changed.last_seq,
    });
    let parts = game_log::read_all(&state.db, &wanted.collect::<Vec<_>>()).await?;
    let mut all = vec![];
    for ((seated, _), part) in known.iter().zip(&parts) {
        all.extend(views(seated, part)?);
    }
    Ok(all)
}

impl Place {
    /// As clients are given it: nobody else can go on from there.
    pub fn seal(&self, cursors: &Cursors, player: PlayerId) -> String {
        cursors.seal(&self.to_string(), &list_of(player))
    }

    pub(crate) fn open(text: &str, cursors: &Cursors, player: PlayerId) -> Option<Self> {
        let text = cursors.open(text, &list_of(player))?;
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

/// `<moment>`, and of a rest `<moment> <game> <seq> <moment>`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.since)?;
        if let Some(Rest { past: (game, seq), next }) = &self.rest {
            write!(f, " {} {seq} {next}", game.0.simple())?;
        }
        Ok(())
    }
}

pub(crate) fn list_of(player: PlayerId) -> String {
    format!("events of {}", player.0)
}

/// Something that happened in one of the caller's games.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PlayerEvent)]
pub struct PlayerEventView {
    /// Where to go on after it. An event that comes again may have another one.
    pub id: String,
    #[serde(flatten)]
    pub event: EventView,
}

/// A page of events of all the caller's games.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlayerEventPage {
    pub(crate) items: Vec<PlayerEventView>,
    /// What `cursor` must be to get the next page; null if there are no more events by now.
    #[schema(required = true)]
    pub(crate) next_cursor: Option<String>,
    /// What `after` must be to go on later, also if the page is empty.
    pub(crate) last_event_id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written_and_by_nobody_else() {
        let cursors = Cursors::new([7; 32]);
        let (ana, bo) = (PlayerId(Uuid::from_u128(1)), PlayerId(Uuid::from_u128(2)));
        let moment = |text: &str| text.parse::<Moment>().expect("a moment");
        let whole = Place { since: moment("18446744073709551000:600:0,1,599:-1:1800000000"), rest: None };
        let rest = Rest { past: (GameId(Uuid::from_u128(3)), u32::MAX), next: moment("9:0::2:1800000000") };
        for place in [whole.clone(), Place { rest: Some(rest), ..whole.clone() }] {
            let text = place.seal(&cursors, ana);
            assert_eq!(Place::open(&text, &cursors, ana), Some(place));
            assert_eq!(Place::open(&text, &cursors, bo), None);
        }
        for text in ["", "1", "1:0::0:0 2 3", "x y"] {
            assert_eq!(Place::open(&cursors.seal(text, &list_of(ana)), &cursors, ana), None, "{text}");
        }
    }
}
