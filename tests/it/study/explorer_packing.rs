//! Entries of the explorer in chunks: they say what rows said, whatever happens to games.

use std::collections::{BTreeMap, BTreeSet};

use mancala_server::{
    db::{
        records::deletion,
        study::{
            entries::newest,
            packing::{self, Least, Packed, Place},
        },
    },
    domain::{GameId, PlayerId, PositionKey},
};
use uuid::Uuid;

use crate::{
    study::{
        by_hand::{Chance, Everything, packed, store_by_chance},
        explorer::explore,
        explorer_removal::imported_by_chance,
        rebuild::build_anew,
    },
    support::app::TestApp,
};

/// However few rows there are, and in however many chunks they belong.
pub const AT_ONCE: Least = Least { rows: 1, chunks: usize::MAX };

async fn count(app: &TestApp, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(&app.db).await.expect("a count")
}

async fn rows(app: &TestApp) -> i64 {
    count(app, "select count(*) from explored_game").await
}

async fn chunks(app: &TestApp) -> i64 {
    count(app, "select count(*) from explored_chunk").await
}

async fn step(app: &TestApp, place: Place, least: Least) -> Option<Packed> {
    packing::pack(&app.db, place, least).await.expect("a database")
}

/// Packs all rows.
pub async fn pack(app: &TestApp) {
    let mut place = Place::FIRST;
    while let Some(behind) = step(app, place, AT_ONCE).await.expect("no other process packs").next {
        place = behind;
    }
    assert_eq!(rows(app).await, 0);
}

/// The games of a position from one id to before another one.
async fn listed(app: &TestApp, position: i64, from: Uuid, to: Uuid, limit: i64) -> Vec<Uuid> {
    newest(&app.db, PositionKey(position.cast_unsigned()), from, to, limit).await.expect("a database")
}

/// Compares all that is stored with what is counted by hand. After deletions, examples and times are exact where counts are not stored.
async fn compare(app: &TestApp, others: &Everything, kept: &[(GameId, Chance)]) {
    let mut expected = Everything::default();
    expected.add(others);
    for (game, chance) in kept.iter().filter(|(_, chance)| chance.counts()) {
        expected.count(game.0, &chance.line, chance.winner, chance.lead);
    }
    let stored = Everything::sampled(app).await;
    let frequent: Vec<i64> =
        sqlx::query_scalar("select distinct position from explored_move").fetch_all(&app.db).await.expect("rows");
    let frequent: BTreeSet<i64> = frequent.into_iter().collect();
    let rare = |everything: &Everything| {
        let rows = everything
            .rows
            .iter()
            .filter(|((position, ..), _)| !frequent.contains(position) && !stored.unseen.contains(position));
        rows.map(|(key, row)| (key.clone(), row.clone())).collect::<BTreeMap<_, _>>()
    };
    assert!(!frequent.is_empty() && rare(&expected).len() > 100);
    assert_eq!(rare(&stored), rare(&expected));
    for (position, games) in expected.games.iter().step_by(9) {
        let newest_first: Vec<_> = games.iter().rev().copied().collect();
        assert_eq!(listed(app, *position, Uuid::nil(), Uuid::max(), 1000).await, newest_first);
        let middle = newest_first[newest_first.len() / 2];
        let older: Vec<_> = newest_first.iter().copied().filter(|game| *game < middle).collect();
        assert_eq!(listed(app, *position, Uuid::nil(), middle, 1000).await, older);
    }
    assert_eq!(stored.without_examples(), expected.without_examples());
}

#[actix_web::test]
async fn packed_entries_say_what_counting_by_hand_says_whatever_happens() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    let ana = PlayerId(Uuid::try_parse(&ana.id).expect("an id"));
    let (mut others, mut kept) = (Everything::default(), vec![]);
    for round in 0..4 {
        others.add(&store_by_chance(&app, 31 + round, 40).await);
        // The same games each time, so their positions become frequent one after the other.
        kept.extend(imported_by_chance(&app, ana, 60).await);
        explore(&app).await;
        if round != 1 {
            pack(&app).await;
        }
        compare(&app, &others, &kept).await;
        let mut place = 0;
        for n in 0..kept.len() {
            if n % 4 == 1 {
                let (game, _) = kept.remove(place);
                assert!(deletion::delete(&app.db, ana, game).await.expect("a database"));
            } else {
                place += 1;
            }
        }
        compare(&app, &others, &kept).await;
        if round == 2 {
            build_anew(&app).await;
            assert_eq!(rows(&app).await, 0, "a reindex makes chunks");
            compare(&app, &others, &kept).await;
        }
    }
    while !deletion::delete_some(&app.db, ana).await.expect("a database").is_empty() {}
    assert_eq!(Everything::sampled(&app).await.without_examples(), others.without_examples());
}

