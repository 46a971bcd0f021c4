//! The privacy settings of a player: the data that others see, and the players that may invite it.

use mancala_domain::PlayerId;
use sqlx::{PgConnection, PgPool};
use tracing::Instrument;

use crate::connection::{DbError, statement};

/// Who may invite a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inviters {
    /// Every player.
    Everyone,
    /// Accounts, and no guest.
    Accounts,
    /// Friends of the player.
    Friends,
    /// No player.
    None,
}

impl Inviters {
    /// All of them.
    pub const ALL: [Inviters; 4] = [Inviters::Everyone, Inviters::Accounts, Inviters::Friends, Inviters::None];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Inviters::Everyone => "everyone",
            Inviters::Accounts => "accounts",
            Inviters::Friends => "friends",
            Inviters::None => "none",
        }
    }
}

/// The settings of a player.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Whether others find the account by the beginning of its name. Guests are not found.
    pub is_findable: bool,
    /// Whether friends see when the player was last seen.
    pub shows_last_seen: bool,
    /// Who may invite the player.
    pub inviters: Inviters,
}

/// Changes of them; `None` changes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewSettings {
    /// See [`Settings::is_findable`].
    pub is_findable: Option<bool>,
    /// See [`Settings::shows_last_seen`].
    pub shows_last_seen: Option<bool>,
    /// See [`Settings::inviters`].
    pub inviters: Option<Inviters>,
}

/// The settings of a player.
pub async fn find(pool: &PgPool, player: PlayerId) -> Result<Settings, DbError> {
    let row = sqlx::query!(
        r#"
        select coalesce((select is_findable from account where player_id = $1), false) as "is_findable!",
            not exists (select from hidden_last_seen where player_id = $1) as "shows_last_seen!",
            (select inviters from invitation_policy where player_id = $1) as inviters
        "#,
        player.0,
    );
    let row = row.fetch_one(pool).instrument(statement("select account hidden_last_seen")).await?;
    let inviters = row.inviters.map_or(Ok(Inviters::Everyone), |text| {
        let found = Inviters::ALL.into_iter().find(|inviters| inviters.as_str() == text);
        found.ok_or_else(|| DbError::inconsistent("invitation_policy", "inviters", player.0, &text))
    })?;
    Ok(Settings { is_findable: row.is_findable, shows_last_seen: row.shows_last_seen, inviters })
}

/// Whether the settings of a player let another one invite it.
pub async fn lets_invite(pool: &PgPool, invited: PlayerId, inviter: PlayerId) -> Result<bool, DbError> {
    let lets = sqlx::query_scalar!(
        r#"
        select case (select inviters from invitation_policy where player_id = $1)
            when 'accounts' then exists (select from player where id = $2 and kind = 'account')
            when 'friends' then exists (
                select from friendship
                where accepted_at is not null
                    and (asker_id = $1 and asked_id = $2 or asker_id = $2 and asked_id = $1)
            )
            when 'none' then false
            else true
        end as "lets!"
        "#,
        invited.0,
        inviter.0,
    );
    Ok(lets.fetch_one(pool).instrument(statement("select invitation_policy")).await?)
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
