//! Filters of lists: each combination lists what it says, and those that exclude each other are refused.

use std::collections::BTreeSet;

use mancala_server::rules::{AnyOptions, AnyPosition, Variant};
use serde_json::{Value, json};

use crate::support::{app::TestApp, calls::Guest, games::walk};

/// A line of play that ends in a draw.
fn drawn_line(options: &str) -> Vec<String> {
    let options = AnyOptions::parse(Variant::Kalah, "standard", options).expect("the options are valid");
    let mut stack = vec![(AnyPosition::opening(&options), vec![])];
    while let Some((position, line)) = stack.pop() {
        if position.outcome().is_some_and(|outcome| outcome.winner.is_none() && outcome.reason.is_some()) {
            return line;
        }
        for mv in position.legal_moves() {
            let mut next = position.clone();
            next.play_unchecked(mv);
            stack.push((next, [line.clone(), vec![mv.to_string()]].concat()));
        }
    }
    panic!("there is no draw")
}

/// Games of three players that differ in everything that a filter asks for; as their players see them, newest first.
async fn assorted(app: &TestApp, people: &[Guest; 3]) -> Vec<Value> {
    let [ana, bo, eve] = people;
    let draw = drawn_line("seeds=1");
    let mut games = vec![];
    let pairs = [(ana, bo), (bo, ana), (ana, eve), (eve, bo), (ana, ana)];
    for (n, (creator, other)) in pairs.into_iter().cycle().take(30).enumerate() {
        let alone = creator.id == other.id;
        let opponent = if alone { json!({"type": "self"}) } else { json!({"type": "player", "player_id": other.id}) };
        let visibility = ["public", "public", "unlisted", "private"][n % 4];
        let body = json!({
            "variant": "kalah", "options": {"seeds": 1, "pie": n % 2 == 1}, "opponent": opponent,
            "side": if n % 3 == 0 { "north" } else { "south" },
            "visibility": visibility,
        });
        let game = app.created(creator, &body).await;
        let id = game["id"].as_str().expect("an id").to_owned();
        games.insert(0, (id.clone(), creator));
        if n % 7 == 5 && !alone {
            continue;
        }
        app.join_game(&id, other).await;
        let (south, north) = if n % 3 == 0 { (other, creator) } else { (creator, other) };
        match n % 6 {
            0 => drop(app.resign_game(&id, south).await),
            1 => {
                app.play_move(&id, south, 1, "A").await;
                // The player who was North has South now, and resigns there.
                assert_eq!(app.play_move(&id, north, 2, "swap").await.status, 201);
                app.resign_game(&id, north).await;
            }
            2 => {
                for (ply, mv) in (1..).zip(&draw) {
                    let mover = if mv.chars().all(char::is_uppercase) { south } else { north };
                    assert_eq!(app.play_move(&id, mover, ply, mv).await.status, 201);
                }
            }
            3 => {
                app.play_move(&id, south, 1, "A").await;
                assert_eq!(app.play_move(&id, north, 2, "swap").await.status, 201);
            }
            4 => drop(app.play_move(&id, south, 1, "A").await),
            _ => drop(app.abort_game(&id, other).await),
        }
    }
    let mut shown = vec![];
    for (id, creator) in games {
        shown.push(app.get_game(&id, Some(creator)).await.body);
    }
    shown
}

/// Who sits in a game.
fn seated(game: &Value) -> Vec<&str> {
    ["south", "north"].into_iter().filter_map(|side| game["seats"][side]["id"].as_str()).collect()
}

/// A list's filters as they read, without an index or a cursor.
struct ListFilters<'a> {
    viewer: Option<&'a str>,
    status: Option<&'a str>,
    player: Option<&'a str>,
    opponent: Option<&'a str>,
    turn: bool,
    result: Option<&'a str>,
    visibility: Option<&'a str>,
    sort: Option<&'a str>,
}

