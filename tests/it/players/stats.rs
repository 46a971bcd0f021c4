//! A player's figures, compared with brute force over all games.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{answer::Answer, app::TestApp, calls::Guest};

async fn stats(app: &TestApp, id: &str, query: &str) -> Answer {
    let answer = app.get(&format!("/v1/players/{id}/stats{query}"), None).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer
}

/// A game of two that has begun.
async fn begun(app: &TestApp, south: &Guest, north: &Guest, options: Value) -> String {
    let mut body = json!({"variant": "kalah", "side": "south"});
    for (name, value) in options.as_object().expect("an object") {
        body[name] = value.clone();
    }
    if body["opponent"]["type"] == "player" {
        body["opponent"]["player_id"] = json!(north.id);
    }
    let game = app.created(south, &body).await;
    let id = game["id"].as_str().expect("an id").to_owned();
    if game["status"] == "active" {
        return id;
    }
    let join = json!({ "join_code": game["join_code"] });
    let join = if game["join_code"].is_null() { json!({}) } else { join };
    let joined = app.post(&format!("/v1/games/{id}/join"), Some(north), &join).await;
    assert_eq!(joined.status, 200, "{joined:?}");
    id
}

/// Pseudo-random numbers.
struct Lots(u64);

impl Lots {
    fn draw(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound
    }
}

/// Plays random moves until the game ends: by the rules, by resignation or by agreement. Returns the game.
async fn play_on(app: &TestApp, lots: &mut Lots, id: &str, people: [&Guest; 2]) -> Value {
    let mut game = app.get_game(id, Some(people[0])).await.body;
    for ply in 1..200 {
        if game["status"] == "finished" {
            return game;
        }
        match lots.draw(60) {
            0 => drop(app.resign_game(id, people[lots.draw(2)]).await),
            1 if people[0].id != people[1].id => {
                app.offer(id, people[0], "draw").await;
                app.answer_offer(id, people[1], "draw", "accept").await;
            }
            _ => {
                let turn = game["turn"].as_str().expect("a turn");
                let mover = people.iter().find(|guest| game["seats"][turn]["id"] == guest.id).expect("a mover");
                let legal = game["legal_moves"].as_array().expect("moves");
                let mv = legal[lots.draw(legal.len())].as_str().expect("a move").to_owned();
                let played = app.play_move(id, mover, ply, &mv).await;
                assert_eq!(played.status, 201, "{played:?}");
            }
        }
        game = app.get_game(id, Some(people[0])).await.body;
    }
    panic!("{id} does not end")
}

/// A player's expected figures, counted over all games.
fn expected(games: &[Value], player: &Guest, opponents: Option<&[&str]>) -> Value {
    let seat = |game: &Value, side: &str| game["seats"][side]["id"] == player.id;
    let counts = |game: &&Value| {
        (seat(game, "south") != seat(game, "north"))
            && opponents.is_none_or(|kinds| kinds.contains(&game["opponent"]["type"].as_str().expect("a type")))
    };
    let mut finished: Vec<_> = games.iter().filter(counts).collect();
    finished.sort_by_key(|game| (game["finished_at"].to_string(), game["id"].to_string()));
    let mut variants: BTreeMap<&str, Vec<(&str, Option<i64>)>> = BTreeMap::new();
    for game in finished {
        let (own, others) = if seat(game, "south") { ("south", "north") } else { ("north", "south") };
        let result = &game["result"];
        let ending = if result["winner"].is_null() {
            "draw"
        } else if result["winner"] == own {
            "win"
        } else {
            "loss"
        };
        let [own, others] = [own, others].map(|side| result["score"][side].as_i64().expect("a score"));
        let margin = if ending == "draw" { 0 } else { own - others };
        let margin = (result["reason"] != "resignation").then_some(margin);
        variants.entry(game["variant"].as_str().expect("a variant")).or_default().push((ending, margin));
    }
    let figures = |(variant, games): (&&str, &Vec<(&str, Option<i64>)>)| {
        let count = |ending: &str| games.iter().filter(|game| game.0 == ending).count();
        let margins: Vec<_> = games.iter().filter_map(|game| game.1).collect();
        let average = (!margins.is_empty()).then(|| {
            let sum: i64 = margins.iter().sum();
            (f64::from(i32::try_from(sum).expect("few seeds") * 100)
                / f64::from(i32::try_from(margins.len()).expect("few games")))
            .round()
                / 100.0
        });
        let streaks: Vec<_> =
            games.chunk_by(|one, next| one.0 == next.0).map(|streak| (streak[0].0, streak.len())).collect();
        let (ending, length) = streaks.last().expect("a game");
        let longest = streaks.iter().filter(|streak| streak.0 == "win").map(|streak| streak.1).max().unwrap_or(0);
        json!({
            "variant": variant, "games": games.len(), "wins": count("win"), "draws": count("draw"), "losses": count("loss"),
            "average_margin": average, "current_streak": {"result": ending, "length": length}, "longest_winning_streak": longest,
        })
    };
    // Kalah comes before Oware, as in the list of variants.
    json!(variants.iter().map(figures).collect::<Vec<_>>())
}

