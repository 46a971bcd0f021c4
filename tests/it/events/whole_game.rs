//! What a whole game costs a client that follows a stream: one request a turn, and three besides.

use mancala_server::rules::{AnyOptions, AnyPosition, Side, Variant};
use serde_json::{Value, json};

use crate::support::{app::TestApp, calls::Guest, listener::Listener, scrape::total};

/// A client that plays by what its stream says, and never asks for the game.
struct Client {
    guest: Guest,
    side: Side,
    stream: Listener,
    turns: usize,
}

/// What a client knows of the game: fields of the event before.
struct Known {
    ply: u32,
    position: AnyPosition,
    is_over: bool,
}

impl Client {
    /// Waits until the stream tells the ply, and takes over what it says.
    async fn hear(&mut self, options: &AnyOptions, ply: u32) -> Known {
        loop {
            let event = self.stream.next().await.expect("the game goes on").data;
            let Some(number) = event["move"]["ply"].as_u64() else { continue };
            if number == u64::from(ply) {
                return known(options, &event);
            }
        }
    }

    /// Plays the whole turn in one request; the plies that it took.
    async fn play_turn(&mut self, app: &TestApp, id: &str, known: &Known) -> u32 {
        let (mut position, mut moves) = (known.position.clone(), vec![]);
        while position.outcome().is_none() && position.turn() == self.side {
            let legal = position.legal_moves();
            let chosen = legal[(known.ply as usize * 11 + moves.len()) % legal.len()];
            moves.push(chosen.to_string());
            position = position.play(chosen).expect("a legal move").0;
        }
        let body = json!({"ply": known.ply + 1, "moves": moves});
        let played = app.post(&format!("/v1/games/{id}/moves"), Some(&self.guest), &body).await;
        assert_eq!(played.status, 201, "{played:?}");
        self.turns += 1;
        u32::try_from(moves.len()).expect("a short turn")
    }
}

/// What a `moved` event says. Its board, its turn and its legal moves are those of its position.
fn known(options: &AnyOptions, event: &Value) -> Known {
    let position = event["move"]["position"].as_str().expect("a position");
    let position = AnyPosition::parse(options, position).expect("a position of this game");
    let legal: Vec<_> = position.legal_moves().iter().map(ToString::to_string).collect();
    let is_over = !event["result"].is_null();
    assert_eq!(event["legal_moves"], if is_over { json!([]) } else { json!(legal) }, "{event}");
    assert_eq!(event["turn"], if is_over { json!(null) } else { json!(position.turn().to_string()) }, "{event}");
    let ply = event["move"]["ply"].as_u64().expect("a ply");
    Known { ply: u32::try_from(ply).expect("a small number"), position, is_over }
}

#[actix_web::test]
async fn a_game_by_stream_takes_a_request_a_turn_and_three_besides() {
    let app = TestApp::start().await;
    for variant in Variant::ALL {
        let (south, north) = (app.guest("South").await, app.guest("North").await);
        let before = total(&app.metrics.text(), "mancala_http_requests_total");
        let created = app.created(&south, &json!({"variant": variant.to_string(), "side": "south"})).await;
        let id = created["id"].as_str().expect("an id").to_owned();
        assert_eq!(app.join_game(&id, &north).await.status, 200);
        let mut clients = vec![];
        for (side, guest) in [(Side::South, south), (Side::North, north)] {
            clients.push(Client { stream: Listener::at(&app, &id, 2, Some(&guest)).await, guest, side, turns: 0 });
        }
        let options = AnyOptions::new(variant, "standard", &[]).expect("options");
        let mut now = Known { ply: 0, position: AnyPosition::opening(&options), is_over: false };
        while !now.is_over {
            let mover = usize::from(now.position.turn() == Side::North);
            let ply = now.ply + clients[mover].play_turn(&app, &id, &now).await;
            for client in &mut clients {
                now = client.hear(&options, ply).await;
            }
        }
        let requests = total(&app.metrics.text(), "mancala_http_requests_total") - before;
        let turns = clients.iter().map(|client| client.turns).sum::<usize>();
        // A client needs two requests beside its moves: it creates or joins the game, and opens its stream.
        assert_eq!(requests, turns + 2 * 2, "{variant}");
        assert!(now.ply > 20 && turns > 10, "{variant}: a whole game");
    }
}
