//! Whole databases of a server: the facts that a restore needs about them, and the exchange of one for another.

use std::time::Duration;

use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection, PgPool, postgres::PgConnectOptions};
use tokio::time::{sleep, timeout};

use crate::connection::DbError;

/// How long opening a connection may take.
const CONNECT_WAIT: Duration = Duration::from_secs(10);

/// How often the exchange is tried, while other programs connect again and again.
const EXCHANGE_TRIES: u32 = 50;

/// The pause between two tries.
const EXCHANGE_PAUSE: Duration = Duration::from_millis(100);

/// How many bytes a name may have. PostgreSQL cuts longer ones without an error, so they may name another database.
const NAME_MAX: usize = 63;

/// The comment of a database that a restore fills. Another one of the same name is not ours to drop.
const UNFINISHED: &str = "an unfinished restore of mancala-server";

/// The databases in which statements about other databases may run: those that every server has.
const MAINTENANCE: [&str; 2] = ["postgres", "template1"];

async fn connect(options: &PgConnectOptions) -> Result<PgConnection, DbError> {
    let opened = timeout(CONNECT_WAIT, options.clone().connect()).await;
    Ok(opened.map_err(|_| DbError::unreachable())??)
}

/// A connection to another database of the server, so that the service's own database can be created, dropped or renamed.
async fn connect_beside(options: &PgConnectOptions) -> Result<PgConnection, DbError> {
    match connect(&options.clone().database(MAINTENANCE[0])).await {
        Ok(connection) => Ok(connection),
        Err(_) => connect(&options.clone().database(MAINTENANCE[1])).await,
    }
}

/// The name of the database of `options`.
pub fn name(options: &PgConnectOptions) -> &str {
    options.get_database().unwrap_or_else(|| options.get_username())
}

/// A name for a database that belongs to the database `current`: that name and `suffix`. A long name is cut, and has a hash of
/// the whole, so that names with the same beginning differ.
pub fn name_beside(current: &str, suffix: &str) -> String {
    let whole = format!("{current}{suffix}");
    if whole.len() <= NAME_MAX {
        return whole;
    }
    // FNV-1a: the same in every release, so that a later restore finds what an earlier one has left.
    let hash = current.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let end = format!("_{hash:08x}{suffix}");
    let base = &current[..current.floor_char_boundary(NAME_MAX.saturating_sub(end.len()))];
    format!("{base}{end}")
}

/// Refuses a name that PostgreSQL would cut, and the name of the database itself.
fn check_other(options: &PgConnectOptions, other: &str) -> Result<(), DbError> {
    let current = name(options);
    let wrong = if let Some(long) = [current, other].into_iter().find(|name| name.len() > NAME_MAX) {
        format!("the name {long} of a database has more than {NAME_MAX} bytes")
    } else if current == other {
        format!("{other} is the database itself")
    } else {
        return Ok(());
    };
    Err(sqlx::Error::Configuration(wrong.into()).into())
}

/// The major version of the server.
pub async fn major(options: &PgConnectOptions) -> Result<u32, DbError> {
    let mut connection = connect(options).await?;
    let version: String = sqlx::query_scalar("show server_version_num").fetch_one(&mut connection).await?;
    Ok(version.parse::<u32>().unwrap_or_default() / 10_000)
}

/// The identity of a database: the number of its cluster, and its own number in the cluster.
pub async fn identity(pool: &PgPool) -> Result<String, DbError> {
    let identity = "select format('%s/%s', system_identifier, oid) from pg_control_system(), pg_database
        where datname = current_database()";
    Ok(sqlx::query_scalar(identity).fetch_one(pool).await?)
}

/// Whether the database has no games, and no players except the computer. Such a database may be replaced without a loss.
pub async fn is_empty(options: &PgConnectOptions) -> Result<bool, DbError> {
    let mut connection = connect(options).await?;
    let tables = "select count(*) from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace";
    let tables: i64 = sqlx::query_scalar(tables).fetch_one(&mut connection).await?;
    if tables == 0 {
        return Ok(true);
    }
    let found = "select to_regclass('game') is not null and to_regclass('player') is not null";
    if !sqlx::query_scalar::<_, bool>(found).fetch_one(&mut connection).await? {
        return Ok(false);
    }
    let rows = "select exists (select from game) or exists (select from player where kind <> 'computer')";
    Ok(!sqlx::query_scalar::<_, bool>(rows).fetch_one(&mut connection).await?)
}