#[actix_web::test]
async fn a_position_of_many_games_is_listed_in_order_from_any_of_them() {
    let app = TestApp::start().await;
    // Each game came to its own position as well. Their ids are in another order than their numbers.
    let store = "insert into explored_game (position, game_id)
        select position, id from (
            select n * 7919000000000 as own, lpad(to_hex(n), 32, '0')::uuid as id from generate_series($1::bigint, 9000, $2) n
        ) game cross join lateral (values (own), (2026)) visited (position)";
    sqlx::query(store).bind(1_i64).bind(3_i64).execute(&app.db).await.expect("rows");
    pack(&app).await;
    sqlx::query(store).bind(2_i64).bind(3_i64).execute(&app.db).await.expect("rows");
    pack(&app).await;
    assert!(chunks(&app).await > 20);
    sqlx::query(store).bind(3_i64).bind(3_i64).execute(&app.db).await.expect("rows");
    let id = |n: u64| Uuid::from_u128(n.into());
    for _ in 0..2 {
        assert_eq!(listed(&app, 2026, id(0), Uuid::max(), 1000).await, (8001..=9000).rev().map(id).collect::<Vec<_>>());
        for (from, to, limit) in
            [(1, 9001, 20_000), (4000, 4003, 10), (700, 8000, 3000), (8999, 9500, 7), (9001, 9002, 3)]
        {
            let expected: Vec<_> = (from..to.min(9001)).rev().take(limit).map(id).collect();
            let limit = i64::try_from(limit).expect("a small number");
            assert_eq!(listed(&app, 2026, id(from), id(to), limit).await, expected, "{from} {to} {limit}");
        }
        assert_eq!(listed(&app, 5 * 7_919_000_000_000, Uuid::nil(), Uuid::max(), 1000).await, [id(5)]);
        pack(&app).await;
    }
    assert_eq!(packed(&app).await.len(), 18_000);
    let bytes = count(&app, "select sum(octet_length(entries))::bigint from explored_chunk").await;
    assert!(bytes < 18_000 * 6, "{bytes}");
}

#[actix_web::test]
async fn packing_waits_for_enough_rows_and_a_kill_changes_nothing() {
    let app = TestApp::start().await;
    let expected = store_by_chance(&app, 41, 80).await;
    explore(&app).await;
    let before = rows(&app).await;
    assert!(before > 100 && chunks(&app).await == 0, "the job waits for more");
    let break_off = "create function no() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
        create trigger no before insert on explored_chunk for each statement execute function no()";
    sqlx::raw_sql(break_off).execute(&app.db).await.expect("it is made");
    packing::pack(&app.db, Place::FIRST, AT_ONCE).await.expect_err("it is broken off");
    assert_eq!((rows(&app).await, Everything::sampled(&app).await), (before, expected));
    sqlx::raw_sql("drop trigger no on explored_chunk; drop function no").execute(&app.db).await.expect("it is gone");
    // A process that has the explorer's lock keeps others from packing.
    let mut other = app.db.begin().await.expect("a transaction");
    sqlx::raw_sql("select pg_advisory_xact_lock(7311717606064547186)").execute(&mut *other).await.expect("a lock");
    assert!(step(&app, Place::FIRST, AT_ONCE).await.is_none());
    other.rollback().await.expect("it ends");
    pack(&app).await;
    // What another release has stored a second time is packed once.
    sqlx::raw_sql("insert into explored_game (position, game_id) select 5, game_id from explored_number limit 1")
        .execute(&app.db)
        .await
        .expect("a row");
    let (entries, chunks) = (packed(&app).await.len(), chunks(&app).await);
    let again = "insert into explored_game (position, game_id) values ($1, $2) on conflict do nothing";
    for (position, game) in packed(&app).await {
        sqlx::query(again).bind(position).bind(game).execute(&app.db).await.expect("a row");
    }
    assert!(chunks > 1);
    let few = Least { rows: 1, chunks: 1 };
    let waits = step(&app, Place::FIRST, few).await.expect("no other process packs");
    assert!(waits.next.is_none(), "they are in many chunks");
    pack(&app).await;
    assert_eq!(packed(&app).await.len(), entries + 1);
}
