//! Games and their logs.

pub(crate) mod append;
pub(crate) mod clock_rows;
pub mod computer_turns;
pub mod lookups;
pub(crate) mod rows;
pub(crate) mod term_rows;
pub mod wakes;
pub mod writers;

use std::{collections::HashMap, slice};

use mancala_domain::{BySeat, Event, Fact, Game, GameId, Player, PlayerId, Ply, Previous, RUNNING_GAMES_MAX};
use mancala_rules::HISTORY_MAX;
use sqlx::{PgExecutor, PgPool, types::Json};
use tracing::Instrument;
use uuid::Uuid;

use self::{
    append::Append,
    clock_rows::{OfferText, TimeText},
    rows::{ClockAndOffers, Detail, EventRow, Fold, GameRow, NewEvent, PlyRow, column, number},
    term_rows::{StartText, TermsText},
};
use crate::{
    Writers,
    connection::{DbError, statement},
    idempotency::{self, Keyed},
};

/// A game with what is shown beside it.
#[derive(Clone, Debug)]
pub struct SeatedGame {
    pub game: Game,
    pub players: BySeat<Option<Player>>,
    /// Whom the creator invited, of a game for one player only.
    pub invited: Option<Player>,
    pub last_ply: Option<Ply>,
}

/// Whether an append took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// The events are in the log, durably.
    Stored,
    /// Somebody else was faster: the game is at another version, and nothing was stored.
    Conflict,
    /// Another request came under the same key, and nothing was stored.
    KeyUsed,
}

/// Whether a new game is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// It is, durably.
    Stored,
    /// Another game was created under the key that the request came with.
    KeyUsed,
}

/// A game by its id, as it is shown.
pub async fn find(pool: &PgPool, id: GameId) -> Result<Option<SeatedGame>, DbError> {
    Ok(load(pool, &[id.0], Histories::Left).await?.pop())
}

/// The same with the history of its position, for whoever changes it.
pub async fn find_whole(pool: &PgPool, id: GameId) -> Result<Option<SeatedGame>, DbError> {
    Ok(load(pool, &[id.0], Histories::Read).await?.pop())
}

/// The games of some ids, newest first.
pub async fn find_all(pool: &PgPool, ids: &[GameId]) -> Result<Vec<SeatedGame>, DbError> {
    let ids: Vec<_> = ids.iter().map(|id| id.0).collect();
    load(pool, &ids, Histories::Left).await
}

