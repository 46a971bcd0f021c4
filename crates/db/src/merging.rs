//! Merging a guest with an account: the account takes over the guest's games and data, in one transaction.

use mancala_domain::{Change, Event, Game, GameId, PlayerId};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    connection::{DbError, statement, wait_longer_for_locks},
    games,
    players::{
        OwnPlayer, blocks, friends, mutes, personal_data,
        refresh_tokens::Hash,
        reports, settings,
        suspensions::{self, Suspension},
    },
    push::{self, devices},
    records::archive::amend_imports,
};

/// The most games of a guest that one merge takes over: about a second's work.
pub const GAMES_MAX: usize = 1000;

/// How many games are read and stored at once.
const GAMES_AT_ONCE: usize = 64;

/// A guest as its token names it.
#[derive(Clone, Copy, Debug)]
pub struct NamedGuest {
    /// The player.
    pub player: PlayerId,
    /// The version of the credentials for which the token was issued. With later credentials the token is void.
    pub credentials_version: i32,
}

/// The result of a merge.
#[derive(Debug)]
pub enum Merged {
    /// The guest's things are the account's.
    Stored {
        /// The games in which the account has taken the guest's seat.
        changes: Vec<Change>,
        /// Tokens of the guest before this version are void; `None` if it was merged before.
        least_version: Option<i32>,
    },
    /// The guest is gone, merged with another account, or has other credentials.
    NoGuest,
    /// The token is an account's.
    NotGuest,
    /// The guest is suspended.
    Suspended(Suspension),
    /// The guest has identities, which the account is not to take.
    HasIdentities,
    /// The account's credentials were revoked.
    NoAccount,
    /// A version conflict: a game has changed meanwhile, and nothing was stored.
    Conflict,
    /// The guest has more than [`GAMES_MAX`] games.
    TooManyGames,
}

/// The player of a refresh token that has not expired, with the credentials of its sign-in.
pub async fn find_by_token(
    pool: &PgPool,
    presented: &Hash,
    now: OffsetDateTime,
) -> Result<Option<NamedGuest>, DbError> {
    let row = sqlx::query!(
        r#"
        select family.player_id, family.credentials_version
        from refresh_token token join refresh_family family on family.id = token.family_id
        where token.hash = $1 and token.expires_at > $2 and family.revoked_at is null
            and (token.generation = family.used_generation + 1 or coalesce(family.used_hash = $1, false))
        "#,
        &presented[..],
        now,
    )
    .fetch_optional(pool)
    .instrument(statement("select refresh_token"))
    .await?;
    Ok(row.map(|row| NamedGuest { player: PlayerId(row.player_id), credentials_version: row.credentials_version }))
}

/// The guests that were merged with a player.
pub async fn list(pool: &PgPool, player: PlayerId) -> Result<Vec<PlayerId>, DbError> {
    let ids = sqlx::query_scalar!("select guest_id from merged_guest where player_id = $1", player.0);
    let ids = ids.fetch_all(pool).instrument(statement("select merged_guest")).await?;
    Ok(ids.into_iter().map(PlayerId).collect())
}

/// The fate of the guest's identities: with them, the same person could sign in to the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityHandover {
    /// The account takes over the identities.
    Take,
    /// A guest that has any is not merged.
    Refuse,
}

