//! Moves while the engine works beside them, for the computer's turns and for analyses; and how long an analysis takes on an
//! idle server.

use std::{
    io,
    time::{Duration, Instant},
};

use mancala_rules::{AnyOptions, AnyPosition, Variant};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    bench::Bench,
    connection::Connection,
    load::{Load, Played, guest},
    report::{Bound, Figure, Latency, heading, median},
};

/// Games at once that the load plays.
const GAMES_AT_ONCE: usize = 32;

/// Games against the strongest level, which give the engine more work than a round lasts.
const COMPUTER_GAMES: usize = 8;

/// Games that are analysed during a round, each for some seconds.
const ANALYSED: usize = 2;

/// The plies of a game whose analysis is timed.
const PLIES: usize = 60;

/// The greatest ratio of p99 beside the engine to p99 alone.
const P99_MAX: f64 = 1.2;

/// How long the queued work may take after a round.
const DRAIN_MAX: Duration = Duration::from_mins(5);

/// Plays as fast as possible, in turns alone, beside the computer's turns, and beside analyses.
pub async fn measure(bench: &mut Bench) -> io::Result<()> {
    heading(&format!("thinking: {GAMES_AT_ONCE} games alone, beside the computer's turns, and beside analyses"));
    let server = bench.server()?;
    let pids = bench.pids(&[server.pid()])?;
    let (time, mut seed) = (bench.settings.round(), bench.settings.seed);
    let mut load =
        Load::new(std::slice::from_ref(&server.address), Variant::Kalah, GAMES_AT_ONCE, seed.wrapping_add(10)).await?;
    let mut connection = Connection::open(&server.address).await?;
    let token = guest(&mut connection).await?;
    let (mut alone, mut computer, mut analyses) = (vec![], vec![], vec![]);
    for _ in 0..bench.settings.rounds {
        alone.push(bench.round(&mut load, &pids, time).await?.played);
        for _ in 0..COMPUTER_GAMES {
            let game = json!({"variant": "congkak", "side": "north", "opponent": {"type": "computer", "level": 8}});
            // A guest has few games against the computer.
            let token = guest(&mut connection).await?;
            connection.post("/v1/games", &token, &game.to_string(), 201).await?;
        }
        computer.push(bench.round(&mut load, &pids, time).await?.played);
        drain(bench, "computer_turn").await?;
        // The server closes a connection that was idle for so long.
        connection = Connection::open(&server.address).await?;
        for _ in 0..ANALYSED {
            seed = seed.wrapping_add(1);
            let id = import(&mut connection, &token, seed).await?;
            connection.post(&format!("/v1/games/{id}/analysis"), &token, "{}", 202).await?;
        }
        analyses.push(bench.round(&mut load, &pids, time).await?.played);
        drain(bench, "analysis_request").await?;
        connection = Connection::open(&server.address).await?;
    }
    println!("alone: {}", summary(&alone));
    for (name, rounds) in [("the computer", &computer), ("analyses", &analyses)] {
        println!("beside {name}: {}", summary(rounds));
        let ratio = Latency::of_all(rounds).p99 / Latency::of_all(&alone).p99;
        let rates: Vec<_> = rounds.iter().zip(&alone).map(|(with, without)| with.rate() / without.rate()).collect();
        println!("moves beside {name} to moves alone: {}", Figure(median(&rates)));
        bench.bars.add(format!("p99 of a move beside {name} to p99 alone"), Bound::AtMost, P99_MAX, " ×", &[ratio]);
    }
    time_analyses(bench, &mut connection, &token).await?;
    drop(server);
    bench.check(load.records()).await
}

fn summary(rounds: &[Played]) -> String {
    let rate = median(&rounds.iter().map(Played::rate).collect::<Vec<_>>());
    format!("{rate:.0} moves/s, {}", Latency::of_all(rounds))
}

/// Times analyses on an idle server, from the request to the end of the work.
async fn time_analyses(bench: &mut Bench, connection: &mut Connection, token: &str) -> io::Result<()> {
    let mut took = vec![];
    for n in 0..bench.settings.rounds as u64 {
        let id = import(connection, token, 1000 + n).await?;
        let begun = Instant::now();
        connection.post(&format!("/v1/games/{id}/analysis"), token, "{}", 202).await?;
        drain(bench, "analysis_request").await?;
        took.push(begun.elapsed().as_secs_f64());
    }
    println!("the analysis of a game of {PLIES} plies takes {:.1} s", median(&took));
    Ok(())
}

/// Polls a queue until it is empty. It must have work when the round ends, or the moves were not beside it.
async fn drain(bench: &mut Bench, table: &str) -> io::Result<()> {
    let (begun, mut polls) = (Instant::now(), 0);
    let left = match table {
        "computer_turn" => "select count(*) from computer_turn",
        _ => "select count(*) from analysis_request",
    };
    while sqlx::query_scalar::<_, i64>(left).fetch_one(&mut bench.database).await.map_err(io::Error::other)? > 0 {
        if begun.elapsed() > DRAIN_MAX {
            return Err(io::Error::other(format!("there is always something in {table}")));
        }
        polls += 1;
        sleep(Duration::from_millis(20)).await;
    }
    if polls == 0 {
        Err(io::Error::other(format!("the work of {table} was over before the round was")))
    } else {
        Ok(())
    }
}

/// Imports a random game of `PLIES` plies, and returns its id.
async fn import(connection: &mut Connection, token: &str, seed: u64) -> io::Result<String> {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").map_err(io::Error::other)?;
    let plies = (0..).map(|n| random_plies(&options, seed.wrapping_mul(1000).wrapping_add(n)));
    let plies = plies.take(1000).find(|plies| plies.len() == PLIES);
    let plies = plies.ok_or_else(|| io::Error::other(format!("no random game has {PLIES} plies")))?;
    let moves: Vec<Value> = plies.iter().map(|word| json!({ "move": word })).collect();
    let game = json!({"game": {"variant": "kalah"}, "moves": moves}).to_string();
    let report = connection.post("/v1/games/import", token, &game, 200).await?;
    let id = report["items"][0]["game_id"].as_str().map(str::to_owned);
    id.ok_or_else(|| io::Error::other(format!("not imported: {report}")))
}

/// The first plies of a random game.
fn random_plies(options: &AnyOptions, seed: u64) -> Vec<String> {
    let (mut position, mut plies, mut state) = (AnyPosition::opening(options), vec![], seed);
    while position.outcome().is_none() && plies.len() < PLIES {
        // A linear congruential generator, with the constants of Knuth's MMIX.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let moves = position.legal_moves();
        let chosen = moves[usize::try_from(state >> 33).unwrap_or(0) % moves.len()];
        plies.push(chosen.to_string());
        position.play_unchecked(chosen);
    }
    plies
}
