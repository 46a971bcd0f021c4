//! Lists that a player keeps of other players: the common parts of blocks, mutes and friends.

use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use mancala_db::{DbError, players::listed::Listing};
use mancala_domain::PlayerId;
use mancala_http::{
    answer::{
        code::Code,
        headers::{NOT_KEPT, VARIES},
        page::{Moment, next_link, page_size, place_after, take_page},
        problem::Problem,
    },
    request::player,
    state::{AppState, tokens::Caller},
};
use serde::Deserialize;
use time::OffsetDateTime;
use utoipa::IntoParams;

use super::profiles::no_player;

/// The words for what a list does to its players.
pub(super) struct Verb {
    pub(super) infinitive: &'static str,
    pub(super) present: &'static str,
    pub(super) participle: &'static str,
}

/// Checks that a caller may put a player on its own list.
pub(super) async fn check_other(state: &AppState, caller: Caller, other: PlayerId, verb: &Verb) -> Result<(), Problem> {
    player::find(state, caller).await?;
    if other == caller.player {
        let detail = format!("players cannot {} themselves", verb.infinitive);
        return Err(Problem::new(Code::Forbidden, detail));
    }
    Ok(())
}

/// Checks that a player is on the list now.
pub(super) fn check_listed(listing: Listing, verb: &Verb, (too_many, most): (Code, u32)) -> Result<(), Problem> {
    match listing {
        Listing::Stored => Ok(()),
        Listing::TooMany => Err(Problem::new(too_many, format!("a player {} at most {most} others", verb.present))),
        Listing::NoOwner => Err(player::gone()),
        Listing::NoPlayer => Err(no_player()),
        Listing::NoPerson => {
            Err(Problem::new(Code::Forbidden, format!("only guests and accounts can be {}", verb.participle)))
        }
    }
}

/// Which page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListPlayers {
    /// How many at most.
    #[param(minimum = 1, maximum = 100, default = 20)]
    pub(super) limit: Option<u32>,
    /// Where to go on: `next_cursor` of the page before.
    #[param(min_length = 1)]
    pub(super) cursor: Option<String>,
}

/// A page of a player's list, the last one first, with the answer that shows it.
pub(super) struct ListedPage<T> {
    pub(super) items: Vec<T>,
    pub(super) next_cursor: Option<String>,
    pub(super) response: HttpResponseBuilder,
}

/// Reads a page of a player's list. `list` names the list with its filters, and `read` has the place after which the page begins and the
/// most items.
pub(super) async fn page<T>(
    state: &AppState,
    request: &HttpRequest,
    query: &ListPlayers,
    list: &str,
    read: impl AsyncFn(Option<(OffsetDateTime, PlayerId)>, u32) -> Result<Vec<T>, DbError>,
    moment: impl Fn(&T) -> (OffsetDateTime, PlayerId),
) -> Result<ListedPage<T>, Problem> {
    let limit = page_size(query.limit)?;
    let after = place_after::<Moment>(&state.cursors, query.cursor.as_deref(), list)?;
    let mut items = read(after.map(|Moment { at, id }| (at, PlayerId(id))), limit + 1).await?;
    let next_cursor = take_page(&mut items, limit).map(|last| {
        let (at, player) = moment(last);
        state.cursors.seal(&Moment { at, id: player.0 }.to_string(), list)
    });
    let mut response = HttpResponse::Ok();
    if let Some(cursor) = &next_cursor {
        response.insert_header(next_link(request.path(), request.query_string(), cursor));
    }
    response.insert_header(NOT_KEPT).insert_header(VARIES);
    Ok(ListedPage { items, next_cursor, response })
}