/// Merges a guest with an account. `reseat` returns the events that give a game's seat to the account. A repetition also takes over games
/// that the guest began during the first merge.
pub async fn merge(
    pool: &PgPool,
    guest: NamedGuest,
    account: &OwnPlayer,
    identities: IdentityHandover,
    now: OffsetDateTime,
    reseat: impl Fn(&Game) -> Vec<Event>,
) -> Result<Merged, DbError> {
    let (guest, version) = (guest.player, guest.credentials_version);
    let mut transaction = pool.begin().await?;
    // Creations of the players hold the locks for a moment each.
    wait_longer_for_locks(&mut transaction).await?;
    let locked = lock(&mut transaction, guest, account.player.id).await?;
    // A separate statement: another merge may have stored a row during the wait for the locks.
    let earlier = sqlx::query_scalar!("select player_id from merged_guest where guest_id = $1", guest.0);
    let earlier = earlier.fetch_optional(&mut *transaction).instrument(statement("select merged_guest")).await?;
    if let Some(refused) = locked.check(version, account, earlier) {
        return Ok(refused);
    }
    if let Some(held) = suspensions::find_within(&mut transaction, guest).await?.filter(|held| held.is_active(now)) {
        return Ok(Merged::Suspended(held));
    }
    if identities == IdentityHandover::Refuse && has_identity(&mut transaction, guest).await? {
        return Ok(Merged::HasIdentities);
    }
    let ids = games_of(&mut transaction, guest).await?;
    if ids.len() > GAMES_MAX {
        return Ok(Merged::TooManyGames);
    }
    // The lock keeps the imported games from being archived, or restored from an archive, until the merge ends.
    let imported = lock_imports(&mut transaction, guest).await?;
    amend_imports(&mut transaction, &imported, Some(account.player.id)).await?;
    // The handover comes first: the games' rows then say whether their players have webhooks or devices.
    hand_over(&mut transaction, guest, account.player.id, now).await?;
    lock_others(&mut transaction, guest).await?;
    blocks::hand_over(&mut transaction, guest, account.player.id).await?;
    mutes::hand_over(&mut transaction, guest, account.player.id).await?;
    friends::hand_over(&mut transaction, guest, account.player.id, now).await?;
    settings::hand_over(&mut transaction, guest, account.player.id).await?;
    reports::hand_over(&mut transaction, guest, account.player.id, now).await?;
    let mut changes = vec![];
    for ids in ids.chunks(GAMES_AT_ONCE) {
        match games::append_to_all(&mut transaction, ids, &reseat).await? {
            Some(stored) => changes.extend(stored),
            None => return Ok(Merged::Conflict),
        }
    }
    let reseated: Vec<Uuid> = changes.iter().map(|change: &Change| change.game.0).collect();
    // The games are handed over before the guest is closed, because closing deletes the guest's counts of games.
    hand_over_counted_games(&mut transaction, account.player.id, &reseated).await?;
    let least_version = match earlier {
        Some(_) => None,
        None => Some(close(&mut transaction, guest, account.player.id, now).await?),
    };
    // Devices come last, because the job that makes notices waits for their locks. The guest's sign-ins are void already; a trigger that
    // deletes devices runs at the end.
    devices::hand_over(&mut transaction, guest, account.player.id, now).await?;
    push::settings::hand_over(&mut transaction, guest, account.player.id).await?;
    transaction.commit().await?;
    Ok(Merged::Stored { changes, least_version })
}

/// The kinds and credentials of both players, which are locked.
struct Locked {
    guest: Option<(String, i32)>,
    account: Option<(String, i32)>,
}

/// Locks both players, in the order of their ids.
async fn lock(connection: &mut PgConnection, guest: PlayerId, account: PlayerId) -> Result<Locked, DbError> {
    let rows = sqlx::query!(
        "select id, kind, credentials_version from player where id = any($1) order by id for update",
        &[guest.0, account.0],
    )
    .fetch_all(connection)
    .instrument(statement("lock players"))
    .await?;
    let row = |id: PlayerId| {
        let found = rows.iter().find(|row| row.id == id.0);
        found.map(|row| (row.kind.clone(), row.credentials_version))
    };
    Ok(Locked { guest: row(guest), account: row(account) })
}

impl Locked {
    /// Why the players cannot be merged. `version` is that of the guest's token, `earlier` the account of an earlier merge.
    fn check(&self, version: i32, account: &OwnPlayer, earlier: Option<Uuid>) -> Option<Merged> {
        if self.account != Some(("account".to_owned(), account.credentials_version)) {
            return Some(Merged::NoAccount);
        }
        match &self.guest {
            Some((kind, _)) if kind == "account" => Some(Merged::NotGuest),
            // The merge itself has revoked the guest's tokens: a repetition comes with one of them.
            Some((kind, present)) if kind == "guest" && version == present - i32::from(earlier.is_some()) => {
                earlier.filter(|earlier| *earlier != account.player.id.0).map(|_| Merged::NoGuest)
            }
            _ => Some(Merged::NoGuest),
        }
    }
}

