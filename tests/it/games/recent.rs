//! The cache of recent games: a stale game is never shown as the present one, whichever server changed it.

use std::cell::{Cell, RefCell};

use futures_util::future::{join, join_all};
use mancala_server::{
    http::new_key,
    rules::{AnyOptions, AnyPosition, Variant},
};
use reqwest::Client;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use crate::support::{
    answer::Answer,
    app::TestApp,
    binary::{Running, url},
    calls::{Guest, send},
    scrape::count,
};

/// Games of each variant that are played at once.
const GAMES_EACH: usize = 3;

/// Plies that are played of each; fewer if a game ends before.
const PLIES: u32 = 40;

/// A game that is played through two servers in turn, as far as it has come.
struct Contest {
    id: String,
    variant: Variant,
    /// What the rules say: the position after each ply, also after the one that is being sent.
    positions: RefCell<Vec<String>>,
    /// The version that a move was acknowledged with.
    acknowledged: Cell<u64>,
    over: Cell<bool>,
}

impl Contest {
    /// This is the game as the rules say that it is after this ply.
    #[track_caller]
    fn is_shown_by(&self, game: &Value, ply: u32) {
        assert_eq!(game["ply"], ply, "{game}");
        assert_eq!(game["position"].as_str(), Some(self.positions.borrow()[ply as usize].as_str()), "{game}");
    }
}

/// Two servers, a client of both, and the player.
struct Table<'a> {
    servers: [&'a str; 2],
    client: Client,
    guest: Guest,
}

impl Table<'_> {
    /// Plays a game, the moves at either server in turn, each as soon as the one before it is acknowledged. Every third is
    /// sent again to the other server, as if its answer had been lost.
    async fn play(&self, contest: &Contest, n: usize) {
        let options = AnyOptions::new(contest.variant, "standard", &[]).expect("every variant has it");
        let mut position = AnyPosition::opening(&options);
        for ply in 1..=PLIES {
            let legal = position.legal_moves();
            let mv = legal[(n * 7 + ply as usize * 3) % legal.len()];
            position = position.play(mv).expect("it is legal").0;
            contest.positions.borrow_mut().push(position.to_string());
            let played = self.send_move(contest, ply as usize % 2, ply, &mv.to_string()).await;
            assert_eq!(played.status, 201, "{played:?}");
            contest.is_shown_by(&played.body["game"], ply);
            contest.acknowledged.set(played.body["game"]["version"].as_u64().expect("a number"));
            if ply % 3 == 0 {
                let again = self.send_move(contest, (ply as usize + 1) % 2, ply, &mv.to_string()).await;
                assert_eq!((again.status.as_u16(), &again.body["move"]), (200, &played.body["move"]), "{again:?}");
                contest.is_shown_by(&again.body["game"], ply);
            }
            if position.outcome().is_some() {
                break;
            }
        }
        contest.over.set(true);
    }

    async fn send_move(&self, contest: &Contest, server: usize, ply: u32, mv: &str) -> Answer {
        let request = self.client.post(format!("{}/v1/games/{}/moves", self.servers[server], contest.id));
        send(request.bearer_auth(&self.guest.token).json(&json!({"ply": ply, "move": mv}))).await
    }

    /// Reads a game at one of the servers as often as it can for as long as it is played. What a reader has and sees is never
    /// older than what was acknowledged before it asked. Says how many answers were news.
    async fn read(&self, contest: &Contest, server: usize) -> usize {
        let (mut known, mut news) = (None::<(String, u64)>, 0);
        while !contest.over.get() {
            let request = self.client.get(format!("{}/v1/games/{}", self.servers[server], contest.id));
            let tag = known.as_ref().map_or("", |(tag, _)| tag);
            let least = contest.acknowledged.get();
            let answer = send(request.header("if-none-match", tag)).await;
            let version = if answer.status == 304 {
                known.as_ref().expect("a tag was sent").1
            } else {
                assert_eq!(answer.status, 200, "{answer:?}");
                let ply = answer.body["ply"].as_u64().expect("a number");
                contest.is_shown_by(&answer.body, u32::try_from(ply).expect("a small number"));
                let version = answer.body["version"].as_u64().expect("a number");
                known = Some((answer.headers["etag"].to_str().expect("text").to_owned(), version));
                news += 1;
                version
            };
            assert!(version >= least, "{version} was shown after {least} was acknowledged");
        }
        news
    }

    /// Reads all games as a page of a list in the same way, until all are over. Says how many states of games were news.
    async fn read_pages(&self, contests: &[Contest], server: usize) -> usize {
        let (mut known, mut news) = (vec![0; contests.len()], 0);
        while contests.iter().any(|contest| !contest.over.get()) {
            let least: Vec<_> = contests.iter().map(|contest| contest.acknowledged.get()).collect();
            let page = send(self.client.get(format!("{}/v1/games?limit=100", self.servers[server]))).await;
            let items = page.body["items"].as_array().unwrap_or_else(|| panic!("{page:?}"));
            for ((contest, least), known) in contests.iter().zip(least).zip(&mut known) {
                let game = items.iter().find(|item| item["id"] == contest.id.as_str()).expect("it is listed");
                let (ply, version) = (game["ply"].as_u64().expect("a number"), game["version"].as_u64());
                contest.is_shown_by(game, u32::try_from(ply).expect("a small number"));
                let version = version.expect("a number");
                assert!(version >= least, "{version} was listed after {least} was acknowledged");
                news += usize::from(version > *known);
                *known = version;
            }
        }
        news
    }
}

