//! Two guests play a game, have it analysed and try what is not allowed, through a client that progenitor makes from the OpenAPI document.
//!
//!     mancala-client BASE_URL [newer]   newer: the answers have words, effects and fields that the document does not name

use std::{
    collections::{BTreeSet, HashMap},
    env,
    error::Error,
    time::{Duration, Instant},
};

use futures_util::TryStreamExt;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde_json::{from_value, json};
use uuid::Uuid;

use self::api::{
    Client,
    types::{Game, Problem},
};

mod api {
    progenitor::generate_api!("../../../target/openapi-3.0.json");
}

type Failure = Box<dyn Error>;

/// How long an analysis takes at most.
const PATIENCE: Duration = Duration::from_secs(120);

/// A word as the server of today or of the future says it.
struct Words {
    is_newer: bool,
}

impl Words {
    fn expect(&self, known: &str, name: &str) -> String {
        if self.is_newer { format!("newer_{name}") } else { known.to_owned() }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let mut arguments = env::args().skip(1);
    let base = arguments.next().ok_or("usage: mancala-client BASE_URL [newer]")?;
    let words = Words { is_newer: arguments.next().as_deref() == Some("newer") };
    let ((ana_id, ana), (bo_id, bo)) = (guest(&base, "Ana", &words).await?, guest(&base, "Bo", &words).await?);

    let new = from_value(json!({"variant": "kalah", "side": "south", "options": {"pits": 3, "seeds": 2}}))?;
    let id = ana.create_game(None, &new).await?.into_inner().id;
    let started = bo.join_game(&id, None, &from_value(json!({}))?).await?.into_inner();
    assert_eq!(started.opponent.type_, words.expect("open", "type"));

    let problem = refused(&ana, &id, "pass").await?;
    assert_eq!(problem.code.as_str(), words.expect("illegal_move", "code"));
    assert_eq!(problem.reason, Some(words.expect("no_pass", "reason")));
    assert_eq!(problem.legal_moves, started.legal_moves);

    let finished = play(&HashMap::from([(ana_id, &ana), (bo_id, &bo)]), started, &words).await?;
    assert_eq!(finished.status.as_str(), words.expect("finished", "status"));
    assert!(finished.result.is_some());
    let events = ana.list_events(&id, None, None, None, None, None, None).await?.into_inner();
    let kinds: Vec<_> = events.items.iter().map(|event| event.type_.as_str()).collect();
    assert_eq!(kinds[..3], ["created", "joined", "moved"]);
    assert_eq!(kinds.contains(&"newer_event"), words.is_newer);

    let mut status = ana.analyse_game(&id, &from_value(json!({}))?).await?.into_inner();
    let begun = Instant::now();
    while status.analysis.is_none() {
        assert!(begun.elapsed() < PATIENCE, "{status:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
        status = ana.get_analysis(&id, None).await?.into_inner();
    }
    let judged = status.analysis.map_or(0, |analysis| analysis.plies.len());
    assert_eq!(i64::try_from(judged)?, i64::from(finished.ply));
    println!("{}: {judged} plies, {}", if words.is_newer { "newer" } else { "today" }, finished.position);
    Ok(())
}

async fn guest(base: &str, name: &str, words: &Words) -> Result<(Uuid, Client), Failure> {
    let made = Client::new(base).create_player(None, &from_value(json!({"name": name}))?).await?.into_inner();
    assert_eq!(made.player.kind.as_str(), words.expect("guest", "kind"));
    let token = HeaderValue::from_str(&format!("Bearer {}", made.access_token))?;
    let headers = HeaderMap::from_iter([(AUTHORIZATION, token)]);
    let http = reqwest::Client::builder().default_headers(headers).build()?;
    Ok((made.player.id, Client::new_with_client(base, http)))
}

/// Sends a move that is refused, and returns the failure.
async fn refused(api: &Client, id: &Uuid, word: &str) -> Result<Problem, Failure> {
    match api.play_move(id, None, &from_value(json!({"ply": 1, "move": word}))?).await {
        // Progenitor reads `application/problem+json` as bytes.
        Err(progenitor::progenitor_client::Error::ErrorResponse(answer)) => {
            let parts: Vec<_> = answer.into_inner().into_inner().try_collect().await?;
            Ok(serde_json::from_slice(&parts.concat())?)
        }
        other => Err(format!("{word} was not refused: {other:?}").into()),
    }
}

/// Plays some legal move after the other, to the end.
async fn play(players: &HashMap<Uuid, &Client>, started: Game, words: &Words) -> Result<Game, Failure> {
    let (mut game, mut effects) = (started, BTreeSet::new());
    while game.status.as_str() == "active" {
        let turn = game.turn.ok_or("an active game has a turn")?.to_string();
        let seat = if turn == "south" { &game.seats.south } else { &game.seats.north };
        let player = players[&seat.as_ref().ok_or("an active game has two players")?.id];
        let choice = usize::try_from(game.ply)? * 7 % game.legal_moves.len();
        let body = from_value(json!({"ply": game.ply + 1, "move": game.legal_moves[choice]}))?;
        let played = player.play_move(&game.id, None, &body).await?.into_inner();
        effects.extend(played.move_.effects.into_iter().map(|effect| effect.type_));
        game = played.game;
    }
    assert!(["lift", "sow"].iter().all(|word| effects.contains(*word)), "{effects:?}");
    assert_eq!(effects.contains("newer_effect"), words.is_newer);
    Ok(game)
}
