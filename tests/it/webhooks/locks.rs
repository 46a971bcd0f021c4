//! The order in which rows of several webhooks are locked: one for all, so that none waits for another in a circle.

use futures_util::future::join;
use mancala_server::{clock::now, db::players};
use serde_json::json;
use sqlx::AssertSqlSafe;

use crate::support::{app::TestApp, clock::until_async, database::count_rows, endpoint::Endpoint, webhooks::create};

#[actix_web::test]
async fn what_changes_several_webhooks_locks_them_in_their_order() {
    let app = TestApp::start_with_networks().await;
    let endpoint = Endpoint::start().await;
    let guests = [app.guest_at("192.0.2.1").await, app.guest_at("192.0.2.2").await];
    // The later guest has the earlier webhook.
    for guest in guests.iter().rev() {
        assert_eq!(create(&app, guest, &json!({"url": endpoint.url()})).await.status, 201);
    }
    let mut other = app.db.begin().await.expect("a transaction");
    let lock = |order: &str| {
        let statement = format!("select id from webhook order by id {order} limit 1 for update nowait");
        sqlx::raw_sql(AssertSqlSafe(statement))
    };
    lock("asc").execute(&mut *other).await.expect("it is free");
    let forgetting = async {
        // This job waits for a lock no longer than a request does.
        let mut forgotten = Err(mancala_server::db::DbError::QueueFull);
        while forgotten.is_err() {
            forgotten = players::forget_networks(&app.db, now() + time::Duration::days(91), 10).await;
        }
    };
    let locking = async {
        let waiting = "select count(*) from pg_locks where not granted";
        until_async("it waits for the first one", async || {
            sqlx::query_scalar::<_, i64>(waiting).fetch_one(&mut *other).await.expect("a count") > 0
        })
        .await;
        let locked = lock("desc").execute(&mut *other).await;
        other.rollback().await.expect("they are free");
        locked.expect("it holds none before the first one");
    };
    join(forgetting, locking).await;
    assert_eq!(count_rows(&app, "webhook where network is not null").await, 0);
}