/// Whether a player has an identity. The player's row is locked, so no identity can be added meanwhile.
async fn has_identity(connection: &mut PgConnection, player: PlayerId) -> Result<bool, DbError> {
    let has =
        sqlx::query_scalar!(r#"select exists (select from player_identity where player_id = $1) as "has!""#, player.0,);
    Ok(has.fetch_one(connection).instrument(statement("select player_identity")).await?)
}

/// The games in which a player sits, up to one more than a merge may take over.
async fn games_of(connection: &mut PgConnection, player: PlayerId) -> Result<Vec<GameId>, DbError> {
    let ids = sqlx::query_scalar!(
        r#"
        select id as "id!" from (
            (select id from game where seat_0_player_id = $1 limit $2)
            union all
            (select id from game
             where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id limit $2)
        ) seated
        order by id limit $2
        "#,
        player.0,
        i64::try_from(GAMES_MAX + 1).expect("a thousand and one"),
    )
    .fetch_all(connection)
    .instrument(statement("select games of a player"))
    .await?;
    Ok(ids.into_iter().map(GameId).collect())
}

/// Locks the players with whom a guest has a block, a mute, a friendship or a report, in the order of their ids. So an erasure of one of
/// them has either ended, or finds the account's rows.
async fn lock_others(connection: &mut PgConnection, guest: PlayerId) -> Result<(), DbError> {
    sqlx::query_scalar!(
        r#"
        select id from player where id in (
            select blocked_id from player_block where blocker_id = $1
            union all
            select blocker_id from player_block where blocked_id = $1
            union all
            select muted_id from player_mute where muter_id = $1
            union all
            select muter_id from player_mute where muted_id = $1
            union all
            select asked_id from friendship where asker_id = $1
            union all
            select asker_id from friendship where asked_id = $1
            union all
            select reported_id from player_report where reporter_id = $1
            union all
            select reporter_id from player_report where reported_id = $1
        )
        order by id for share
        "#,
        guest.0,
    )
    .fetch_all(connection)
    .instrument(statement("lock players"))
    .await?;
    Ok(())
}

/// Locks the games that a player has imported, and returns them.
async fn lock_imports(connection: &mut PgConnection, importer: PlayerId) -> Result<Vec<Uuid>, DbError> {
    let ids = sqlx::query_scalar!(
        r#"
        select id from game where invited_player_id = $1 and opponent = 'imported' order by id for no key update
        "#,
        importer.0,
    );
    Ok(ids.fetch_all(connection).instrument(statement("lock imported games")).await?)
}

/// Notes, webhooks, requests, imports and imported names of the guest become the account's. If both have a note on a ply, the
/// account's stays. A job flags the account's games for the webhooks.
async fn hand_over(
    connection: &mut PgConnection,
    guest: PlayerId,
    account: PlayerId,
    now: OffsetDateTime,
) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        with notes as (
            update note set player_id = $2 where player_id = $1 and not exists (
                select from note own
                where own.player_id = $2 and own.game_id = note.game_id and own.ply = note.ply
            )
        ), held as (
            -- In the order of their ids, as all that locks several.
            select id from webhook where player_id = $1 order by id for no key update
        ), webhooks as (
            update webhook set player_id = $2, network = (select network from player where id = $2), flag_at = case when disabled_at is null then $3::timestamptz end
            from held where webhook.id = held.id
        ), analyses as (
            update analysis_request
            set player_id = $2, round_key = coalesce((select network from player where id = $2), $2) where player_id = $1
        ), beginnings as (
            -- The row of a game follows from its log, so both name the new importer.
            update event set detail = jsonb_set(detail, '{invited_player_id}', to_jsonb($2::uuid::text))
            from game
            where game.invited_player_id = $1 and game.opponent = 'imported'
                and event.game_id = game.id and event.seq = 1
        ), imported as (
            update game set invited_player_id = $2 where invited_player_id = $1 and opponent = 'imported'
        ), names as (
            -- Names that the account has as well stay, because an importer has each name once. The deletion of games finds both.
            update player set importer_id = $2
            where kind = 'imported' and coalesce(importer_id, '00000000-0000-0000-0000-000000000000') = $1 and not exists (
                select from player own
                where own.kind = 'imported' and coalesce(own.importer_id, '00000000-0000-0000-0000-000000000000') = $2
                    and own.name = player.name
            )
        ), usage as (
            delete from import_usage where player_id = $1 returning games, plies
        )
        insert into import_usage as own (player_id, games, plies) select $2, games, plies from usage
        on conflict (player_id) do update set games = own.games + excluded.games, plies = own.plies + excluded.plies
        "#,
        guest.0,
        account.0,
        now,
    )
    .execute(connection)
    .instrument(statement("update note webhook"))
    .await?;
    Ok(())
}

/// Running games against the computer count for the account from now on. Open games still count for the guest's network: otherwise guests
/// that are merged one after the other would fill the lobby.
async fn hand_over_counted_games(
    connection: &mut PgConnection,
    account: PlayerId,
    games: &[Uuid],
) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        with open as (
            update open_game set player_id = $1 where game_id = any($2)
        )
        update computer_game set player_id = $1, network = player.network from player where game_id = any($2) and id = $1
        "#,
        account.0,
        games,
    )
    .execute(connection)
    .instrument(statement("update computer_game open_game"))
    .await?;
    Ok(())
}

/// Ends every way to be the guest. Its row stays until unused guests are purged. Returns the new `credentials_version`.
async fn close(
    connection: &mut PgConnection,
    guest: PlayerId,
    account: PlayerId,
    now: OffsetDateTime,
) -> Result<i32, DbError> {
    personal_data::delete_merged(connection, guest).await?;
    let version = sqlx::query_scalar!(
        r#"
        with merged as (
            insert into merged_guest (guest_id, player_id, merged_at) values ($1, $2, $3)
        ), notes as (
            delete from note where player_id = $1
        )
        update player set credentials_version = credentials_version + 1, network = null
        where id = $1 returning credentials_version
        "#,
        guest.0,
        account.0,
        now,
    )
    .fetch_one(connection)
    .instrument(statement("insert merged_guest update player"))
    .await?;
    Ok(version)
}