/// Creates an empty database for a restore, on the same server and with the same encoding and collation.
///
/// # Errors
/// PostgreSQL would cut the name, or the name is that of the database of `options`. [`drop`] and [`exchange`] refuse these names, too.
pub async fn create(options: &PgConnectOptions, name: &str) -> Result<(), DbError> {
    check_other(options, name)?;
    let mut connection = connect(options).await?;
    let locale = "select pg_encoding_to_char(encoding), datcollate, datctype from pg_database where datname = current_database()";
    let (encoding, collate, ctype): (String, String, String) =
        sqlx::query_as(locale).fetch_one(&mut connection).await?;
    let create = format!(
        "create database {} template template0 encoding {} lc_collate {} lc_ctype {}",
        quoted(name, '"'),
        quoted(&encoding, '\''),
        quoted(&collate, '\''),
        quoted(&ctype, '\'')
    );
    sqlx::raw_sql(AssertSqlSafe(create)).execute(&mut connection).await?;
    let comment = format!("comment on database {} is {}", quoted(name, '"'), quoted(UNFINISHED, '\''));
    sqlx::raw_sql(AssertSqlSafe(comment)).execute(&mut connection).await?;
    Ok(())
}

/// Drops what an interrupted restore has left under this name. `false` if a database has the name that no restore has made.
pub async fn drop_unfinished(options: &PgConnectOptions, name: &str) -> Result<bool, DbError> {
    let mut connection = connect_beside(options).await?;
    let comment = "select shobj_description(oid, 'pg_database') from pg_database where datname = $1";
    let comment: Option<Option<String>> =
        sqlx::query_scalar(comment).bind(name).fetch_optional(&mut connection).await?;
    match comment {
        None => Ok(true),
        Some(comment) if comment.as_deref() == Some(UNFINISHED) => drop(options, name).await.map(|()| true),
        Some(_) => Ok(false),
    }
}

/// Drops a database if it exists.
pub async fn drop(options: &PgConnectOptions, name: &str) -> Result<(), DbError> {
    check_other(options, name)?;
    let mut connection = connect_beside(options).await?;
    let drop = format!("drop database if exists {} with (force)", quoted(name, '"'));
    sqlx::raw_sql(AssertSqlSafe(drop)).execute(&mut connection).await?;
    Ok(())
}

/// Renames the database of `options` to `kept`, and the database `restored` to the former name: both or neither. Ends all connections to
/// both. Servers reconnect by themselves, and then use the restored database.
pub async fn exchange(options: &PgConnectOptions, restored: &str, kept: &str) -> Result<(), DbError> {
    let current = name(options);
    for other in [restored, kept] {
        check_other(options, other)?;
    }
    let mut connection = connect_beside(options).await?;
    let both = [current, restored];
    let [now, restored, kept] = [current, restored, kept].map(|name| quoted(name, '"'));
    let end =
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = any ($1) and pid <> pg_backend_pid()";
    // Both in one transaction: the name is never missing, and a crash between them changes nothing.
    let rename = format!(
        "begin; alter database {now} rename to {kept}; alter database {restored} rename to {now}; \
         comment on database {now} is null; commit"
    );
    let mut tries = 1;
    loop {
        sqlx::query(end).bind(both).execute(&mut connection).await?;
        match sqlx::raw_sql(AssertSqlSafe(rename.clone())).execute(&mut connection).await.map_err(DbError::from) {
            Ok(_) => return Ok(()),
            // object_in_use: a server has connected again meanwhile.
            Err(error) if error.sqlstate().as_deref() == Some("55006") && tries < EXCHANGE_TRIES => {
                sqlx::raw_sql("rollback").execute(&mut connection).await?;
            }
            Err(error) => return Err(error),
        }
        tries += 1;
        sleep(EXCHANGE_PAUSE).await;
    }
}

/// A name or a text as SQL writes it.
fn quoted(text: &str, quote: char) -> String {
    let doubled = format!("{quote}{quote}");
    format!("{quote}{}{quote}", text.replace(quote, &doubled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_beside_another_fits_and_differs_from_it() {
        assert_eq!(name_beside("games", "_restore"), "games_restore");
        assert_eq!(name_beside(&"a".repeat(55), "_restore"), format!("{}_restore", "a".repeat(55)));
        for length in 56..=NAME_MAX {
            for current in ["a".repeat(length), "ä".repeat(length / 2), format!("{}_restore", "b".repeat(length - 8))]
            {
                let names = ["_restore", "_before_1795477339"].map(|suffix| name_beside(&current, suffix));
                assert!(names.iter().all(|name| name.len() <= NAME_MAX && *name != current), "{names:?}");
            }
        }
        let [one, two] = ["a", "b"].map(|end| name_beside(&format!("{}{end}", "x".repeat(60)), "_restore"));
        assert_ne!(one, two);
    }

    #[tokio::test]
    async fn a_name_that_may_mean_the_database_itself_is_refused() {
        let current = "a".repeat(NAME_MAX);
        // Nothing listens there.
        let options = PgConnectOptions::new().host("127.0.0.1").port(1).database(&current);
        for other in [&current, &format!("{current}_restore")] {
            for refused in [
                drop(&options, other).await,
                create(&options, other).await,
                exchange(&options, other, "kept").await,
                exchange(&options, "restored", other).await,
            ] {
                assert!(matches!(refused, Err(DbError::Failed(_))), "{refused:?}");
            }
        }
        let long = options.database(&format!("{current}a"));
        assert!(matches!(drop(&long, &current).await, Err(DbError::Failed(_))), "PostgreSQL would cut its name");
    }
}
