//! The rights of the database user on the tables of this binary's migrations.
//!
//! The server checks them at its start, and after PostgreSQL refused a statement for a missing right: an operator may have migrated as
//! another user. Tables of newer releases are not checked.

use sqlx::{AssertSqlSafe, PgConnection};
use tracing::Instrument;

use crate::{
    connection::{Database, DbError, doubt, statement},
    migrations,
};

/// The rights on each table: the first one alone suffices for [`READ_ONLY`].
const RIGHTS: [&str; 4] = ["select", "insert", "update", "delete"];

/// The table that only a migration writes to.
const READ_ONLY: &str = "_sqlx_migrations";

/// The rights that the user lacks, each as `insert on event`. Asks only while there is a doubt, which stays until none is missing.
pub(crate) async fn lacking(connection: &mut PgConnection) -> Result<Vec<String>, DbError> {
    let Some(asked) = doubt::RIGHTS.ask() else { return Ok(vec![]) };
    let lacking = ask(connection).await?;
    if lacking.is_empty() {
        asked.settle();
    }
    Ok(lacking)
}

async fn ask(connection: &mut PgConnection) -> Result<Vec<String>, DbError> {
    let tables = migrations::tables();
    let needed = tables.iter().flat_map(|table| {
        let rights = if *table == READ_ONLY { &RIGHTS[..1] } else { &RIGHTS };
        rights.iter().map(|right| ((*table).to_owned(), (*right).to_owned()))
    });
    let (tables, rights): (Vec<_>, Vec<_>) = needed.unzip();
    let lacking = sqlx::query_scalar!(
        r#"
        select "right" || ' on ' || name as "lacking!" from unnest($1::text[], $2::text[]) as needed (name, "right")
        -- A table that is missing is a missing migration.
        where not coalesce(has_table_privilege(to_regclass(name), "right"), true)
        order by name, "right"
        "#,
        &tables,
        &rights,
    );
    Ok(lacking.fetch_all(connection).instrument(statement("select has_table_privilege")).await?)
}

/// Gives a role all rights that a server needs, also on the tables that this user makes later.
pub async fn grant(database: &Database, role: &str) -> Result<(), DbError> {
    let mut connection = database.connect(&[]).await?;
    let names = sqlx::query!(r#"select quote_ident($1) as "role!", quote_ident(current_schema()) as "schema!""#, role,);
    let names = names.fetch_one(&mut connection).instrument(statement("select quote_ident")).await?;
    let (role, schema) = (names.role, names.schema);
    let (rights, tables) = (RIGHTS.join(", "), migrations::tables().iter().copied().collect::<Vec<_>>().join(", "));
    // PostgreSQL runs several statements of one message in one transaction. The names are quoted.
    let grants = format!(
        "grant usage on schema {schema} to {role}; \
         grant {rights} on table {tables} to {role}; \
         alter default privileges in schema {schema} grant {rights} on tables to {role}"
    );
    sqlx::raw_sql(AssertSqlSafe(grants)).execute(&mut connection).instrument(statement("grant")).await?;
    Ok(())
}