/// Readers of the same page at each server, so that some share what is read.
const PAGE_READERS: usize = 4;

#[actix_web::test]
async fn moves_through_two_servers_in_turn_are_all_played_and_never_shown_stale() {
    let app = TestApp::start().await;
    let (key, arguments) = (new_key(), ["--rate-limits", "off"]);
    let servers = [(); 2].map(|()| Running::start_with(&url(&app), &key, &arguments, &[]));
    let client = Client::new();
    let guest = send(client.post(format!("{}/v1/players", servers[0].base))).await;
    let guest = Guest { id: guest.string("/player/id"), token: guest.string("/access_token") };
    let table = Table { servers: [&servers[0].base, &servers[1].base], client, guest };
    let mut contests = vec![];
    for variant in Variant::ALL.into_iter().cycle().take(GAMES_EACH * Variant::ALL.len()) {
        let request = table.client.post(format!("{}/v1/games", table.servers[0])).bearer_auth(&table.guest.token);
        let game = send(request.json(&json!({"variant": variant.word(), "opponent": {"type": "self"}}))).await;
        let (id, opening) = (game.string("/id"), game.string("/position"));
        let (positions, acknowledged) = (RefCell::new(vec![opening]), Cell::new(1));
        contests.push(Contest { id, variant, positions, acknowledged, over: Cell::new(false) });
    }
    let playing = join_all(contests.iter().enumerate().map(|(n, contest)| table.play(contest, n)));
    let reading = join_all(contests.iter().flat_map(|contest| [0, 1].map(|server| table.read(contest, server))));
    let pages = (0..2 * PAGE_READERS).map(|n| table.read_pages(&contests, n % 2));
    let (_, (news, listed)) = join(playing, join(reading, join_all(pages))).await;
    // The readers did see the games go on.
    assert!(news.iter().all(|news| *news > 5), "{news:?}");
    assert!(listed.iter().all(|news| *news > 5 * contests.len()), "{listed:?}");
}

#[actix_web::test]
async fn a_name_that_was_changed_or_erased_elsewhere_is_shown_at_once() {
    let app = TestApp::start().await;
    let (other, _) = app.second_server_with(|_| {});
    let (id, south, north) = app.started(&json!({})).await;
    let elsewhere = || send(Client::new().get(format!("http://{other}/v1/games/{id}")));
    // The game is in that server's cache from the first answer on.
    for _ in 0..2 {
        assert_eq!(elsewhere().await.string("/seats/south/name"), "South");
    }
    let before = elsewhere().await;
    let renamed = app.patch("/v1/me", Some(&south), &json!({"name": "Ana Maria"})).await;
    assert_eq!(renamed.status, 200, "{renamed:?}");
    let after = elsewhere().await;
    assert_eq!(after.string("/seats/south/name"), "Ana Maria");
    assert_eq!(after.body["version"], before.body["version"]);
    assert_ne!(after.headers["etag"], before.headers["etag"]);
    assert_eq!(app.delete_me(&north).await.status, 204);
    let erased = elsewhere().await;
    assert_eq!(erased.body["status"], "finished");
    assert!(!erased.text.contains("\"North\""), "{}", erased.text);
    assert_eq!(erased.body, app.get_game(&id, None).await.body);
}

