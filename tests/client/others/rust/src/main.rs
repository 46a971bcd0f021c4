//! Two guests play a game, have it analysed and try what is not allowed, through a client that openapi-generator makes from the OpenAPI
//! document.
//!
//!     play BASE_URL [newer]   newer: the answers have words, effects and fields that the document does not name

use std::{
    collections::{BTreeSet, HashMap},
    env,
    error::Error as StdError,
    time::{Duration, Instant},
};

use mancala_client::{
    apis::{
        Error, ResponseContent, configuration::Configuration, events_api, games_api, moves_api, players_api,
        records_api,
    },
    models::{CreateGame, CreatePlayer, Game, JoinGame, PlayMove, Problem, Side, SideChoice},
};
use serde_json::json;
use uuid::Uuid;

type Failure = Box<dyn StdError>;

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
    let base = arguments.next().ok_or("usage: play BASE_URL [newer]")?;
    let words = Words { is_newer: arguments.next().as_deref() == Some("newer") };
    let ((ana_id, ana), (bo_id, bo)) = (guest(&base, "Ana", &words).await?, guest(&base, "Bo", &words).await?);

    let new = CreateGame {
        variant: Some("kalah".to_owned()),
        side: Some(SideChoice::South),
        options: Some(HashMap::from([("pits".to_owned(), json!(3)), ("seeds".to_owned(), json!(2))])),
        ..CreateGame::new()
    };
    let id = games_api::create_game(&ana, new, None).await?.id.to_string();
    let started = games_api::join_game(&bo, &id, None, Some(JoinGame::new())).await?;
    assert_eq!(started.opponent.r#type, words.expect("open", "type"));

    let problem = refused(&ana, &id, "pass").await?;
    assert_eq!(problem.code, words.expect("illegal_move", "code"));
    assert_eq!(problem.reason, Some(words.expect("no_pass", "reason")));
    assert_eq!(problem.legal_moves.as_ref(), Some(&started.legal_moves));

    let finished = play(&HashMap::from([(ana_id, &ana), (bo_id, &bo)]), started, &words).await?;
    assert_eq!(finished.status, words.expect("finished", "status"));
    assert!(finished.result.is_some());
    let events = events_api::list_events(&ana, &id, None, None, None, None, None, None).await?;
    let kinds: Vec<_> = events.items.iter().map(|event| event.r#type.as_str()).collect();
    assert_eq!(kinds[..3], ["created", "joined", "moved"]);
    assert_eq!(kinds.contains(&"newer_event"), words.is_newer);

    let mut status = records_api::analyse_game(&ana, &id, Some(json!({}))).await?;
    let begun = Instant::now();
    while status.analysis.is_none() {
        assert!(begun.elapsed() < PATIENCE, "{status:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
        status = records_api::get_analysis(&ana, &id, None).await?;
    }
    let plies = status.analysis.map_or_else(Vec::new, |analysis| analysis.plies);
    assert_eq!(i32::try_from(plies.len())?, finished.ply);
    assert_eq!(plies.iter().all(|ply| ply.class == "newer_class"), words.is_newer);
    println!("{}: {} plies, {}", if words.is_newer { "newer" } else { "today" }, finished.ply, finished.position);
    Ok(())
}

async fn guest(base: &str, name: &str, words: &Words) -> Result<(Uuid, Configuration), Failure> {
    let anonymous = Configuration { base_path: base.to_owned(), ..Configuration::new() };
    let new = CreatePlayer { name: Some(Some(name.to_owned())), ..CreatePlayer::new() };
    let made = players_api::create_player(&anonymous, None, Some(new)).await?;
    assert_eq!(made.player.kind, words.expect("guest", "kind"));
    Ok((made.player.id, Configuration { bearer_access_token: Some(made.access_token), ..anonymous }))
}

/// Sends a move that is refused, and returns the failure.
async fn refused(api: &Configuration, id: &str, word: &str) -> Result<Problem, Failure> {
    let body = PlayMove { r#move: Some(word.to_owned()), ..PlayMove::new(1) };
    match moves_api::play_move(api, id, body, None).await {
        // All failures have the same body, so its variant in `entity` says nothing: the generator takes the first.
        Err(Error::ResponseError(ResponseContent { status, content, .. })) => {
            assert_eq!(status.as_u16(), 422, "{content}");
            Ok(serde_json::from_str(&content)?)
        }
        other => Err(format!("{word} was not refused: {other:?}").into()),
    }
}

/// Plays some legal move after the other, to the end.
async fn play(players: &HashMap<Uuid, &Configuration>, started: Game, words: &Words) -> Result<Game, Failure> {
    let (mut game, mut effects) = (started, BTreeSet::new());
    while game.status == "active" {
        let seat = if game.turn == Some(Side::South) { &game.seats.south } else { &game.seats.north };
        let player = players[&seat.as_ref().ok_or("an active game has two players")?.id];
        let choice = usize::try_from(game.ply)? * 7 % game.legal_moves.len();
        let body = PlayMove { r#move: Some(game.legal_moves[choice].clone()), ..PlayMove::new(game.ply + 1) };
        let played = moves_api::play_move(player, &game.id.to_string(), body, None).await?;
        effects.extend(played.r#move.effects.into_iter().map(|effect| effect.r#type));
        game = *played.game;
    }
    assert!(["lift", "sow"].iter().all(|word| effects.contains(*word)), "{effects:?}");
    assert_eq!(effects.contains("newer_effect"), words.is_newer);
    Ok(game)
}
