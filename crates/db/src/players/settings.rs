//! What a player lets others see.

use mancala_domain::PlayerId;
use sqlx::{PgConnection, PgPool};
use tracing::Instrument;

use crate::connection::{DbError, statement};

/// The settings of a player.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Whether others find the account by the beginning of its name. Guests are not found.
    pub is_findable: bool,
    /// Whether friends see when the player was last seen.
    pub shows_last_seen: bool,
}

/// Changes of them; `None` changes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewSettings {
    /// See [`Settings::is_findable`].
    pub is_findable: Option<bool>,
    /// See [`Settings::shows_last_seen`].
    pub shows_last_seen: Option<bool>,
}

/// The settings of a player.
pub async fn find(pool: &PgPool, player: PlayerId) -> Result<Settings, DbError> {
    let row = sqlx::query!(
        r#"
        select coalesce((select is_findable from account where player_id = $1), false) as "is_findable!",
            not exists (select from hidden_last_seen where player_id = $1) as "shows_last_seen!"
        "#,
        player.0,
    );
    let row = row.fetch_one(pool).instrument(statement("select account hidden_last_seen")).await?;
    Ok(Settings { is_findable: row.is_findable, shows_last_seen: row.shows_last_seen })
}

/// A guest that hides when it was last seen hides it as the account.
pub(crate) async fn hand_over(
    connection: &mut PgConnection,
    guest: PlayerId,
    account: PlayerId,
) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        with moved as (delete from hidden_last_seen where player_id = $1 returning player_id)
        insert into hidden_last_seen (player_id) select $2 from moved on conflict do nothing
        "#,
        guest.0,
        account.0,
    )
    .execute(connection)
    .instrument(statement("delete insert hidden_last_seen"))
    .await?;
    Ok(())
}