impl ListFilters<'_> {
    fn query(&self) -> String {
        let pairs = [
            ("status", self.status),
            ("player", self.player),
            ("opponent", self.opponent),
            ("turn", self.turn.then_some("me")),
            ("result", self.result),
            ("visibility", self.visibility),
            ("sort", self.sort),
        ];
        let pairs = pairs.iter().filter_map(|(name, value)| value.map(|value| format!("{name}={value}")));
        pairs.collect::<Vec<_>>().join("&")
    }

    fn shows(&self, game: &Value) -> bool {
        let people = seated(game);
        let player = if self.turn { self.viewer } else { self.player };
        let alone = people.len() == 2 && people[0] == people[1];
        let invited = self.viewer.is_some() && game["opponent"]["player_id"].as_str() == self.viewer;
        let own = self.viewer.is_some_and(|viewer| people.contains(&viewer)) || invited;
        let other = |player: &str| people.iter().position(|id| *id == player).map(|n| people.get(1 - n).copied());
        let winner = game["result"]["winner_player_id"].as_str();
        (game["visibility"] == "public" || own && player.is_some())
            && self.status.is_none_or(|status| game["status"] == status)
            && player.is_none_or(|player| people.contains(&player))
            && self.opponent.is_none_or(|opponent| other(player.expect("a player")) == Some(Some(opponent)))
            && self.visibility.is_none_or(|visibility| game["visibility"] == visibility)
            && (self.sort != Some("finished_at") || game["status"] == "finished")
            && (!self.turn || self.viewer == game["turn"].as_str().and_then(|turn| game["seats"][turn]["id"].as_str()))
            && self.result.is_none_or(|result| {
                game["status"] == "finished"
                    && match result {
                        "draw" => winner.is_none(),
                        "won" => winner == player && !alone,
                        "lost" => winner.is_some() && winner != player && !alone,
                        side => game["result"]["winner"] == side,
                    }
            })
    }
}

