//! The list of columns that name a player: it is the schema's, and erasure, merge and export do what it says.

use std::collections::BTreeSet;

use mancala_server::{
    db::players::personal_data::{COLUMNS, Column, Content, Erasure, Export, Merge},
    http,
};
use serde_json::json;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection};
use uuid::Uuid;

use crate::support::{app::TestApp, calls::Guest, cluster::superuser_of};

/// Columns with the network of a row's player, which is not the player's id.
const NETWORKS: [&str; 2] = ["network", "round_key"];

/// The network of the player of every row.
const NETWORK: Uuid = Uuid::from_u128(0x00a7_a7a7);

/// Tables whose rows are a whole game. What becomes of games is tested with real ones.
const GAMES: [&str; 2] = ["game", "event"];

#[actix_web::test]
async fn the_list_has_every_column_that_can_name_a_player() {
    let app = TestApp::start().await;
    let stored = "select table_name || '.' || column_name from information_schema.columns \
                  where table_schema = 'public' and table_name <> '_sqlx_migrations' \
                      and udt_name in ('uuid', '_uuid', 'json', 'jsonb', '_json', '_jsonb')";
    let stored: Vec<String> = sqlx::query_scalar(stored).fetch_all(&app.db).await.expect("columns");
    let listed: Vec<String> = COLUMNS.iter().map(|column| format!("{}.{}", column.table, column.name)).collect();
    let distinct: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(distinct.len(), listed.len(), "a column stands twice");
    assert_eq!(distinct, stored.iter().collect::<BTreeSet<_>>());
}

#[test]
fn the_export_has_the_fields_that_the_list_names() {
    let document = serde_json::to_value(http::document()).expect("JSON");
    let properties = document["components"]["schemas"]["Export"]["properties"].as_object().expect("properties");
    let exported: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
    let named = COLUMNS.iter().filter_map(|column| match column.content {
        Content::Player { export: Export::Field(field), .. } => Some(field),
        _ => None,
    });
    assert_eq!(named.collect::<BTreeSet<_>>(), exported);
}

/// The columns of a table with the ids of players.
fn ids_of(table: &str) -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().filter(move |column| {
        column.table == table && matches!(column.content, Content::Player { .. }) && !NETWORKS.contains(&column.name)
    })
}

/// Stores a row in which a column names a player, the other columns other players, and those of networks the player's. All else is
/// made up, as far as it must be there.
async fn insert_row(superuser: &mut PgConnection, column: &Column, player: Uuid, other: Uuid) {
    let mut names = vec![];
    let mut values = vec![];
    let columns: Vec<(String, String, bool)> = sqlx::query_as(
        "select column_name::text, udt_name::text, is_nullable = 'NO' and column_default is null and is_generated = 'NEVER' \
         from information_schema.columns where table_schema = 'public' and table_name = $1",
    )
    .bind(column.table)
    .fetch_all(&mut *superuser)
    .await
    .expect("columns");
    for (name, kind, is_needed) in columns {
        let value = if name == column.name {
            format!("'{player}'")
        } else if column.table != "player" && NETWORKS.contains(&name.as_str()) {
            format!("'{NETWORK}'")
        } else if column.table != "player" && ids_of(column.table).any(|column| column.name == name) {
            format!("'{other}'")
        } else if (column.table, name.as_str()) == ("player", "kind") {
            "'imported'".to_owned()
        } else if is_needed {
            made_up(&kind).to_owned()
        } else {
            continue;
        };
        names.push(name);
        values.push(value);
    }
    let insert = format!(
        r#"insert into {} ("{}") values ({}) on conflict do nothing"#,
        column.table,
        names.join(r#"", ""#),
        values.join(", ")
    );
    sqlx::raw_sql(AssertSqlSafe(insert.clone()))
        .execute(superuser)
        .await
        .unwrap_or_else(|error| panic!("{insert}: {error}"));
}

/// A value of a type.
fn made_up(kind: &str) -> &'static str {
    match kind {
        "uuid" => "gen_random_uuid()",
        "text" => "left(md5(random()::text), 8)",
        "bytea" => "decode(md5(random()::text), 'hex')",
        "timestamptz" => "now()",
        "int2" | "int4" | "int8" => "1",
        "bool" => "false",
        "json" | "jsonb" => "'{}'",
        array if array.starts_with('_') => "'{}'",
        other => panic!("no value of {other} is known"),
    }
}

