//! The size of games on disk, and the cost of vacuuming them.

use std::{
    fmt::Write,
    io,
    time::{Duration, Instant},
};

use sqlx::{PgPool, Row};

use crate::{
    cost::processor_time,
    filled::{BEGIN, YEARS_S},
};

/// The sizes and rows of the tables of games, the partitions of a table taken together.
const SIZES: &str = "
select coalesce(parent.relname, class.relname)::text as name, sum(pg_table_size(class.oid))::float8 as heap,
    sum(pg_indexes_size(class.oid))::float8 as indexes, sum(class.reltuples)::float8 as rows
from pg_class class
left join pg_inherits on inhrelid = class.oid
left join pg_class parent on parent.oid = inhparent
where class.relkind = 'r' and coalesce(parent.relname, class.relname) in ('game', 'event', 'archived_log', 'player')
group by 1 order by 2 desc";

/// The sizes of their indexes, and the greatest depth among the partitions of an index.
const INDEXES: &str = "
select coalesce(parent.relname, class.relname)::text as name, sum(pg_relation_size(class.oid))::float8 as size,
    max((bt_metap(class.oid::regclass::text)).level)::int as level
from pg_index
join pg_class class on class.oid = indexrelid and class.relkind = 'i'
join pg_class of on of.oid = indrelid
left join pg_inherits on inhrelid = class.oid
left join pg_class parent on parent.oid = inhparent
left join pg_inherits of_part on of_part.inhrelid = of.oid
left join pg_class whole on whole.oid = of_part.inhparent
where coalesce(whole.relname, of.relname) in ('game', 'event', 'archived_log')
group by 1 order by 2 desc";

/// The log as the service has it: one table.
pub const WHOLE: &str = "whole";

const MB: f64 = 1e6;

/// How often PostgreSQL's statistics are polled, a second apart.
const POLLS_MAX: usize = 15;

/// The statements that partition the empty log: `hash:16`, or `range:16`, which is by time.
pub fn partitioned(how: &str) -> Result<String, io::Error> {
    let parts = how.split_once(':').and_then(|(by, count)| Some((by, count.parse::<u32>().ok()?)));
    let mut sql =
        "alter table event rename to event_whole; alter index event_pkey rename to event_whole_pkey;\n".to_owned();
    let (by, count) = match parts {
        Some((by @ ("hash" | "range"), count)) if count > 0 => (by, count),
        _ => return Err(io::Error::other(format!("PARTITIONS={how}: neither {WHOLE} nor hash:N nor range:N"))),
    };
    let _ = writeln!(
        sql,
        "create table event (like event_whole including all) partition by {by} (game_id); drop table event_whole;"
    );
    for n in 0..count {
        let bounds = match by {
            "hash" => format!("with (modulus {count}, remainder {n})"),
            _ => format!("from ({}) to ({})", bound(n, count), bound(n + 1, count)),
        };
        let _ = writeln!(sql, "create table event_{n} partition of event for values {bounds};");
    }
    Ok(sql)
}

/// The least id of the `n`th of `count` equal spans of time.
fn bound(n: u32, count: u32) -> String {
    let ms = (f64::from(n) / f64::from(count) * YEARS_S * 1000.0).round();
    match n {
        0 => "minvalue".to_owned(),
        _ if n == count => "maxvalue".to_owned(),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "two years of milliseconds")]
        _ => {
            let ms = BEGIN.unix_timestamp() as u64 * 1000 + ms as u64;
            let hex = format!("{ms:012x}");
            format!("'{}-{}-7000-8000-000000000000'", &hex[..8], &hex[8..])
        }
    }
}

/// Vacuums for the first time, which freezes the log's rows for good, and prints the cost.
pub async fn freeze(watcher: &PgPool) -> Result<(), sqlx::Error> {
    for table in ["event", "archived_log", "game", "player"] {
        vacuum(watcher, "vacuum (freeze, analyze)", table).await?;
    }
    sqlx::query("checkpoint").execute(watcher).await?;
    Ok(())
}

/// Loads games and archives with their indexes into the shared buffers.
pub async fn warm(watcher: &PgPool) -> Result<(), sqlx::Error> {
    sqlx::query("create extension if not exists pg_prewarm").execute(watcher).await?;
    let load = "select sum(pg_prewarm(oid) * current_setting('block_size')::int)::float8 from pg_class
        where oid in ('game'::regclass, 'archived_log'::regclass)
            or oid in (select indexrelid from pg_index where indrelid in ('game'::regclass, 'archived_log'::regclass))";
    let loaded: f64 = sqlx::query_scalar(load).fetch_one(watcher).await?;
    println!("loaded into the shared buffers: {:.0} MB", loaded / MB);
    Ok(())
}

/// Vacuums after the moves that were measured, and prints the cost.
pub async fn print_vacuum(watcher: &PgPool) -> Result<(), sqlx::Error> {
    let updates = "select n_tup_upd::float8 as updated, n_tup_hot_upd::float8 as heap_only, n_dead_tup::float8 as dead
        from pg_stat_user_tables where relname = 'game'";
    let mut counts = [0.0; 3];
    // A session reports its statistics when it ends, or a second later.
    for _ in 0..POLLS_MAX {
        let row = sqlx::query(updates).fetch_one(watcher).await?;
        counts = [row.get(0), row.get(1), row.get(2)];
        if counts[0] > 0.0 {
            break;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let [updated, heap_only, dead] = counts;
    println!("updates of games: {updated}, heap-only {:.1} %, dead rows left: {dead}", heap_only / updated * 100.0);
    vacuum(watcher, "vacuum", "game").await?;
    vacuum(watcher, "vacuum", "event").await
}

async fn vacuum(watcher: &PgPool, verb: &str, table: &str) -> Result<(), sqlx::Error> {
    let pid: i32 = sqlx::query_scalar("select pg_backend_pid()").fetch_one(watcher).await?;
    let wal = || sqlx::query_scalar("select (pg_current_wal_insert_lsn() - '0/0')::float8").fetch_one(watcher);
    let (cpu, written, begun): (f64, f64, _) = (processor_time(pid), wal().await?, Instant::now());
    sqlx::query(sqlx::AssertSqlSafe(format!("{verb} {table}"))).execute(watcher).await?;
    let wal_written = wal().await? - written;
    println!(
        "{verb} {table}: {:.1} s of processor time, {:.1} s passed, {:.0} MB of WAL",
        (processor_time(pid) - cpu) / 1e6,
        begun.elapsed().as_secs_f64(),
        wal_written / MB
    );
    Ok(())
}

/// Prints the sizes of tables and indexes on disk.
pub async fn print_sizes(watcher: &PgPool) -> Result<(), sqlx::Error> {
    println!("| table | rows | MB | indexes MB | bytes a row |\n| --- | --- | --- | --- | --- |");
    for row in sqlx::query(SIZES).fetch_all(watcher).await? {
        let (name, [heap, indexes, rows]): (String, [f64; 3]) = (row.get(0), [row.get(1), row.get(2), row.get(3)]);
        println!("| {name} | {rows:.0} | {:.0} | {:.0} | {:.0} |", heap / MB, indexes / MB, heap / rows);
    }
    sqlx::query("create extension if not exists pageinspect").execute(watcher).await?;
    println!("| index | MB | levels |\n| --- | --- | --- |");
    for row in sqlx::query(INDEXES).fetch_all(watcher).await? {
        let (name, size, level): (String, f64, i32) = (row.get(0), row.get(1), row.get(2));
        println!("| {name} | {:.1} | {} |", size / MB, level + 1);
    }
    Ok(())
}
