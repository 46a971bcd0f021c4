//! The cost of imports and deletions, in calls of the caller's rate limit.

use actix_web::HttpRequest;
use mancala_db::games::SeatedGame;
use mancala_http::{answer::problem::Problem, layers::limits};

/// The calls that a request has been counted for so far.
#[derive(Debug)]
pub struct Cost(u32);

impl Cost {
    /// Every request is counted as one call before its handler runs.
    pub const fn of_one_call() -> Self {
        Self(1)
    }

    /// Raises the count of the request to `calls` in total, or refuses the request. Earlier counts stay.
    pub fn raise(&mut self, request: &HttpRequest, calls: usize) -> Result<(), Problem> {
        let more = u32::try_from(calls).unwrap_or(u32::MAX).saturating_sub(self.0);
        limits::count_more(request, more)?;
        self.0 += more;
        Ok(())
    }
}

/// Plies of a page of an export, unless its first game has more.
const PAGE_PLIES_MAX: u32 = 500;

/// How many of these games a page of an export has: the first one, and as many more as `PAGE_PLIES_MAX` allows.
pub fn games_that_fit(games: &[SeatedGame]) -> usize {
    let mut plies = 0;
    let fits = games.iter().take_while(|seated| {
        let is_first = plies == 0;
        plies += seated.game.ply().max(1);
        is_first || plies <= PAGE_PLIES_MAX
    });
    fits.count()
}
