//! Many open games that differ in their ids alone, without a call for each.

use super::app::TestApp;

/// Stores open games like another one, all of them older. They have no log: only
/// statements about their rows find them.
pub async fn copy_open_game(app: &TestApp, id: &str, count: i64) {
    let copied = sqlx::query(
        "insert into game select (jsonb_populate_record(game, jsonb_build_object('id', \
         lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000'))).* \
         from game, generate_series(1, $2) as n where game.id = $1::uuid",
    );
    let copied = copied.bind(id).bind(count).execute(&app.db).await.expect("copies are stored");
    assert_eq!(i64::try_from(copied.rows_affected()), Ok(count));
}

/// Deletes the copies: a test ends with every game having its log.
pub async fn delete_copies(app: &TestApp) {
    let deleted = sqlx::query("delete from game where not exists (select from event where game_id = game.id)");
    deleted.execute(&app.db).await.expect("copies are deleted");
}
