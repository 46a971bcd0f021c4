//! The notices for devices that the appends of a batch lead to. Sending is the work of `jobs::push`.

use std::collections::{HashMap, HashSet};

use mancala_db::{
    DbError,
    events::game_log::LogSlice,
    games::SeatedGame,
    push::queue::{self, NewNotice, Present},
};
use mancala_domain::{
    DeviceKind, Event, Game, GameId, Notice, NoticeKind, PlayerId, deadline_soon, is_current, is_pushed, pushes,
};
use sqlx::PgConnection;
use time::{Duration, OffsetDateTime};

use super::muted::Muted;

/// How long a turn waits before devices show it: by then a player who has the game open has played it.
const TURN_DELAY: Duration = Duration::seconds(5);

/// The players of a batch who have devices.
pub(super) struct Pushed(HashSet<PlayerId>);

impl Pushed {
    /// Finds them; asks nothing if nothing is sent to devices.
    pub(super) async fn find(
        connection: &mut PgConnection,
        players: &[PlayerId],
        devices: &[DeviceKind],
    ) -> Result<Self, DbError> {
        if devices.is_empty() || players.is_empty() {
            return Ok(Self(HashSet::new()));
        }
        queue::players_with_devices(connection, players, devices).await.map(Self)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The notices of one append, and the reminder of a deadline that it set.
    pub(super) fn notices(
        &self,
        seated: &SeatedGame,
        part: &LogSlice,
        muted: &Muted,
        now: OffsetDateTime,
    ) -> Vec<NewNotice> {
        let game = &seated.game;
        let notice = |player, kind, deadline, due_at| NewNotice {
            player,
            game: game.id(),
            kind,
            variant: game.terms().options.variant().title(),
            deadline,
            due_at,
        };
        if self.is_empty() || !is_pushed(game) {
            return vec![];
        }
        let is_of = |event: &Event, notice: &Notice| event.seq == notice.seq && muted.is_heard(game, event, notice);
        let shown = pushes(game, &part.previous, &part.events).into_iter();
        let mut made: Vec<_> = shown
            .filter(|notice| part.events.iter().any(|event| is_of(event, notice)))
            .map(|shown| {
                let delay = if shown.kind == NoticeKind::YourTurn { TURN_DELAY } else { Duration::ZERO };
                notice(shown.player, shown.kind, None, now + delay)
            })
            .collect();
        let last = part.events.last().filter(|last| last.seq == game.version());
        if let (Some(deadline), Some((player, at))) =
            (game.time().deadline, last.and_then(|last| deadline_soon(game, last.at)))
        {
            made.push(notice(player, NoticeKind::DeadlineSoon, Some(deadline), at));
        }
        made.retain(|notice| self.0.contains(&notice.player));
        made
    }

    /// Stores the notices of the batch's appends, the last one of each player and game, and drops those that are no longer true.
    pub(super) async fn store<'a>(
        &self,
        connection: &mut PgConnection,
        notices: Vec<NewNotice>,
        games: impl Iterator<Item = &'a SeatedGame>,
        devices: &[DeviceKind],
    ) -> Result<(), DbError> {
        if self.is_empty() {
            return Ok(());
        }
        let present: Vec<_> = games.flat_map(|seated| self.present(&seated.game)).collect();
        let mut last: HashMap<(PlayerId, GameId, bool), NewNotice> = HashMap::new();
        for notice in notices {
            last.insert((notice.player, notice.game, notice.deadline.is_some()), notice);
        }
        queue::store(connection, &last.into_values().collect::<Vec<_>>(), &present, devices).await
    }

    /// The current state of the game, for each of its players who has a device.
    fn present(&self, game: &Game) -> Vec<Present> {
        let people = [game.players().first, game.players().second, game.invited()];
        let people: HashSet<_> = people.into_iter().flatten().filter(|player| self.0.contains(player)).collect();
        let of_player = |player| {
            let is_to_move = is_current(game, player, NoticeKind::YourTurn);
            Present {
                player,
                game: game.id(),
                deadline: game.time().deadline.filter(|_| is_to_move),
                is_to_move,
                is_invited: is_current(game, player, NoticeKind::Invited),
            }
        };
        people.into_iter().map(of_player).collect()
    }
}
