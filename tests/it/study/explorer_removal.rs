//! The explorer without games: deleted imports are counted out, imports count apart, and an upgrade counts anew.

use std::collections::BTreeSet;

use mancala_server::{
    db::{
        records::{
            deletion, import,
            usage::{ImportTotal, Importer},
        },
        study::explorer_index,
    },
    domain::{GameId, PlayerId, Visibility},
};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::json;
use uuid::Uuid;

use crate::{
    study::{
        by_hand::{Chance, Everything, by_chance},
        explorer::{counts, encoded, explore, explored, resigned, waiting},
        rebuild::build_anew,
    },
    support::{app::TestApp, clock::now, games::walk},
};

/// Public games by chance, stored as imports of a player.
pub async fn imported_by_chance(app: &TestApp, importer: PlayerId, count: usize) -> Vec<(GameId, Chance)> {
    let mut lot = StdRng::seed_from_u64(6);
    let games: Vec<_> = (0..count).map(|_| by_chance(&mut lot)).collect();
    let records: Vec<_> = games.iter().map(|game| game.import.clone()).collect();
    let played = import::play(&app.db, records, Some(importer), Visibility::Public, now()).await.expect("a database");
    let played: Vec<_> = played.into_iter().map(|game| game.expect("it can have been played")).collect();
    let ids: Vec<_> = played.iter().map(|whole| whole.game.id()).collect();
    let importer = Importer { player: importer, quota: ImportTotal { games: 1_000, plies: 1_000_000 } };
    import::store(&app.db, &played, Some(importer), None, now()).await.expect("they are stored");
    ids.into_iter().zip(games).collect()
}

#[actix_web::test]
async fn deleted_games_are_counted_out_queued_or_counted() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    let ana = PlayerId(Uuid::try_parse(&ana.id).expect("an id"));
    let games = imported_by_chance(&app, ana, 200).await;
    // Games that were played here are counted beside them.
    let played = resigned(&app, "C").await;
    explorer_index::explore(&app.db, now(), 120).await.expect("a database").expect("no other process explores");
    assert!(waiting(&app).await > 20, "some are queued, and some are counted");
    let mut expected = Everything::default();
    for (n, (id, chance)) in games.iter().enumerate() {
        if n % 3 != 0 {
            assert!(deletion::delete(&app.db, ana, *id).await.expect("a database"));
        } else if chance.counts() {
            expected.count(id.0, &chance.line, chance.winner, chance.lead);
        }
    }
    explore(&app).await;
    let mut stored = Everything::stored(&app).await;
    let here = stored.rows.iter().filter(|((_, is_imported, _), _)| !is_imported).count();
    assert_eq!(here, 21, "twenty plies and the end");
    stored.rows.retain(|(_, is_imported, _), _| *is_imported);
    let played = Uuid::try_parse(&played).expect("an id");
    stored.games.retain(|_, games| !games.remove(&played) || !games.is_empty());
    // When a move was last played, and in which games, is known of some of the games only.
    let kept: BTreeSet<_> = games.iter().step_by(3).map(|(id, _)| id.0).collect();
    for (key, row) in &mut expected.rows {
        let stored = stored.rows.get_mut(key).expect("a row that is left");
        assert!(stored.sample_game_ids.iter().all(|id| kept.contains(id)), "no deleted game is an example");
        assert!(stored.last_played_at >= row.last_played_at);
        (stored.last_played_at, row.last_played_at) = (None, None);
        stored.sample_game_ids.clear();
        row.sample_game_ids.clear();
    }
    assert_eq!(stored, expected);
    // Counted anew, nothing of the deleted games is left.
    build_anew(&app).await;
    while !deletion::delete_some(&app.db, ana).await.expect("a database").is_empty() {}
    let mut stored = Everything::stored(&app).await;
    stored.rows.retain(|(_, is_imported, _), _| *is_imported);
    stored.games.retain(|_, games| !games.remove(&played) || !games.is_empty());
    assert_eq!(stored, Everything::default());
    assert_eq!(explored(&app, "variant=kalah").await["games"], 1);
}