#[actix_web::test]
async fn an_erased_name_is_not_shown_of_a_game_that_was_over_before() {
    let app = TestApp::start().await;
    let (other, _) = app.second_server_with(|_| {});
    let (id, south, north) = app.started(&json!({})).await;
    assert_eq!(app.resign_game(&id, &south).await.status, 200);
    let elsewhere = || send(Client::new().get(format!("http://{other}/v1/games/{id}")));
    let before = elsewhere().await;
    assert_eq!(before.string("/seats/north/name"), "North");
    assert_eq!(app.delete_me(&north).await.status, 204);
    // The erasure changes nothing of the game itself.
    let after = elsewhere().await;
    assert_eq!(after.body["version"], before.body["version"]);
    assert!(!after.text.contains("\"North\""), "{}", after.text);
}

#[actix_web::test]
async fn a_list_shows_what_was_changed_elsewhere_at_once() {
    let app = TestApp::start().await;
    let (other, metrics) = app.second_server_with(|_| {});
    let (id, south, north) = app.started(&json!({"visibility": "public"})).await;
    let (still, ..) = app.started(&json!({"visibility": "public"})).await;
    let listed = async |query: &str| {
        let answer = send(Client::new().get(format!("http://{other}/v1/games{query}"))).await;
        let items = answer.body["items"].as_array().expect("a list").clone();
        // The games are those of the other calls, to the byte.
        for item in &items {
            assert_eq!(item, &app.get_game(item["id"].as_str().expect("an id"), None).await.body);
        }
        items
    };
    let by_ids = format!("?ids={id},{still},{id}");
    let game = async |query: &str| listed(query).await.into_iter().find(|item| item["id"] == id.as_str());
    let hits = || count(&metrics.text(), "mancala_game_cache_hits_total");
    for query in ["", &by_ids] {
        assert_eq!(listed(query).await.len(), 2, "{query}");
    }
    assert_eq!(hits(), 2, "the second list found both games in the cache");
    app.play_move(&id, &south, 1, "A").await;
    for query in ["", &by_ids] {
        assert_eq!(game(query).await.expect("it is listed")["ply"], 1, "{query}");
    }
    assert_eq!(app.patch("/v1/me", Some(&south), &json!({"name": "Ana Maria"})).await.status, 200);
    assert_eq!(game("").await.expect("it is listed")["seats"]["south"]["name"], "Ana Maria");
    assert_eq!(app.delete_me(&north).await.status, 204);
    for query in ["", &by_ids] {
        assert!(!game(query).await.expect("it is listed").to_string().contains("\"North\""), "{query}");
    }
}

#[actix_web::test]
async fn a_game_that_cannot_be_read_is_missing_in_lists_alone() {
    let app = TestApp::start().await;
    let (first, ..) = app.started(&json!({"visibility": "public"})).await;
    let (damaged, ..) = app.started(&json!({"visibility": "public"})).await;
    let (last, ..) = app.started(&json!({"visibility": "public"})).await;
    let position = app.get_game(&damaged, None).await.string("/position");
    let set = async |column: &str, value: &str| {
        let sql = format!("update game set {column} where id = '{damaged}'");
        let update = sqlx::query(AssertSqlSafe(sql)).bind(value);
        update.execute(&app.db).await.expect("the column takes it");
    };
    // The domain refuses the first value. The second cannot even be decoded, so that the whole statement fails.
    for (column, value) in [("position = $1", "garbage"), ("time = $1::jsonb", r#"{"banks": "x"}"#)] {
        set(column, value).await;
        // This server has cached none of them.
        let (other, _) = app.second_server_with(|_| {});
        for query in [String::new(), format!("?ids={first},{damaged},{last}")] {
            let listed = send(Client::new().get(format!("http://{other}/v1/games{query}"))).await;
            let items = listed.body["items"].as_array().expect("a list");
            let ids: Vec<_> = items.iter().map(|game| &game["id"]).collect();
            assert_eq!(ids, [last.as_str(), first.as_str()], "{value} {query}");
        }
        let alone = send(Client::new().get(format!("http://{other}/v1/games/{damaged}"))).await;
        alone.is_problem(500, "internal");
        set("position = $1, time = null", &position).await;
    }
}

#[actix_web::test]
async fn a_created_game_is_listed_at_once_however_many_ask() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let newest = async || app.get("/v1/games?limit=2", None).await.body["items"][0]["id"].clone();
    let is_over = Cell::new(false);
    let asking = join_all((0..8).map(async |_| {
        while !is_over.get() {
            newest().await;
        }
    }));
    let creating = async {
        for _ in 0..30 {
            let created = app.created(&ana, &json!({"variant": "kalah"})).await["id"].clone();
            let seen = join_all((0..8).map(|_| newest())).await;
            assert!(seen.iter().all(|seen| *seen == created), "{created} in {seen:?}");
        }
        is_over.set(true);
    };
    join(asking, creating).await;
}

