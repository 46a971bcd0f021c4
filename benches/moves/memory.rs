//! What a server takes of memory: at rest, while many play, and with many more games than it can remember.

use std::io;

use mancala_server::rules::{AnyOptions, Variant};
use uuid::Uuid;

use crate::{
    bench::Bench,
    connection::Connection,
    load::{Load, guest, new_game},
    report::{Bound, heading},
};

/// Games that are played at once, at first.
const GAMES_AT_ONCE: usize = 128;

/// No player may have more at once.
const GAMES_OF_A_PAIR: usize = 1000;

/// Of each pair's games so many are played on: a hundredth.
const GAMES_PLAYED_ON: usize = 10;

/// Copies a pair's game, and its log, so often. Only ids differ: their first half, which tells the time, is the first one's.
/// `{templates}` and `{copies}` are filled in.
const COPY: &str = "
create function pg_temp.copy_id(id uuid, n int) returns uuid language sql immutable as
    $$ select (substr(id::text, 1, 24) || substr(md5(id::text || n), 1, 12))::uuid $$;
insert into game select made.* from game t cross join generate_series(1, {copies}) n
cross join lateral jsonb_populate_record(t, jsonb_build_object('id', pg_temp.copy_id(t.id, n))) made
where t.id = any('{templates}');
insert into event select made.* from event t cross join generate_series(1, {copies}) n
cross join lateral jsonb_populate_record(t, jsonb_build_object('game_id', pg_temp.copy_id(t.game_id, n))) made
where t.game_id = any('{templates}');
analyze;
";

pub async fn measure(bench: &mut Bench) -> io::Result<()> {
    heading("memory: MiB resident");
    let server = bench.server()?;
    println!("at the start: {:.1}", server.resident()?);
    let payers = bench.payers(&[server.pid()])?;
    let (time, seed) = (bench.settings.round(), bench.settings.seed);
    let addresses = std::slice::from_ref(&server.address);
    let mut load = Load::new(addresses, Variant::Kalah, GAMES_AT_ONCE, seed).await?;
    let round = bench.round(&mut load, &payers, time * 2).await?;
    let resident = server.resident()?;
    println!("after {} moves of {GAMES_AT_ONCE} games at once: {resident:.1}", round.played.moves);
    bench.bars.add(format!("resident after {GAMES_AT_ONCE} games at once"), Bound::AtMost, 32.0, " MiB", &[resident]);
    let mut records = load.records();

    let pairs = seat_pairs(&server.address, bench.settings.games.div_ceil(GAMES_OF_A_PAIR)).await?;
    let (games, hot) = (pairs.len() * GAMES_OF_A_PAIR, pairs.len() * GAMES_PLAYED_ON);
    let hands = copy_games(bench, pairs).await?;
    let mut load = Load::resume(&server.address, Variant::Kalah, hands).await?;
    let played = load.play(time * 2).await?;
    let resident = server.resident()?;
    println!("with {games} active games, after {} moves of {hot} of them: {resident:.1}", played.moves);
    bench.bars.add(
        format!("resident with {games} active games, {hot} of them hot"),
        Bound::AtMost,
        128.0,
        " MiB",
        &[resident],
    );
    records.extend(load.records());
    drop(server);
    bench.check(records).await
}

/// Pairs of players with one game each.
async fn seat_pairs(address: &str, count: usize) -> io::Result<Vec<([String; 2], Uuid)>> {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").map_err(io::Error::other)?;
    let mut connection = Connection::open(address).await?;
    let mut pairs = vec![];
    for _ in 0..count {
        let tokens = [guest(&mut connection).await?, guest(&mut connection).await?];
        let game = new_game(&mut connection, &tokens, &options).await?;
        pairs.push((tokens, game));
    }
    Ok(pairs)
}

/// Gives every pair as many games as it may have; those that it plays on.
async fn copy_games(bench: &mut Bench, pairs: Vec<([String; 2], Uuid)>) -> io::Result<Vec<([String; 2], Vec<Uuid>)>> {
    let templates: Vec<String> = pairs.iter().map(|(_, game)| game.to_string()).collect();
    let sql = COPY.replace("{templates}", &format!("{{{}}}", templates.join(",")));
    bench.execute(&sql.replace("{copies}", &(GAMES_OF_A_PAIR - 1).to_string())).await?;
    let mut hands = vec![];
    for (tokens, game) in pairs {
        let copies = sqlx::query_scalar("select pg_temp.copy_id($1, n) from generate_series(1, $2) n");
        let copies = copies.bind(game).bind(i32::try_from(GAMES_PLAYED_ON).expect("a handful"));
        let games: Vec<Uuid> = copies.fetch_all(&mut bench.database).await.map_err(io::Error::other)?;
        hands.push((tokens, games));
    }
    Ok(hands)
}