#[actix_web::test]
async fn the_figures_are_those_of_brute_force_on_random_games() {
    let app = TestApp::start().await;
    let people = [app.guest("Ana").await, app.guest("Bo").await, app.guest("Eve").await];
    let (mut lots, mut games) = (Lots(20), vec![]);
    for n in 0..60 {
        let (one, other) = (lots.draw(3), lots.draw(3));
        let pair = [&people[one], &people[other]];
        // Many of the smallest games end in a draw or are won by a seed or two.
        let mut options = match lots.draw(6) {
            0 => json!({"variant": "oware", "options": {"seeds": 2}}),
            seeds => json!({"options": {"seeds": 1 + seeds / 3, "pie": n % 2 == 0}}),
        };
        options["visibility"] = json!(["public", "unlisted", "private"][lots.draw(3)]);
        options["side"] = json!(["south", "north"][lots.draw(2)]);
        let kind = if options["visibility"] == "private" { "link" } else { ["open", "link", "player"][lots.draw(3)] };
        options["opponent"] = json!({"type": if one == other { "self" } else { kind }});
        let id = begun(&app, pair[0], pair[1], options).await;
        games.push(play_on(&app, &mut lots, &id, pair).await);
    }
    let reasons = |word: &str| games.iter().filter(|game| game["result"]["reason"] == word).count();
    assert!(reasons("resignation") > 0 && reasons("agreement") > 0 && reasons("side_empty") > 10);
    assert!(games.iter().any(|game| game["result"]["winner"].is_null() && game["result"]["reason"] == "side_empty"));
    assert!(games.iter().any(|game| game["position"].as_str().is_some_and(|text| text.contains('w'))));
    for player in &people {
        for (query, opponents) in [
            ("", None),
            ("?opponent_type=open", Some(&["open"][..])),
            ("?opponent_type=link,player", Some(&["link", "player"])),
            ("?opponent_type=self", Some(&["self"])),
            ("?opponent_type=computer,imported", Some(&["computer", "imported"])),
        ] {
            let shown = stats(&app, &player.id, query).await.body;
            assert_eq!(shown["variants"], expected(&games, player, opponents), "{query}");
            assert_eq!((&shown["player_id"], &shown["is_complete"]), (&json!(player.id), &json!(true)));
        }
        let profile = app.get(&format!("/v1/players/{}", player.id), None).await.body;
        let shown = stats(&app, &player.id, "").await.body;
        let sum = |name: &str| -> u64 {
            shown["variants"].as_array().expect("a list").iter().filter_map(|variant| variant[name].as_u64()).sum()
        };
        let counts = &profile["counts"];
        assert_eq!(
            [sum("wins"), sum("losses"), sum("draws")].map(|n| json!(n)),
            ["won", "lost", "drawn"].map(|name| counts[name].clone())
        );
    }
}

#[actix_web::test]
async fn resigned_games_have_no_margin_and_streaks_follow_the_end_of_games() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    assert_eq!(stats(&app, &ana.id, "").await.body, json!({"player_id": ana.id, "is_complete": true, "variants": []}));
    let mut ids = vec![];
    for _ in 0..5 {
        ids.push(begun(&app, &ana, &bo, json!({"options": {"pie": true}})).await);
    }
    // Ana wins two, loses one after a swap, and wins one. The fifth is active. They end in another order than they began.
    app.resign_game(&ids[3], &bo).await;
    app.resign_game(&ids[1], &bo).await;
    assert_eq!(app.play_move(&ids[2], &ana, 1, "A").await.status, 201);
    assert_eq!(app.play_move(&ids[2], &bo, 2, "swap").await.status, 201);
    app.resign_game(&ids[2], &ana).await;
    app.resign_game(&ids[0], &bo).await;
    let answer = stats(&app, &ana.id, "").await;
    assert_eq!(answer.headers["cache-control"], "private, no-cache");
    assert_eq!(
        answer.body["variants"],
        json!([{
            "variant": "kalah", "games": 4, "wins": 3, "draws": 0, "losses": 1, "average_margin": null,
            "current_streak": {"result": "win", "length": 1}, "longest_winning_streak": 2,
        }])
    );
    let bos = stats(&app, &bo.id, "").await.body["variants"][0].clone();
    assert_eq!(
        (&bos["current_streak"], &bos["longest_winning_streak"]),
        (&json!({"result": "loss", "length": 1}), &json!(1))
    );
    // An erased player is shown as the profile shows one; the game that was not over is resigned.
    app.delete_me(&ana).await;
    let erased = stats(&app, &ana.id, "").await.body["variants"][0].clone();
    assert_eq!((&erased["games"], &erased["losses"]), (&json!(5), &json!(2)));
}