#[actix_web::test]
async fn requests_for_one_page_at_the_same_moment_are_answered_by_viewer() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({"visibility": "public"})).await;
    let ana = app.guest("Ana").await;
    let private = json!({"variant": "kalah", "visibility": "private", "opponent": {"type": "self"}});
    let hidden = app.created(&ana, &private).await["id"].as_str().expect("an id").to_owned();
    let open = app.created(&ana, &json!({"variant": "kalah"})).await["id"].as_str().expect("an id").to_owned();
    let lobby = "/v1/games?status=open&opponent_type=open";
    let of_public = vec![&open, &id];
    let expected = [
        ("/v1/games", None, of_public.clone()),
        ("/v1/games", Some(&south), of_public.clone()),
        ("/v1/games", Some(&ana), of_public),
        ("/v1/games?player=me", Some(&north), vec![&id]),
        ("/v1/games?player=me", Some(&ana), vec![&open, &hidden]),
        (lobby, None, vec![&open]),
        (lobby, Some(&south), vec![&open]),
        (lobby, Some(&ana), vec![]),
    ];
    let requests = (0..80).map(|n| &expected[n % expected.len()]);
    let answers = join_all(requests.map(async |wanted| (wanted, app.get(wanted.0, wanted.1).await))).await;
    for ((path, viewer, ids), answer) in answers {
        let items = answer.body["items"].as_array().expect("a list");
        let mut games = vec![];
        for id in ids {
            games.push(app.get_game(id, *viewer).await.body);
        }
        assert_eq!(items, &games, "{path}");
    }
}

#[actix_web::test]
async fn a_position_of_a_finished_game_is_the_same_from_the_cache() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    app.play_move(&id, &south, 1, "A").await;
    app.play_move(&id, &north, 2, "a").await;
    let positions = async || {
        let mut found = vec![];
        for ply in 0..=2 {
            found.push(app.get(&format!("/v1/games/{id}/positions/{ply}"), None).await.body);
        }
        found
    };
    let before = positions().await;
    assert_eq!(app.resign_game(&id, &south).await.status, 200);
    for _ in 0..2 {
        assert_eq!(positions().await, before);
    }
    app.get(&format!("/v1/games/{id}/positions/3"), None).await.is_problem(404, "not_found");
}

#[actix_web::test]
async fn hits_and_misses_of_the_cache_are_counted() {
    let app = TestApp::start().await;
    let games =
        || ["hits_total", "misses_total"].map(|name| count(&app.metrics.text(), &format!("mancala_game_cache_{name}")));
    let (id, south, north) = app.started(&json!({})).await;
    app.get_game(&id, None).await;
    let [hits, misses] = games();
    for _ in 0..5 {
        assert_eq!(app.get_game(&id, None).await.status, 200);
    }
    assert_eq!(games(), [hits + 5, misses]);
    app.play_move(&id, &south, 1, "A").await;
    app.play_move(&id, &north, 2, "a").await;
    assert_eq!(games(), [hits + 7, misses]);
    let text = app.metrics.text();
    assert_eq!(count(&text, "mancala_cached_games"), 1);
    assert!((2000..10_000).contains(&count(&text, "mancala_cached_games_bytes")), "{text}");
    let unknown = uuid::Uuid::now_v7();
    app.get_game(&unknown.to_string(), None).await.is_problem(404, "not_found");
    assert_eq!(games(), [hits + 7, misses + 1]);
}
