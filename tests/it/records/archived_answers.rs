//! Every answer about an archived game is what it was.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::archive::{archive_all, events, play, restore_all};
use crate::{
    records::import::{WHOLE, import},
    study::explorer::explore,
    support::{
        app::TestApp,
        binary::{server, url},
        calls::{Guest, send, signed},
        database::count_rows,
        games::finished_with_rematch,
    },
};

const PASSWORD: &str = "correct horse";

/// A game of two with a takeback, a pause, a declined draw, and a resignation, under a clock.
async fn eventful(app: &TestApp, ana: &Guest, bo: &Guest, terms: &Value) -> String {
    let id = app.started_between(ana, bo, terms).await;
    play(app, &id, ana, bo, 6).await;
    let game = app.get_game(&id, Some(ana)).await;
    let (mover, other) = if game.string("/turn") == "south" { (ana, bo) } else { (bo, ana) };
    for (kind, answer) in [("takeback", "accept"), ("pause", "accept"), ("draw", "decline")] {
        let offered = app.offer(&id, other, kind).await;
        assert!(offered.status.is_success(), "{kind} {offered:?}");
        let answered = app.answer_offer(&id, mover, kind, answer).await;
        assert!(answered.status.is_success(), "{kind} {answered:?}");
    }
    assert!(app.answer_offer(&id, mover, "pause", "withdraw").await.status.is_success());
    play(app, &id, ana, bo, 12).await;
    app.resign_game(&id, ana).await;
    id
}

/// A game of every kind, all of them over.
async fn games(app: &TestApp, ana: &Guest, bo: &Guest) -> Vec<String> {
    let id = |game: &Value| game["id"].as_str().expect("an id").to_owned();
    let clock = json!({"type": "per_move", "move_s": 86400});
    let mut ids = vec![finished_with_rematch(app, 9).await.0];
    for variant in ["kalah", "oware", "congkak", "bao", "omweso", "toguz_kumalak", "bestemshe"] {
        ids.push(eventful(app, ana, bo, &json!({"variant": variant, "clock": clock})).await);
    }
    let invited = json!({"type": "player", "player_id": bo.id});
    let private = json!({"visibility": "private", "clock": clock, "opponent": invited});
    ids.push(eventful(app, ana, bo, &private).await);
    // To the end by the rules, alone.
    let alone = json!({"variant": "kalah", "options": {"pits": 2, "seeds": 2}, "opponent": {"type": "self"}});
    ids.push(id(&app.created(ana, &alone).await));
    play(app, &ids[ids.len() - 1], ana, ana, 100).await;
    // Without a result: aborted, declined, and aborted before the opponent came.
    let aborted = app.started_between(ana, bo, &json!({})).await;
    assert_eq!(app.abort_game(&aborted, bo).await.status, 200);
    let invited = json!({"variant": "kalah", "opponent": {"type": "player", "player_id": bo.id}});
    let declined = id(&app.created(ana, &invited).await);
    assert_eq!(app.decline_game(&declined, bo).await.status, 200);
    let link = id(&app.created(ana, &json!({"variant": "kalah", "opponent": {"type": "link"}})).await);
    assert_eq!(app.abort_game(&link, ana).await.status, 200);
    ids.extend([aborted, declined, link]);
    // Practice, and from a position on.
    let practice =
        json!({"variant": "kalah", "opponent": {"type": "computer", "level": 1}, "practice": true, "side": "south"});
    let practice = id(&app.created(ana, &practice).await);
    assert_eq!(app.play_move(&practice, ana, 1, "A").await.status, 201);
    assert_eq!(app.resign_game(&practice, ana).await.status, 200);
    let from = json!({"from": {"game_id": ids[1], "ply": 4}, "opponent": {"type": "self"}});
    let from = id(&app.created(ana, &from).await);
    play(app, &from, ana, ana, 5).await;
    app.resign_game(&from, ana).await;
    ids.extend([practice, from]);
    for visibility in ["public", "private"] {
        let query = format!("?visibility={visibility}");
        ids.push(import(app, ana, &query, "text/plain", WHOLE).await.string("/items/0/game_id"));
    }
    ids
}