/// Stores rows for a player: one for each column that can have its id. `is_chosen` says which.
async fn insert_rows(app: &TestApp, player: &Guest, is_chosen: impl Fn(&Content) -> bool) {
    let database = app.options.get_database().expect("a name");
    let mut superuser = superuser_of(&app.options).database(database).connect().await.expect("PostgreSQL runs");
    let player = Uuid::try_parse(&player.id).expect("an id");
    // The rows break rules that the service keeps, and refer to what is not there.
    let checks: Vec<String> = sqlx::query_scalar(
        "select format('alter table %s drop constraint %I', conrelid::regclass, conname) from pg_constraint \
         where contype = 'c' and connamespace = 'public'::regnamespace",
    )
    .fetch_all(&mut superuser)
    .await
    .expect("constraints");
    for statement in checks.iter().map(String::as_str).chain(["set session_replication_role = replica"]) {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut superuser).await.expect("a rule less");
    }
    let network = "update player set network = $2 where id = $1";
    sqlx::query(network).bind(player).bind(NETWORK).execute(&mut superuser).await.expect("a network");
    for column in COLUMNS.iter().filter(|column| is_chosen(&column.content)) {
        let is_row = (column.table, column.name) == ("player", "id");
        if is_row || GAMES.contains(&column.table) || NETWORKS.contains(&column.name) {
            continue;
        }
        let other = Uuid::try_parse(&app.guest("Another").await.id).expect("an id");
        insert_row(&mut superuser, column, player, other).await;
    }
}

/// How many rows name a player, or its network, in a column.
async fn count(app: &TestApp, column: &Column, player: &Guest) -> i64 {
    let is_network = NETWORKS.contains(&column.name);
    let wanted = if is_network { NETWORK } else { Uuid::try_parse(&player.id).expect("an id") };
    let query = format!(r#"select count(*) from {} where "{}" = $1"#, column.table, column.name);
    sqlx::query_scalar(AssertSqlSafe(query)).bind(wanted).fetch_one(&app.db).await.expect("a count")
}

/// The columns that are not as the list says: `is_left` is `None` where it does not matter.
async fn wrong(app: &TestApp, player: &Guest, is_left: impl Fn(&Content) -> Option<bool>) -> Vec<String> {
    let mut found = vec![];
    for column in COLUMNS.iter().filter(|column| !GAMES.contains(&column.table)) {
        let Some(is_left) = is_left(&column.content) else { continue };
        let rows = count(app, column, player).await;
        if is_left != (rows > 0) {
            found.push(format!("{rows} rows: {column:?}"));
        }
    }
    found
}

fn is_of_player(content: &Content) -> bool {
    matches!(content, Content::Player { .. })
}

#[actix_web::test]
async fn an_erasure_leaves_of_each_column_what_the_list_says() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    insert_rows(&app, &ana, is_of_player).await;
    assert_eq!(wrong(&app, &ana, |content| is_of_player(content).then_some(true)).await, Vec::<String>::new());
    assert_eq!(app.delete_me(&ana).await.status, 204);
    let left = |content: &Content| match content {
        Content::Player { erasure, .. } => Some(matches!(erasure, Erasure::Stays(_))),
        Content::NoPlayer(_) => None,
    };
    assert_eq!(wrong(&app, &ana, left).await, Vec::<String>::new());
}

#[actix_web::test]
async fn a_merge_leaves_of_each_column_of_the_guest_what_the_list_says() {
    let app = TestApp::start().await;
    let (guest, ana) = (app.guest("Ana as a guest").await, app.account("Ana", "correct horse").await);
    let can_be =
        |content: &Content| matches!(content, Content::Player { merge, .. } if !matches!(merge, Merge::Never(_)));
    insert_rows(&app, &guest, can_be).await;
    assert_eq!(wrong(&app, &guest, |content| can_be(content).then_some(true)).await, Vec::<String>::new());
    let merged = app.post("/v1/me/merge", Some(&ana), &json!({"guest_token": guest.token})).await;
    assert_eq!(merged.status, 200, "{merged:?}");
    let left = |content: &Content| match content {
        Content::Player { merge: Merge::Never(_), .. } | Content::NoPlayer(_) => None,
        Content::Player { merge, .. } => Some(matches!(merge, Merge::Stays(_))),
    };
    assert_eq!(wrong(&app, &guest, left).await, Vec::<String>::new());
}
