//! Suspensions that outlive an erasure: a player who comes back as the same person is suspended as before. Knows keyed hashes of
//! persons, and no person.

use std::fmt;

use mancala_domain::{ExternalId, PlayerId};
use sha2::{Digest, Sha256};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use tracing::Instrument;

use super::{identities::Identity, refresh_tokens::Hash, suspensions::Term};
use crate::connection::{DbError, statement};

/// The reason that a suspended player reads who has come back. The reason of before was erased with the earlier player.
const REASON: &str = "An earlier player of the same person was suspended, and erased its data. The suspension goes on.";

/// The kinds of proof that identify a person.
const IDENTITY: &str = "identity";
const APP: &str = "app";

/// The key that hashes persons. All servers with the same signing key share it; another signing key finds no kept suspension.
#[derive(Clone, Copy)]
pub struct PersonKey(pub [u8; 32]);

impl PersonKey {
    /// The hash of a person that an issuer knows.
    pub fn of_identity(self, identity: Identity<'_>) -> Hash {
        self.hash(IDENTITY, identity.issuer.as_bytes(), identity.subject)
    }

    /// The hash of a player by an app's own id of it.
    pub fn of_app_player(self, app: PlayerId, id: &ExternalId) -> Hash {
        self.hash(APP, app.0.as_bytes(), id.as_str().as_bytes())
    }

    /// An issuer's URL has no NUL, and an app's id always has the same length.
    fn hash(self, kind: &str, of: &[u8], id: &[u8]) -> Hash {
        let parts = [&self.0[..], kind.as_bytes(), b"\0", of, b"\0", id];
        parts.into_iter().fold(Sha256::new(), Sha256::chain_update).finalize().into()
    }
}

/// Omits the key.
impl fmt::Debug for PersonKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PersonKey(…)")
    }
}

/// Keeps the suspension of a player that is about to be erased, for each identity of the player and for its app. The caller has locked the player's
/// row.
pub(super) async fn keep(
    connection: &mut PgConnection,
    player: PlayerId,
    key: PersonKey,
    now: OffsetDateTime,
) -> Result<(), DbError> {
    let identities = sqlx::query!("select issuer, subject_hash from player_identity where player_id = $1", player.0);
    let identities = identities.fetch_all(&mut *connection).instrument(statement("select player_identity")).await?;
    let app = sqlx::query!("select app_id, external_id from app_player where player_id = $1", player.0);
    let app = app.fetch_optional(&mut *connection).instrument(statement("select app_player")).await?;
    let identities = identities.into_iter().map(|row| key.hash(IDENTITY, row.issuer.as_bytes(), &row.subject_hash));
    let app = app.map(|row| key.hash(APP, row.app_id.as_bytes(), row.external_id.as_bytes()));
    let persons: Vec<_> = identities.chain(app).map(Vec::from).collect();
    sqlx::query!(
        r#"
        insert into kept_suspension as kept (person_hash, begun_at, until, games)
        select person_hash, begun_at, until, games from player_suspension cross join unnest($1::bytea[]) as person_hash
        where player_id = $2 and lifted_at is null and coalesce(until, 'infinity') > $3
        on conflict (person_hash) do update set begun_at = excluded.begun_at, until = excluded.until, games = excluded.games
        where coalesce(kept.until, 'infinity') < coalesce(excluded.until, 'infinity')
        "#,
        &persons,
        player.0,
        now,
    )
    .execute(connection)
    .instrument(statement("insert kept_suspension"))
    .await?;
    Ok(())
}

/// Suspends a player whose person was suspended before, if that suspension is still in force. The player's new suspension can be lifted by
/// an operator. Idempotent; callers run it whenever a player is shown to be the person. Returns the stored suspension.
pub async fn restore(
    pool: &PgPool,
    player: PlayerId,
    person: &Hash,
    now: OffsetDateTime,
) -> Result<Option<Term>, DbError> {
    let row = sqlx::query!(
        r#"
        with kept as (
            delete from kept_suspension where person_hash = $2 returning begun_at, until, games
        )
        insert into player_suspension as own (player_id, reason, begun_at, until, games, lifted_at, changed_at)
        select player.id, $3, begun_at, until, games, null, clock_timestamp()
        from kept join (select id from player where id = $1 and kind <> 'deleted' for share) player on true
        where coalesce(until, 'infinity') > $4
        on conflict (player_id) do update
        set reason = excluded.reason, begun_at = excluded.begun_at, until = excluded.until, games = excluded.games, lifted_at = null,
            changed_at = excluded.changed_at
        where own.lifted_at is not null or coalesce(own.until, 'infinity') < coalesce(excluded.until, 'infinity')
        returning until, games = 'play_on' as "plays_on!", changed_at
        "#,
        player.0,
        &person[..],
        REASON,
        now,
    );
    let row = row.fetch_optional(pool).instrument(statement("delete kept_suspension insert player_suspension")).await?;
    Ok(row.map(|row| Term { until: row.until, plays_on: row.plays_on, is_lifted: false, changed_at: row.changed_at }))
}

/// Deletes up to `limit` suspensions that have ended; returns how many.
pub async fn purge(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    let deleted = sqlx::query!(
        r#"
        delete from kept_suspension where person_hash in (
            select person_hash from kept_suspension where until <= $1 order by until limit $2 for update skip locked
        )
        "#,
        now,
        i64::from(limit),
    );
    Ok(deleted.execute(pool).instrument(statement("delete kept_suspension")).await?.rows_affected())
}