/// Up to `limit` games that are not over, in which a player sits or to which the player is invited.
pub async fn list_unfinished(pool: &PgPool, player: PlayerId, limit: u32) -> Result<Vec<GameId>, DbError> {
    let ids = sqlx::query_scalar!(
        r#"
        select id as "id!" from (
            select id from unnest(array['active', 'open']) as wanted (status)
            cross join lateral (
                (select id from game
                 where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = wanted.status
                 limit $2)
                union all
                (select id from game
                 where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id
                   and game_status(started_at, finished_at, aborted_at) = wanted.status
                 limit $2)
            ) seated
            union all
            (select id from game where invited_player_id = $1 and started_at is null and aborted_at is null limit $2)
        ) unfinished limit $2
        "#,
        player.0,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select unfinished games of a player"))
    .await?;
    Ok(ids.into_iter().map(GameId).collect())
}

/// Up to `limit` games in which a player sits, newest first, from the one before `before`.
pub async fn list_seated(
    pool: &PgPool,
    player: PlayerId,
    before: Option<GameId>,
    limit: u32,
) -> Result<Vec<SeatedGame>, DbError> {
    let ids = sqlx::query_scalar!(
        r#"
        select id as "id!" from unnest(array['open', 'active', 'finished', 'aborted']) as wanted (status)
        cross join lateral (
            (select id from game
             where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = wanted.status and id < $2
             order by id desc limit $3)
            union all
            (select id from game
             where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id
               and game_status(started_at, finished_at, aborted_at) = wanted.status and id < $2
             order by id desc limit $3)
        ) seated
        order by id desc limit $3
        "#,
        player.0,
        before.map_or(Uuid::max(), |game| game.0),
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select games of a player"))
    .await?;
    load(pool, &ids, Histories::Left).await
}

/// All plies of some games, in their order; oldest first.
pub async fn histories(pool: &PgPool, games: &[SeatedGame]) -> Result<Vec<Vec<Ply>>, DbError> {
    let ids: Vec<_> = games.iter().map(|seated| seated.game.id().0).collect();
    let rows = sqlx::query!(
        r#"
        select game_id, at, ply as "ply!", seat as "seat!", move as "mv!", position as "position!"
        from event where game_id = any($1) and kind = 'moved' order by game_id, seq
        "#,
        &ids,
    )
    .fetch_all(pool)
    .instrument(statement("select moves of games"))
    .await?;
    let mut histories: HashMap<Uuid, Vec<PlyRow>> = HashMap::new();
    for row in rows {
        let ply = PlyRow { at: row.at, ply: row.ply, seat: row.seat, mv: row.mv, position: row.position };
        histories.entry(row.game_id).or_default().push(ply);
    }
    let history = |SeatedGame { game, .. }: &SeatedGame| {
        let rows = histories.remove(&game.id().0).unwrap_or_default();
        // What was played since the game was read is left out.
        let known = rows.into_iter().take_while(|row| row.ply <= column(game.ply()));
        replay(game, Previous::opening(game), known)
    };
    games.iter().map(history).collect()
}

/// Up to `count` plies of a game, oldest first, from the one after ply `after`.
pub async fn plies(pool: &PgPool, game: &Game, after: u32, count: u32) -> Result<Vec<Ply>, DbError> {
    // A ply's number is less than its event's seq, so the key leads straight to the first; the ply before it comes
    // along, for its position is what the first was played upon. What was played since the game was read is left out.
    let rows = sqlx::query_as!(
        PlyRow,
        r#"
        select at, ply as "ply!", seat as "seat!", move as "mv!", position as "position!"
        from event
        where game_id = $1 and kind = 'moved' and seq > $2 and ply between $2 and $4
        order by seq limit $3
        "#,
        game.id().0,
        i32::try_from(after).unwrap_or(i32::MAX),
        i64::from(count) + i64::from(after > 0),
        column(game.ply()),
    )
    .fetch_all(pool)
    .instrument(statement("select event plies"))
    .await?;
    let mut rows = rows.into_iter();
    let previous = match after {
        0 => Previous::opening(game),
        _ => match rows.next() {
            Some(row) => row.into_previous(game)?,
            None => return Ok(vec![]),
        },
    };
    replay(game, previous, rows)
}

/// Plies one after the other, each played upon the one before it.
fn replay(game: &Game, mut previous: Previous, rows: impl Iterator<Item = PlyRow>) -> Result<Vec<Ply>, DbError> {
    rows.map(|row| {
        let ply = row.into_ply(game, &previous)?;
        previous = Previous { position: ply.position.clone(), at: ply.at };
        Ok(ply)
    })
    .collect()
}

/// A game's whole log, oldest first.
pub async fn log(pool: &PgPool, id: GameId) -> Result<Vec<Event>, DbError> {
    let rows = sqlx::query_as!(
        EventRow,
        r#"
        select at, seq, ply, seat, kind, move as mv, position, detail as "detail: Json<Detail>"
        from event where game_id = $1 order by seq
        "#,
        id.0
    )
    .fetch_all(pool)
    .instrument(statement("select event"))
    .await?;
    let mut options = None;
    rows.into_iter()
        .map(|row| {
            let event = row.into_event(id, options.as_ref())?;
            if let Fact::Created(created) = &event.fact {
                options = Some(created.terms.options);
            }
            Ok(event)
        })
        .collect()
}

/// How many games a player has that are not over, counted as far as the most that are allowed.
pub async fn count_running(pool: &PgPool, player: PlayerId) -> Result<u32, DbError> {
    let count = sqlx::query_scalar!(
        r#"
        select count(*) as "count!" from (
            select from unnest(array['active', 'open']) as wanted (status)
            cross join lateral (
                (select from game
                 where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = wanted.status
                 limit $2)
                union all
                (select from game
                 where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id
                   and game_status(started_at, finished_at, aborted_at) = wanted.status
                 limit $2)
            ) running
            limit $2
        ) counted
        "#,
        player.0,
        i64::from(RUNNING_GAMES_MAX)
    )
    .fetch_one(pool)
    .instrument(statement("count running games"))
    .await?;
    Ok(u32::try_from(count).expect("a count that is limited"))
}

/// At which versions games are, of those that exist.
pub async fn versions(pool: &PgPool, ids: &[GameId]) -> Result<Vec<(GameId, u32)>, DbError> {
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let rows = sqlx::query!("select id, version from game where id = any($1)", &ids)
        .fetch_all(pool)
        .instrument(statement("select game versions"))
        .await?;
    rows.into_iter().map(|row| Ok((GameId(row.id), number("game", "version", row.id, row.version)?))).collect()
}

/// Stores a new game and its first event, and what is answered if the request may be sent again. A second time with the same
/// id changes nothing.
pub async fn insert(
    executor: impl PgExecutor<'_>,
    game: &Game,
    created: &Event,
    keyed: Option<&Keyed>,
) -> Result<Inserted, DbError> {
    let fold = Fold::of(game);
    let terms = TermsText::of(game.terms());
    let event = NewEvent::of(created);
    // A key that has run out is used anew. Of several requests under one key the first holds its row, the others wait.
    let inserted = sqlx::query!(
        r#"
        with claimed as (
            insert into idempotency_key as kept (player_id, key, request_hash, created_at, location, etag, body)
            select $25::uuid, $26::text, $27::bytea, $2, $28::text, $29::text, $30::text where $26 is not null
            on conflict (player_id, key) do update
            set request_hash = excluded.request_hash, created_at = excluded.created_at,
                location = excluded.location, etag = excluded.etag, body = excluded.body
            where kept.created_at <= $31
            returning key
        ), made as (
            insert into game (
                id, created_at, variant, preset, options, rules_version, opponent, join_code, visibility, creator_seat,
                updated_at, started_at, version, ply, seat_0_player_id, seat_1_player_id,
                seat_0_moved, seat_1_moved, status, position, invited_player_id, turn_seat,
                history_from_seq, clock, deadline, time, expires_at, wake_at, start, has_webhooks
            )
            select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, false, false, $17, $18,
                $23, $24, $32, $33, $34, $35::jsonb -> 'time', $36, $37, $38::jsonb,
                exists (select from webhook where player_id in ($15, $16, $23) and disabled_at is null)
            where $26 is null or exists (select from claimed)
            on conflict (id) do nothing
            returning id, has_webhooks
        ), to_tell as (
            insert into webhook_event (game_id, from_seq, to_seq) select id, $20, $20 from made where has_webhooks
        ), to_play as (
            insert into computer_turn (game_id, version) select id, $13 from made where $39
        )
        insert into event (game_id, at, seq, kind, detail) select id, $19, $20, $21, $22 from made
        "#,
        game.id().0,
        game.created_at(),
        terms.variant,
        terms.preset,
        terms.options,
        terms.rules_version,
        terms.opponent,
        terms.join_code,
        terms.visibility,
        terms.creator_seat,
        game.updated_at(),
        game.started_at(),
        fold.version,
        fold.ply,
        fold.seat_0_player_id,
        fold.seat_1_player_id,
        game.status().as_str(),
        fold.position,
        created.at,
        event.seq,
        event.kind,
        event.detail as Option<Json<Detail>>,
        terms.invited_player_id,
        fold.turn_seat,
        keyed.map(|keyed| keyed.player.0),
        keyed.map(|keyed| &keyed.key),
        keyed.map(|keyed| keyed.request_hash.as_slice()),
        keyed.map(|keyed| &keyed.answer.location),
        keyed.map(|keyed| &keyed.answer.etag),
        keyed.map(|keyed| &keyed.answer.body),
        game.created_at() - idempotency::KEPT,
        fold.history_from_seq,
        terms.clock,
        fold.deadline,
        fold.clock_and_offers as Option<Json<ClockAndOffers>>,
        game.expires_at(),
        game.wakes_at(),
        terms.start.map(Json) as Option<Json<StartText>>,
        game.computer_to_move().is_some(),
    )
    .execute(executor)
    .instrument(statement("insert game event"))
    .await?;
    Ok(if inserted.rows_affected() == 0 && keyed.is_some() { Inserted::KeyUsed } else { Inserted::Stored })
}

/// Appends events to a game's log and makes its row their fold, in one guarded statement: either all of it is stored,
/// durably, or nothing. `next` is the game after the events; the row must still be at the version before them.
///
/// Once this has been called it is done or fails as a whole, also if the caller does not wait for the end.
pub async fn append(writers: &Writers, next: &Game, events: &[Event]) -> Result<Appended, DbError> {
    writers.append(Append::of(next, events)).instrument(statement("update game insert event")).await
}

/// What is stored together with an append, in one transaction: hardly any has it, and none is a move.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// What is answered if the request may be sent again.
    pub keyed: Option<Keyed>,
    /// A game that begins with it, with its first events.
    pub begun: Option<(Game, [Event; 2])>,
}

/// The same as [`append`] with something beside it: either all of it is stored, durably, or nothing.
pub async fn append_beside(pool: &PgPool, next: &Game, events: &[Event], beside: &Beside) -> Result<Appended, DbError> {
    let append = Append::of(next, events);
    let mut transaction = pool.begin().await?;
    if let Some(keyed) = &beside.keyed
        && !idempotency::claim(&mut *transaction, keyed, next.updated_at()).await?
    {
        return Ok(Appended::KeyUsed);
    }
    if append::store(&mut transaction, &[&append]).await?.games.is_empty() {
        return Ok(Appended::Conflict);
    }
    if let Some((game, [created, joined])) = &beside.begun {
        let new =
            Game::replay(game.id(), [created]).map_err(|e| DbError::inconsistent("event", "kind", game.id().0, e))?;
        insert(&mut *transaction, &new, created, None).await?;
        append::store(&mut transaction, &[&Append::of(game, slice::from_ref(joined))]).await?;
    }
    transaction.commit().await?;
    Ok(Appended::Stored)
}

/// Whether positions are read with their history. Nothing but playing on asks for it, and it can be long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Histories {
    Read,
    Left,
}