#[actix_web::test]
async fn a_short_game_that_an_older_release_has_counted_is_counted_out() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    let moves: Vec<_> = ["A", "a", "C", "c", "D", "d"].map(|mv| json!({"move": mv})).to_vec();
    let game = json!({"game": {"variant": "kalah", "result": {"winner": "north"}}, "moves": moves});
    let imported = app.post("/v1/games/import?visibility=public", Some(&ana), &game).await;
    explore(&app).await;
    // As if a server of 0.3.0 had counted a game that was resigned so early.
    let resigned = sqlx::query("update game set result_reason = 'resignation'").execute(&app.db).await;
    assert_eq!(resigned.expect("it is done").rows_affected(), 1);
    let shown = explored(&app, "variant=kalah&imported=true").await;
    assert_eq!((&shown["games"], counts(&shown, "A")), (&json!(1), [1, 0, 0, 1]));
    let id = GameId(Uuid::try_parse(&imported.string("/items/0/game_id")).expect("an id"));
    let ana = PlayerId(Uuid::try_parse(&ana.id).expect("an id"));
    assert!(deletion::delete(&app.db, ana, id).await.expect("a database"));
    let left = Everything::stored(&app).await;
    assert!(left.rows.is_empty() && left.games.is_empty(), "{left:?}");
}

#[actix_web::test]
async fn imported_games_are_shown_apart_from_played_ones() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    let played = resigned(&app, "C").await;
    let game = |moves: &[&str], winner: &str| {
        let moves: Vec<_> = moves.iter().map(|mv| json!({"move": mv})).collect();
        json!({"game": {"variant": "kalah", "result": {"winner": winner}}, "moves": moves})
    };
    // A pile of made-up games, and one that is too short to count.
    let made_up = game(&["A", "a", "C", "c", "D", "d"], "north");
    let short = game(&["B"], "south");
    let body = json!([made_up, made_up, made_up, short]);
    let answer = app.post("/v1/games/import?visibility=public", Some(&ana), &body).await;
    assert_eq!(answer.body["imported"], 4, "{answer:?}");
    explore(&app).await;
    for query in ["variant=kalah", "variant=kalah&imported=false"] {
        let here = explored(&app, query).await;
        assert_eq!((&here["games"], counts(&here, "C"), counts(&here, "A")), (&json!(1), [1, 0, 0, 1], [0; 4]));
        assert_eq!(here["moves"][0]["sample_game_ids"], json!([played]));
    }
    let elsewhere = explored(&app, "variant=kalah&imported=true").await;
    assert_eq!(
        (&elsewhere["games"], counts(&elsewhere, "A"), counts(&elsewhere, "C")),
        (&json!(3), [3, 0, 0, 3], [0; 4])
    );
    assert_eq!(counts(&elsewhere, "B"), [0; 4]);
    // The list of the games shows both, and says which are which.
    let opening = format!("variant=kalah&position={}", encoded("4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 1S"));
    assert_eq!(walk(&app, &opening, None).await.len(), 4);
    assert_eq!(walk(&app, &format!("{opening}&imported=false"), None).await, [played]);
}

#[actix_web::test]
async fn the_upgrade_counts_imports_of_players_and_the_explorer_anew() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    let importer = PlayerId(Uuid::try_parse(&ana.id).expect("an id"));
    let games = imported_by_chance(&app, importer, 60).await;
    resigned(&app, "C").await;
    let alone = app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    assert_eq!(app.played(alone["id"].as_str().expect("an id"), &ana, 1, "A").await["ply"], 1);
    explore(&app).await;
    let expected = Everything::stored(&app).await;
    // As the release before left it: no counts of importers, and one row for a move in a position.
    let before = "drop table import_usage; drop index note_game_idx; truncate explored_move, explored_number;
        alter table explored_move drop column is_imported;
        alter table explored_move add constraint explored_move_pkey primary key (position, move);
        insert into explored_move values (1, 'A', 9, 9, 9, 0, 9, 9, now(), '{}');
        insert into explored_game select 1, id from game";
    sqlx::raw_sql(before).execute(&app.db).await.expect("it is made");
    let migration = include_str!("../../../migrations/0021_imports_with_a_quota.sql");
    sqlx::raw_sql(migration).execute(&app.db).await.expect("it is migrated");
    assert_eq!(Everything::stored(&app).await, Everything::default());
    explore(&app).await;
    assert_eq!(Everything::stored(&app).await, expected);
    let plies: usize = games.iter().map(|(_, chance)| chance.import.plies.len()).sum();
    let usage = app.get("/v1/me/imports", Some(&ana)).await.body["usage"].clone();
    assert_eq!((&usage["games"], &usage["plies"]), (&json!(60), &json!(plies)));
}
