//! A server's memory: idle, under load, and with many more active games than its cache holds.

use std::io;

use mancala_rules::{AnyOptions, Variant};
use uuid::Uuid;

use crate::{
    bench::Bench,
    connection::Connection,
    load::{Load, guest, new_game},
    report::{Bound, heading},
};

/// Games that are played at once in the first part.
const GAMES_AT_ONCE: usize = 128;

/// The most games that a player may have at once.
const GAMES_OF_A_PAIR: usize = 1000;

/// The games of each pair that are played: a hundredth.
const GAMES_PLAYED_ON: usize = 10;

/// Copies each pair's game, and its log. Only ids differ, in their last twelve digits, so a copy keeps the time of creation.
/// `{templates}` and `{copies}` are parameters.
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
    let pids = bench.pids(&[server.pid()])?;
    let (time, seed) = (bench.settings.round(), bench.settings.seed);
    let addresses = std::slice::from_ref(&server.address);
    let mut load = Load::new(addresses, Variant::Kalah, GAMES_AT_ONCE, seed).await?;
    let round = bench.round(&mut load, &pids, time * 2).await?;
    let resident = server.resident()?;
    println!("after {} moves of {GAMES_AT_ONCE} games at once: {resident:.1}", round.played.moves);
    bench.bars.add(format!("resident after {GAMES_AT_ONCE} games at once"), Bound::AtMost, 32.0, " MiB", &[resident]);
    let mut records = load.records();

    let pairs = seat_pairs(&server.address, bench.settings.games.div_ceil(GAMES_OF_A_PAIR)).await?;
    let (games, hot) = (pairs.len() * GAMES_OF_A_PAIR, pairs.len() * GAMES_PLAYED_ON);
    let pairs = copy_games(bench, pairs).await?;
    let mut load = Load::resume(&server.address, Variant::Kalah, pairs).await?;
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

/// Copies each pair's game up to the most games a pair may have, and returns those that are played.
async fn copy_games(bench: &mut Bench, pairs: Vec<([String; 2], Uuid)>) -> io::Result<Vec<([String; 2], Vec<Uuid>)>> {
    let templates: Vec<String> = pairs.iter().map(|(_, game)| game.to_string()).collect();
    let sql = COPY.replace("{templates}", &format!("{{{}}}", templates.join(",")));
    bench.execute(&sql.replace("{copies}", &(GAMES_OF_A_PAIR - 1).to_string())).await?;
    let mut played = vec![];
    for (tokens, game) in pairs {
        let copies = sqlx::query_scalar("select pg_temp.copy_id($1, n) from generate_series(1, $2) n");
        let copies = copies.bind(game).bind(i32::try_from(GAMES_PLAYED_ON).expect("a handful"));
        let games: Vec<Uuid> = copies.fetch_all(&mut bench.database).await.map_err(io::Error::other)?;
        played.push((tokens, games));
    }
    Ok(played)
}