/// The games of some ids, newest first, in one query whatever their number.
pub(crate) async fn load(pool: &PgPool, ids: &[Uuid], histories: Histories) -> Result<Vec<SeatedGame>, DbError> {
    let rows = sqlx::query_as!(
        GameRow,
        r#"
        select game.id, game.created_at, game.variant, game.preset, game.options, game.rules_version, game.opponent,
            game.join_code, game.invited_player_id, game.visibility, game.creator_seat, game.updated_at, game.started_at,
            game.finished_at, game.aborted_at, game.analysed_at, game.start as "start: Json<StartText>", game.version, game.ply, game.seat_0_player_id, game.seat_1_player_id,
            game.seat_0_moved, game.seat_1_moved, game.status, game.position, game.clock, game.deadline,
            game.time as "time: Json<TimeText>", game.offers as "offers: Json<Vec<OfferText>>", game.rematch_game_id,
            game.expires_at, game.result_winner, game.result_reason,
            game.result_score_south, game.result_score_north,
            first.kind as "first_kind?", first.name as "first_name?", first.created_at as "first_created_at?",
            second.kind as "second_kind?", second.name as "second_name?", second.created_at as "second_created_at?",
            invited.kind as "invited_kind?", invited.name as "invited_name?", invited.created_at as "invited_created_at?",
            last.at as "last_at?", last.seat as "last_seat?", last.move as "last_move?",
            last.position as "last_position?",
            previous.at as "previous_at?", previous.position as "previous_position?",
            game.history_from_seq, since.positions as "history?"
        from game
        left join player first on first.id = game.seat_0_player_id
        left join player second on second.id = game.seat_1_player_id
        left join player invited on invited.id = game.invited_player_id
        left join lateral (
            select seq, at, seat, move, position from event
            where game_id = game.id and kind = 'moved' order by seq desc limit 1
        ) last on game.ply > 0
        left join lateral (
            select at, position from event
            where game_id = game.id and kind = 'moved' and seq < last.seq order by seq desc limit 1
        ) previous on game.ply > 1
        left join lateral (
            select coalesce(array_agg(position order by seq), '{}') as positions from (
                select seq, position from event
                where game_id = game.id and kind = 'moved' and seq >= game.history_from_seq order by seq desc limit $3
            ) last_of_them
        ) since on $2 and game.history_from_seq is not null
        where game.id = any($1)
        order by game.id desc
        "#,
        ids,
        histories == Histories::Read,
        // The present one, and all that its history holds.
        i64::try_from(HISTORY_MAX + 1).expect("a thousand and one"),
    )
    .fetch_all(pool)
    .instrument(statement("select game event player"))
    .await?;
    rows.into_iter().map(SeatedGame::try_from).collect()
}