/// What every reading endpoint answers about some games.
async fn answers(base: &str, ids: &[String], ana: &Guest, bo: &Guest) -> BTreeMap<String, String> {
    let mut paths = vec![
        "/v1/games?limit=100&sort=created".to_owned(),
        format!("/v1/games?player={}&status=finished", ana.id),
        format!("/v1/games/export?player={}", ana.id),
        format!("/v1/games/export?format=text&player={}", ana.id),
        "/v1/me/export".to_owned(),
        "/v1/me/summary".to_owned(),
        "/v1/explorer?variant=kalah&imported=true".to_owned(),
        format!("/v1/players/{}/stats", bo.id),
    ];
    for id in ids {
        let of_game = [
            "",
            "/moves",
            "/moves?after=3&limit=2",
            "/moves?limit=2&include=effects",
            "/moves?after=1000",
            "/events",
            "/events?after=3&limit=4",
            "/events?after=7",
            "/events?limit=1",
            "/events?after=1000",
            "/positions/0",
            "/positions/3",
            "/positions/8",
            "/board.svg",
            "/board.svg?ply=2",
            "/graph.svg",
            "/export",
            "/export?format=text",
            "/verify",
            "/analysis",
        ];
        paths.extend(of_game.map(|path| format!("/v1/games/{id}{path}")));
        paths.push(format!("/g/{id}"));
    }
    let client = reqwest::Client::new();
    let mut answers = BTreeMap::new();
    for path in paths {
        for (name, guest) in [("ana", Some(ana)), ("none", None)] {
            let answer = send(signed(client.get(format!("{base}{path}")), guest)).await;
            let text = answer.text.replace(base, "");
            answers.insert(format!("{name} {path}"), format!("{} {text}", answer.status));
        }
    }
    // The streams of these games end by themselves: a rematch was agreed on, or none can follow.
    for id in [&ids[0], &ids[10], &ids[11], &ids[12]] {
        let stream = client.get(format!("{base}/v1/games/{id}/events")).header("accept", "text/event-stream");
        // Without the time after which to reconnect, which chance decides.
        let text = send(signed(stream, Some(ana))).await.text;
        let lines = text.lines().filter(|line| !line.starts_with("retry:"));
        answers.insert(format!("stream {id}"), lines.collect::<Vec<_>>().join("\n"));
    }
    answers
}

/// Without what differs from answer to answer: request ids, the moment of an export, and cursors, which are encrypted.
fn timeless(answers: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let is_kept = |part: &&str| !part.contains("\"request_id\"") && !part.contains("\"exported_at\"");
    let is_cursor =
        |word: &str| word.len() > 40 && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    let timeless = |text: String| {
        let kept: String = text.split_inclusive(',').filter(is_kept).collect();
        let words = kept.split(['"', ' ', '}', '=']).filter(|word| !is_cursor(word));
        words.collect::<Vec<_>>().join(" ")
    };
    answers.into_iter().map(|(path, text)| (path, timeless(text))).collect()
}

#[actix_web::test]
async fn every_answer_about_an_archived_game_is_what_it_was() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.account("Ana", PASSWORD).await, app.guest("Bo").await);
    let ids = games(&app, &ana, &bo).await;
    explore(&app).await;
    let rows = events(&app).await;
    // Each time from another server, which has no game in its cache.
    let base = |server: std::net::SocketAddr| format!("http://{server}");
    let before = timeless(answers(&base(app.second_server().0), &ids, &ana, &bo).await);
    let archived = archive_all(&app).await;
    assert_eq!((archived.games as usize, archived.put_off), (ids.len(), vec![]));
    assert_eq!(count_rows(&app, "archived_log").await, i64::try_from(ids.len()).expect("a small number"));
    // The rematch goes on.
    assert_eq!(count_rows(&app, "event where game_id in (select game_id from archived_log)").await, 0);
    let after = timeless(answers(&base(app.second_server().0), &ids, &ana, &bo).await);
    let differ = |(path, answer): (&String, &String)| {
        let then = after.get(path).map_or("", String::as_str);
        let place = answer.chars().zip(then.chars()).take_while(|(one, other)| one == other).count();
        let part = |text: &str| text.chars().skip(place).take(200).collect::<String>();
        (answer != then).then(|| format!("{path}: {:?} / {:?}", part(answer), part(then)))
    };
    assert_eq!(before.iter().filter_map(differ).collect::<Vec<_>>(), [] as [String; 0]);
    assert!(before.values().filter(|answer| answer.starts_with("200")).count() > ids.len() * 20);
    let output = server(&["verify", "--database-url", &url(&app)]).output().expect("the program runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!((output.status.code(), said), (Some(0), format!("{} games are sound\n", ids.len() + 1)));
    // Nothing is left to do, and all comes back as it was.
    assert_eq!(archive_all(&app).await.games, 0);
    restore_all(&app).await;
    assert_eq!(events(&app).await, rows);
    assert_eq!(count_rows(&app, "archived_log").await, 0);
}