/// Status, whose turn, result and order, as they are asked for.
type Filters = (Option<&'static str>, bool, Option<&'static str>, Option<&'static str>);

const FILTERS: [Filters; 18] = [
    (None, false, None, None),
    (Some("open"), false, None, None),
    (Some("active"), false, None, None),
    (Some("active"), false, None, Some("created_at")),
    (Some("active"), false, None, Some("updated_at")),
    (Some("active"), false, None, Some("deadline")),
    (Some("finished"), false, None, None),
    (Some("aborted"), false, None, None),
    (None, true, None, None),
    (Some("active"), true, None, Some("updated_at")),
    (None, false, Some("south"), None),
    (None, false, Some("north"), Some("finished_at")),
    (None, false, Some("draw"), None),
    (Some("finished"), false, Some("draw"), Some("finished_at")),
    (None, false, Some("won"), None),
    (None, false, Some("lost"), Some("finished_at")),
    (None, false, Some("won"), Some("finished_at")),
    (None, false, None, Some("finished_at")),
];

#[actix_web::test]
async fn every_combination_of_filters_lists_what_it_says_page_by_page() {
    let app = TestApp::start().await;
    let people = [app.guest("Ana").await, app.guest("Bo").await, app.guest("Eve").await];
    let games = assorted(&app, &people).await;
    let [ana, bo, eve] = &people;
    let (mut asked, mut shown) = (0, BTreeSet::new());
    for viewer in [None, Some(ana), Some(eve)] {
        for (player, opponent) in [
            (None, None),
            (Some(ana), None),
            (Some(bo), None),
            (Some(ana), Some(bo)),
            (Some(bo), Some(eve)),
            (Some(ana), Some(ana)),
        ] {
            for (status, turn, result, sort) in FILTERS {
                for visibility in [None, Some("public"), Some("private")] {
                    let id = |guest: Option<&Guest>| guest.map(|guest| guest.id.clone());
                    let (viewer_id, player_id, opponent_id) = (id(viewer), id(player), id(opponent));
                    let filters = ListFilters {
                        viewer: viewer_id.as_deref(),
                        status,
                        player: player_id.as_deref(),
                        opponent: opponent_id.as_deref(),
                        turn,
                        result,
                        visibility,
                        sort,
                    };
                    let answer = app.list_games(&filters.query(), viewer).await;
                    if answer.status != 200 {
                        // What does not go together is refused, and tested below.
                        assert!([401, 422].contains(&answer.status.as_u16()), "{answer:?}");
                        continue;
                    }
                    let mut expected: Vec<_> = games.iter().filter(|game| filters.shows(game)).collect();
                    if let Some(key @ ("finished_at" | "updated_at")) = sort {
                        expected.sort_by_key(|game| std::cmp::Reverse((game[key].to_string(), game["id"].to_string())));
                    }
                    let expected: Vec<_> = expected.iter().filter_map(|game| game["id"].as_str()).collect();
                    let query = format!("{}&limit=3", filters.query());
                    assert_eq!(walk(&app, query.trim_start_matches('&'), viewer).await, expected, "{query}");
                    asked += 1;
                    shown.extend(expected.iter().map(ToString::to_string));
                }
            }
        }
    }
    println!("{asked} combinations");
    assert!(asked > 400, "{asked}");
    assert!(shown.len() >= 28, "{}", shown.len());
}

#[actix_web::test]
async fn filters_that_exclude_each_other_are_refused_with_a_reason() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let of_bo = format!("player={}", bo.id);
    let with_bo = format!("opponent={}", bo.id);
    for (query, name) in [
        (with_bo.clone(), "?opponent"),
        (format!("player=me&{with_bo}&status=open"), "?opponent"),
        ("opponent=Bo&player=me".to_owned(), "?opponent"),
        ("result=won".to_owned(), "?result"),
        ("result=lost&sort=finished_at".to_owned(), "?result"),
        ("result=draw&status=active".to_owned(), "?result"),
        ("result=south&turn=me".to_owned(), "?result"),
        ("result=abandoned".to_owned(), "?result"),
        (format!("turn=me&{of_bo}"), "?turn"),
        ("turn=me&status=open".to_owned(), "?turn"),
        ("turn=south".to_owned(), "?turn"),
        ("turn=me&sort=finished_at".to_owned(), "?sort"),
        ("sort=finished_at&status=aborted&player=me".to_owned(), "?sort"),
        ("sort=updated_at".to_owned(), "?sort"),
        ("sort=updated_at&player=me".to_owned(), "?sort"),
        ("sort=updated_at&status=active".to_owned(), "?sort"),
        ("sort=updated_at&status=finished&player=me".to_owned(), "?sort"),
        ("sort=deadline&player=me".to_owned(), "?sort"),
        ("sort=deadline&status=active".to_owned(), "?sort"),
        ("sort=turn&player=me".to_owned(), "?sort"),
        ("preset=standard".to_owned(), "?preset"),
        ("variant=kalah&preset=south_african".to_owned(), "?preset"),
        ("clock=sundial".to_owned(), "?clock"),
        ("opponent_type=nobody".to_owned(), "?opponent_type"),
        ("reason=boredom".to_owned(), "?reason"),
        ("reason=timeout&status=active".to_owned(), "?reason"),
        ("min_plies=1000001".to_owned(), "?min_plies"),
        ("min_plies=3&max_plies=2".to_owned(), "?max_plies"),
        ("importer=me&player=me".to_owned(), "?player"),
        ("importer=me&sort=finished_at".to_owned(), "?sort"),
        ("importer=me&imported=false".to_owned(), "?imported"),
        ("sort=name".to_owned(), "?sort"),
        ("visibility=private".to_owned(), "?visibility"),
        ("visibility=unlisted&status=open".to_owned(), "?visibility"),
        ("visibility=secret".to_owned(), "?visibility"),
        ("since=yesterday".to_owned(), "?since"),
        ("since=2026-11-21".to_owned(), "?since"),
        ("since=2026-11-21T20:15:00+02:00".to_owned(), "?since"),
        ("until=2026-13-21T20:15:00Z".to_owned(), "?until"),
        ("until=9999-12-31T23:59:59-02:00".to_owned(), "?until"),
        ("since=2026-11-21T20:15:00Z&until=2026-11-21T20:15:00Z".to_owned(), "?until"),
        ("status=open&status=active".to_owned(), "?status"),
        ("colour=red".to_owned(), "?colour"),
    ] {
        let answer = app.list_games(&query, Some(&ana)).await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["pointer"], name, "{query} {answer:?}");
    }
    for query in ["turn=me", "player=me", &format!("{of_bo}&opponent=me"), &format!("{of_bo}&visibility=private")] {
        app.list_games(query, None).await.is_problem(401, "unauthenticated");
        assert_eq!(app.list_games(query, Some(&ana)).await.status, 200, "{query}");
    }
    for query in
        ["since=0000-01-01T00:00:00Z", "until=9999-12-31T23:59:59.999999999Z", "since=1969-01-01T00:00:00%2B02:00"]
    {
        for sort in ["created_at", "finished_at"] {
            assert_eq!(app.list_games(&format!("{query}&sort={sort}"), None).await.status, 200, "{query}");
        }
    }
}
