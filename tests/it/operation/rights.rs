//! Servers that run as another user than the owner of the tables.

use std::collections::BTreeSet;

use mancala_server::db::{Database, migrations, rights};
use sqlx::{AssertSqlSafe, ConnectOptions};

use crate::support::app::TestApp;

#[actix_web::test]
async fn the_tables_that_rights_are_asked_for_are_those_of_the_database() {
    let app = TestApp::start().await;
    let query = "select table_name::text from information_schema.tables where table_schema = 'public'";
    let stored: Vec<String> = sqlx::query_scalar(query).fetch_all(&app.db).await.expect("names");
    assert_eq!(stored.iter().map(String::as_str).collect::<BTreeSet<_>>(), *migrations::tables());
}

#[actix_web::test]
async fn a_role_of_any_name_gets_the_rights() {
    let app = TestApp::start().await;
    let mut superuser = app.superuser().await;
    let role = format!("role \"of\" {}", app.options.get_database().expect("a name"));
    let quoted = format!("\"{}\"", role.replace('"', "\"\""));
    let execute = async |connection: &mut _, sql: String| {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.expect("the statement is right");
    };
    execute(&mut superuser, format!("create role {quoted}")).await;
    let database = Database::from(&app.options);
    rights::grant(&database, &role).await.expect("it may");
    let mut owner = app.options.connect().await.expect("PostgreSQL runs");
    execute(&mut owner, "create table later (n integer)".to_owned()).await;
    let query = "select has_table_privilege($1, 'later', 'delete') and has_table_privilege($1, 'event', 'insert')";
    let has: bool = sqlx::query_scalar(query).bind(&role).fetch_one(&mut owner).await.expect("an answer");
    assert!(has);
    assert!(rights::grant(&database, "nobody; drop table event").await.is_err(), "no role has that name");
    let taken = format!(
        "drop table later; revoke all on all tables in schema public from {quoted}; \
         revoke all on schema public from {quoted}; \
         alter default privileges in schema public revoke all on tables from {quoted}"
    );
    execute(&mut owner, taken).await;
    execute(&mut superuser, format!("drop role {quoted}")).await;
}
