//! The queue of notices for devices. Events of games add notices; later events replace them, or drop those that are no longer true.

use std::collections::HashSet;

use mancala_domain::{DeviceKind, GameId, NoticeKind, PlayerId};
use sqlx::{PgConnection, PgExecutor};
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use crate::connection::{DbError, columns, statement};

/// A notice for all devices of a player.
#[derive(Clone, Debug)]
pub struct NewNotice {
    /// The player.
    pub player: PlayerId,
    /// The game.
    pub game: GameId,
    /// Its type.
    pub kind: NoticeKind,
    /// The game's variant.
    pub variant: &'static str,
    /// For a reminder: the deadline.
    pub deadline: Option<OffsetDateTime>,
    /// When it is sent.
    pub due_at: OffsetDateTime,
}

/// The current state of a game whose player has devices.
#[derive(Clone, Copy, Debug)]
pub struct Present {
    /// The player.
    pub player: PlayerId,
    /// The game.
    pub game: GameId,
    /// When the player's time ends, if the player is to move.
    pub deadline: Option<OffsetDateTime>,
    /// Whether the player is to move.
    pub is_to_move: bool,
    /// Whether an invitation waits for the player.
    pub is_invited: bool,
}

columns! {
    struct PresentRow => PresentColumns {
        player_id: Uuid,
        game_id: Uuid,
        deadline: Option<OffsetDateTime>,
        is_to_move: bool,
        is_invited: bool,
    }
}

columns! {
    struct NoticeRow => NoticeColumns {
        player_id: Uuid,
        game_id: Uuid,
        kind: &'static str,
        variant: &'static str,
        deadline: Option<OffsetDateTime>,
        due_at: OffsetDateTime,
        version: Uuid,
    }
}

/// Returns the players who have a device of these kinds.
pub async fn players_with_devices(
    executor: impl PgExecutor<'_>,
    players: &[PlayerId],
    kinds: &[DeviceKind],
) -> Result<HashSet<PlayerId>, DbError> {
    let found = sqlx::query_scalar!(
        "select distinct player_id from push_device where player_id = any($1) and kind = any($2)",
        &players.iter().map(|player| player.0).collect::<Vec<_>>(),
        &kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>() as &[&str],
    )
    .fetch_all(executor)
    .instrument(statement("select players with devices"))
    .await?;
    Ok(found.into_iter().map(PlayerId).collect())
}

/// Stores notices for all devices of these kinds that their players have. `present` has each game of the batch for each player with
/// devices: queued notices that are no longer true are dropped. At most one notice of each player and game comes with a deadline, and one
/// without.
///
/// The devices are locked by an earlier statement, so that a new notice and the end of another see each other.
pub async fn store(
    connection: &mut PgConnection,
    notices: &[NewNotice],
    present: &[Present],
    kinds: &[DeviceKind],
) -> Result<(), DbError> {
    let players: HashSet<Uuid> = present.iter().map(|present| present.player.0).collect();
    let locked = sqlx::query_scalar!(
        "select id from push_device where player_id = any($1) order by id for no key update",
        &players.into_iter().collect::<Vec<_>>(),
    )
    .fetch_all(&mut *connection)
    .instrument(statement("lock push_device"))
    .await?;
    drop_outdated(&mut *connection, present).await?;
    if notices.is_empty() {
        return Ok(());
    }
    let new = NoticeColumns::of(notices.iter().map(|notice| NoticeRow {
        player_id: notice.player.0,
        game_id: notice.game.0,
        kind: notice.kind.as_str(),
        variant: notice.variant,
        deadline: notice.deadline,
        due_at: notice.due_at,
        version: Uuid::now_v7(),
    }));
    sqlx::query!(
        r#"
        with notice as (
            select
                unnest($1::uuid[]) as player_id,
                unnest($2::uuid[]) as game_id,
                unnest($3::text[]) as type,
                unnest($4::text[]) as variant,
                unnest($5::timestamptz[]) as deadline,
                unnest($6::timestamptz[]) as due_at,
                unnest($7::uuid[]) as version
        ), stored as (
            insert into push_notice (device_id, game_id, is_reminder, type, variant, deadline, due_at, version)
            select device.id, game_id, notice.deadline is not null, type, variant, deadline, notice.due_at, version
            from notice join push_device device on device.player_id = notice.player_id and device.kind = any($8) and device.id = any($9)
            on conflict (device_id, game_id, is_reminder) do update
            set type = excluded.type, variant = excluded.variant, deadline = excluded.deadline, due_at = excluded.due_at,
                version = excluded.version
            returning device_id, due_at
        )
        update push_device
        set due_at = least(push_device.due_at, greatest(first.due_at, paused_until))
        from (select device_id, min(due_at) as due_at from stored group by device_id) first
        where push_device.id = first.device_id
        "#,
        &new.player_id,
        &new.game_id,
        &new.kind as &[&str],
        &new.variant as &[&str],
        &new.deadline as &[Option<OffsetDateTime>],
        &new.due_at,
        &new.version,
        &kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>() as &[&str],
        // A device that was registered meanwhile may already be gone again.
        &locked,
    )
    .execute(&mut *connection)
    .instrument(statement("insert push_notice update push_device"))
    .await?;
    Ok(())
}

/// Drops the notices of these games that wait and are no longer true. Such a notice is of a turn that was played, a deadline that has
/// moved, or an invitation that was answered.
async fn drop_outdated(connection: &mut PgConnection, present: &[Present]) -> Result<(), DbError> {
    let present = PresentColumns::of(present.iter().map(|present| PresentRow {
        player_id: present.player.0,
        game_id: present.game.0,
        deadline: present.deadline,
        is_to_move: present.is_to_move,
        is_invited: present.is_invited,
    }));
    sqlx::query!(
        r#"
        delete from push_notice using (
            select device.id as device_id, present.* from (
                select
                    unnest($1::uuid[]) as player_id,
                    unnest($2::uuid[]) as game_id,
                    unnest($3::timestamptz[]) as deadline,
                    unnest($4::boolean[]) as is_to_move,
                    unnest($5::boolean[]) as is_invited
            ) present join push_device device on device.player_id = present.player_id
        ) present
        where push_notice.device_id = present.device_id and push_notice.game_id = present.game_id
          and case type
            when $6 then not is_to_move
            when $7 then push_notice.deadline is distinct from present.deadline
            when $8 then not is_invited
            else false
          end
        "#,
        &present.player_id,
        &present.game_id,
        &present.deadline as &[Option<OffsetDateTime>],
        &present.is_to_move,
        &present.is_invited,
        NoticeKind::YourTurn.as_str(),
        NoticeKind::DeadlineSoon.as_str(),
        NoticeKind::Invited.as_str(),
    )
    .execute(connection)
    .instrument(statement("delete push_notice"))
    .await?;
    Ok(())
}