#[actix_web::test]
async fn only_the_games_that_ended_last_are_looked_at_and_the_answer_says_so() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let id = begun(&app, &ana, &bo, json!({})).await;
    app.resign_game(&id, &bo).await;
    // The same game often, ever earlier; half of them from the other seat.
    let copy = "insert into game (id, created_at, variant, preset, options, rules_version, opponent, visibility, creator_seat,
            seat_0_player_id, seat_1_player_id, started_at, finished_at, result_winner, result_reason, result_score_south,
            result_score_north, winner_seat, status, seat_0_moved, seat_1_moved, updated_at, version, ply, position)
        select gen_random_uuid(), created_at, variant, preset, options, rules_version, opponent, visibility, creator_seat,
            case when n % 2 = 0 then seat_0_player_id else seat_1_player_id end,
            case when n % 2 = 0 then seat_1_player_id else seat_0_player_id end,
            started_at, finished_at - make_interval(secs => n), result_winner, result_reason, result_score_south,
            result_score_north, winner_seat, status, seat_0_moved, seat_1_moved, updated_at, version, ply, position
        from game, generate_series(1, 9999) n where id = $1";
    sqlx::query(copy).bind(Uuid::try_parse(&id).expect("an id")).execute(&app.db).await.expect("rows");
    let figures = |answer: &Answer| {
        let shown = &answer.body["variants"][0];
        [
            answer.body["is_complete"].clone(),
            shown["games"].clone(),
            shown["wins"].clone(),
            shown["current_streak"].clone(),
        ]
    };
    let streak = json!({"result": "win", "length": 1});
    let all = stats(&app, &ana.id, "").await;
    assert_eq!(figures(&all), [json!(true), json!(10_000), json!(5_000), streak.clone()]);
    // A further game, the oldest of all, which Ana won: it is left out.
    let older = "update game set finished_at = finished_at - interval '1 day' where id = $1";
    let more = begun(&app, &ana, &bo, json!({})).await;
    app.resign_game(&more, &bo).await;
    sqlx::query(older).bind(Uuid::try_parse(&more).expect("an id")).execute(&app.db).await.expect("a row");
    assert_eq!(figures(&stats(&app, &ana.id, "").await), [json!(false), json!(10_000), json!(5_000), streak]);
    let none = stats(&app, &ana.id, "?opponent_type=computer").await;
    assert_eq!((&none.body["is_complete"], &none.body["variants"]), (&json!(false), &json!([])));
    // What is left is as it was played.
    let games = "delete from game where not exists (select from event where game_id = id)";
    sqlx::query(games).execute(&app.db).await.expect("rows");
    let back = "update game set finished_at = updated_at";
    sqlx::query(back).execute(&app.db).await.expect("rows");
}

#[actix_web::test]
async fn what_is_no_player_or_no_opponent_is_refused() {
    let app = TestApp::start().await;
    for id in ["0199aaaa-0000-7000-8000-000000000000", "me", "x"] {
        app.get(&format!("/v1/players/{id}/stats"), None).await.is_problem(404, "not_found");
    }
    let ana = app.guest("Ana").await;
    let too_many = ["open"; 7].join(",");
    for query in [
        "opponent_type=",
        "opponent_type=nobody",
        "opponent_type=open,",
        "variant=kalah",
        &format!("opponent_type={too_many}"),
    ] {
        let answer = app.get(&format!("/v1/players/{}/stats?{query}", ana.id), None).await;
        answer.is_problem(422, "validation_failed");
    }
    // The computer is a player, and so are names in imported games.
    let computer = stats(&app, "00000000-0000-7000-8000-000000000001", "").await.body;
    assert_eq!(computer["variants"], json!([]));
}

#[actix_web::test]
async fn a_game_that_begins_with_a_position_counts_in_no_figure() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    // Ana has won before her first move.
    let start = json!({"start": {"position": "0,0,0,0,0,1/0,0,0,0,0,1 40-6 S - 0 1S"}});
    let id = app.started_between(&ana, &bo, &start).await;
    assert_eq!(app.played(&id, &ana, 1, "F").await["result"]["winner"], "south");
    assert_eq!(app.get("/v1/me", Some(&ana)).await.body["counts"]["won"], 1);
    let stats = app.get(&format!("/v1/players/{}/stats", ana.id), None).await;
    assert_eq!(stats.body["variants"], json!([]), "{stats:?}");
}
