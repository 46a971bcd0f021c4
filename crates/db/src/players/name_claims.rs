//! The forms of accounts' names, which no other account's name may have.

use mancala_domain::{PlayerId, PlayerName};
use sqlx::PgPool;
use tracing::Instrument;
use uuid::Uuid;

use crate::connection::{DbError, statement};

/// An account whose forms are not claimed: an older release stored or renamed it.
#[derive(Clone, Debug)]
pub struct Unclaimed {
    /// The account.
    pub player: PlayerId,
    /// Its name.
    pub name: PlayerName,
    /// The key of that name, as it is stored.
    name_key: String,
}

/// Up to `limit` accounts whose forms are not claimed, the oldest first.
pub async fn list_unclaimed(pool: &PgPool, limit: u32) -> Result<Vec<Unclaimed>, DbError> {
    let rows = sqlx::query!(
        r#"
        select player_id, name, name_key from account join player on player.id = account.player_id
        where claims_of is distinct from name_key
        order by player_id limit $1
        "#,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select account without name_claim"))
    .await?;
    let unclaimed =
        |id, name, name_key| Unclaimed { player: PlayerId(id), name: PlayerName::from_stored(name), name_key };
    Ok(rows.into_iter().map(|row| unclaimed(row.player_id, row.name, row.name_key)).collect())
}

/// Claims the free forms of these accounts' names, and gives up those of their earlier names. Where two accounts read alike,
/// the older one gets the form.
pub async fn claim(pool: &PgPool, accounts: &[Unclaimed]) -> Result<(), DbError> {
    let ids: Vec<Uuid> = accounts.iter().map(|account| account.player.0).collect();
    let keys: Vec<String> = accounts.iter().map(|account| account.name_key.clone()).collect();
    let forms =
        accounts.iter().flat_map(|account| account.name.forms().into_iter().map(|form| (account.player.0, form)));
    let (owners, forms): (Vec<Uuid>, Vec<String>) = forms.unzip();
    sqlx::query!(
        r#"
        with claimant as (
            update account set claims_of = account.name_key
            from unnest($1::uuid[], $2::text[]) as given (player_id, name_key)
            where account.player_id = given.player_id and account.name_key = given.name_key
            returning account.player_id
        ), wanted as (
            select distinct on (form) form, player_id
            from unnest($3::uuid[], $4::text[]) as given (player_id, form) join claimant using (player_id)
            order by form, player_id
        ), given_up as (
            delete from name_claim using claimant
            where name_claim.player_id = claimant.player_id and not name_claim.form = any($4)
        )
        insert into name_claim (form, player_id) select form, player_id from wanted on conflict (form) do nothing
        "#,
        &ids,
        &keys,
        &owners,
        &forms,
    )
    .execute(pool)
    .instrument(statement("insert name_claim"))
    .await?;
    Ok(())
}
