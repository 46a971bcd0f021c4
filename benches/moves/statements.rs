//! Which statements take the database's time, as PostgreSQL's module `pg_stat_statements` counts it.

use std::io;

use sqlx::{ConnectOptions, PgConnection};

use crate::bench::{Bench, connect_options};

/// How many statements are printed.
const SHOWN: i64 = 16;

/// The counts of a database whose PostgreSQL has loaded the module.
pub struct Statements(PgConnection);

impl Statements {
    /// `None` unless the setting `STATEMENTS` asks for them.
    pub async fn counted(bench: &Bench) -> io::Result<Option<Self>> {
        if !bench.settings.statements {
            return Ok(None);
        }
        let options = connect_options(&bench.embedded).username("postgres");
        let mut superuser = options.connect().await.map_err(io::Error::other)?;
        let create = sqlx::raw_sql("create extension if not exists pg_stat_statements");
        create.execute(&mut superuser).await.map_err(io::Error::other)?;
        Ok(Some(Self(superuser)))
    }

    pub async fn reset(&mut self) -> io::Result<()> {
        let reset = sqlx::raw_sql("select pg_stat_statements_reset()");
        reset.execute(&mut self.0).await.map_err(io::Error::other)?;
        Ok(())
    }

    /// Prints the statements that took the most time since the reset, with their share of all statements' time.
    pub async fn print(&mut self) -> io::Result<()> {
        let rows: Vec<(String, i64, f64, f64)> = sqlx::query_as(
            "select left(regexp_replace(query, '\\s+', ' ', 'g'), 60), calls, total_exec_time / calls * 1000,
                 total_exec_time / sum(total_exec_time) over () * 100
             from pg_stat_statements order by total_exec_time desc limit $1",
        )
        .bind(SHOWN)
        .fetch_all(&mut self.0)
        .await
        .map_err(io::Error::other)?;
        for (query, calls, microseconds, share) in rows {
            println!("{share:5.1} % of the database's time: {calls} times {microseconds:.0} µs: {query}");
        }
        Ok(())
    }
}
