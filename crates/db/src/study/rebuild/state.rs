//! The state of a rebuild: the process that works on it, and the steps that are done.

use mancala_domain::{EXPLORED_BROKEN_OFF_PLIES_MIN, EXPLORED_PLIES_MIN, GameId};
use sqlx::{PgConnection, PgPool};
use tracing::Instrument;
use uuid::Uuid;

use super::visits::FORM;
use crate::{
    connection::{DbError, statement},
    games::columns::column,
    study::explorer_index::allow_long_work,
};

/// Steps as their column holds them.
pub(super) const READING: &str = "reading";
pub(super) const LOADING: &str = "loading";
pub(super) const LOADED: &str = "loaded";
pub(super) const SWAPPED: &str = "swapped";

/// A server's user may have rights on the explorer by a grant: the tables that take its place get the same.
const COPY_GRANTS: &str = r"
do $$
declare
    given record;
begin
    for given in
        select
            privilege_type as privilege,
            relname || '_next' as next,
            case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end as grantee,
            case when is_grantable then ' with grant option' else '' end as option
        from pg_class, aclexplode(relacl)
        where oid in (
                'explored_move'::regclass, 'explored_game'::regclass, 'explored_chunk'::regclass, 'explored_number'::regclass
            )
            and grantee <> relowner
    loop
        execute format('grant %s on %I to %s%s', given.privilege, given.next, given.grantee, given.option);
    end loop;
end
$$
";

/// A rebuild that this process works on.
#[derive(Clone, Debug)]
pub struct Rebuild {
    pub(super) token: Uuid,
    /// How many games there were that count, when the process began.
    pub games: u64,
    /// How many of the games were read before.
    pub read: u64,
    /// How many batches of games are stored.
    pub batches: i32,
    /// The last game that was read.
    pub last: Option<GameId>,
    /// Whether all games are read.
    pub is_read: bool,
    /// Whether they are all loaded. Deleted games were taken out of the new tables since then, so nothing is to be loaded again.
    pub is_loaded: bool,
}

/// Begins a rebuild. A rebuild in progress is dropped, and its process stops.
pub async fn begin(pool: &PgPool) -> Result<Rebuild, DbError> {
    let mut transaction = pool.begin().await?;
    allow_long_work(&mut transaction).await?;
    let token = Uuid::now_v7();
    sqlx::query!(
        r#"
        insert into explorer_rebuild (token, form, step, batches, last_game_id) values ($1, $2, $3, 0, null)
        on conflict (is_only) do update set
            token = excluded.token, form = excluded.form, step = excluded.step, batches = 0, last_game_id = null
        "#,
        token,
        FORM,
        READING,
    )
    .execute(&mut *transaction)
    .instrument(statement("insert explorer_rebuild"))
    .await?;
    empty(&mut transaction).await?;
    sqlx::raw_sql(COPY_GRANTS).execute(&mut *transaction).instrument(statement("grant explored_move_next")).await?;
    let games = count_games(&mut transaction).await?;
    transaction.commit().await?;
    Ok(Rebuild { token, games, read: 0, batches: 0, last: None, is_read: false, is_loaded: false })
}

/// Takes over a rebuild that was interrupted; `None` if there is none. Its former process stops, if it still runs.
pub async fn take_over(pool: &PgPool) -> Result<Option<Rebuild>, DbError> {
    let mut transaction = pool.begin().await?;
    allow_long_work(&mut transaction).await?;
    let token = Uuid::now_v7();
    let row = sqlx::query!(
        r#"
        update explorer_rebuild set token = $1 where form = $2 and step <> $3
        returning step, batches, last_game_id
        "#,
        token,
        FORM,
        SWAPPED,
    )
    .fetch_optional(&mut *transaction)
    .instrument(statement("update explorer_rebuild"))
    .await?;
    let Some(row) = row else { return Ok(None) };
    let read = sqlx::query_scalar!(r#"select count(*) as "count!" from explorer_rebuild_game"#)
        .fetch_one(&mut *transaction)
        .instrument(statement("count explorer_rebuild_game"))
        .await?;
    let games = count_games(&mut transaction).await?;
    transaction.commit().await?;
    Ok(Some(Rebuild {
        token,
        games,
        read: u64::try_from(read).unwrap_or_default(),
        batches: row.batches,
        last: row.last_game_id.map(GameId),
        is_read: [LOADING, LOADED].contains(&row.step.as_str()),
        is_loaded: row.step == LOADED,
    }))
}

/// Empties the tables of a rebuild. The explorer that is in use stays.
pub(super) async fn empty(connection: &mut PgConnection) -> Result<(), DbError> {
    sqlx::query!(
        "truncate explored_move_next, explored_game_next, explored_chunk_next, explored_number_next, explorer_rebuild_game, \
        explorer_rebuild_visits"
    )
        .execute(connection)
        .instrument(statement("truncate explored_move_next"))
        .await?;
    Ok(())
}

/// Whether the rebuild is still this process's. It stays so until the end of the transaction.
pub(super) async fn hold(connection: &mut PgConnection, token: Uuid) -> Result<bool, DbError> {
    let held = sqlx::query!("select from explorer_rebuild where token = $1 for share", token)
        .fetch_optional(connection)
        .instrument(statement("lock explorer_rebuild"))
        .await?;
    Ok(held.is_some())
}

/// How many games the explorer counts. The condition is that of `reading` and of `swap`.
async fn count_games(connection: &mut PgConnection) -> Result<u64, DbError> {
    let games = sqlx::query_scalar!(
        r#"
        select count(*) as "count!" from game
        where visibility = 'public' and finished_at is not null and opponent <> 'self'
            and practice is not true
            and ply >= case when result_reason in ('resignation', 'agreement', 'timeout') then $2::integer else $1 end
        "#,
        column(EXPLORED_PLIES_MIN),
        column(EXPLORED_BROKEN_OFF_PLIES_MIN),
    )
    .fetch_one(connection)
    .instrument(statement("count games to explore"))
    .await?;
    Ok(u64::try_from(games).unwrap_or_default())
}
