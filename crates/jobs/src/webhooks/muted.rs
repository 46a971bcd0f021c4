//! Which notices of a batch are not sent, because a player has muted the one who reaches it unasked.

use mancala_db::{DbError, events::game_log::LogSlice, games::SeatedGame, players::mutes};
use mancala_domain::{Event, Game, Notice, PlayerId, unasked_from};
use sqlx::PgConnection;

/// Players who have muted others, and these: those that matter to a batch.
pub(super) struct Muted(Vec<(PlayerId, PlayerId)>);

impl Muted {
    /// Finds them; asks nothing if no player reaches another one unasked.
    pub(super) async fn find<'a>(
        connection: &mut PgConnection,
        appends: impl Iterator<Item = (&'a SeatedGame, &'a LogSlice)>,
    ) -> Result<Self, DbError> {
        let mut unasked = vec![];
        for (SeatedGame { game, .. }, part) in appends {
            let people = [game.players().first, game.players().second, game.invited()];
            for from in part.events.iter().filter_map(|event| unasked_from(game, event)) {
                unasked.extend(people.into_iter().flatten().filter(|to| *to != from).map(|to| (to, from)));
            }
        }
        Ok(Self(if unasked.is_empty() { vec![] } else { mutes::list_of_pairs(connection, &unasked).await? }))
    }

    /// Whether the notice of an event is sent.
    pub(super) fn is_heard(&self, game: &Game, event: &Event, notice: &Notice) -> bool {
        unasked_from(game, event).is_none_or(|from| !self.0.contains(&(notice.player, from)))
    }
}
