//! The standbys that stream from the primary.

use sqlx::PgPool;
use tracing::Instrument;

use crate::connection::{DbError, statement};

/// A standby by its `application_name`, and how many seconds its replay is behind the primary.
pub type Lag = (String, f64);

/// The lag of each standby; `None` if the database user may not see standbys, which takes the role `pg_monitor`.
pub async fn list_lags(pool: &PgPool) -> Result<Option<Vec<Lag>>, DbError> {
    let rows = sqlx::query!(
        r#"
        select pg_has_role('pg_read_all_stats', 'usage') as "may_see!", application_name as "name?",
            -- Null if there was nothing to replay for some time.
            coalesce(extract(epoch from replay_lag), 0)::float8 as "lag!"
        from (values (1)) one left join pg_stat_replication on state = 'streaming'
        "#
    );
    let rows = rows.fetch_all(pool).instrument(statement("select pg_stat_replication")).await?;
    let may_see = rows.iter().all(|row| row.may_see);
    Ok(may_see.then(|| rows.into_iter().filter_map(|row| Some((row.name?, row.lag))).collect()))
}
