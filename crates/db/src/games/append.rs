//! The rows that an append stores, and the one statement that stores a group of appends. Knows nothing of queues and retries.

use std::collections::HashSet;

use mancala_domain::{Change, Event, Exploration, Fact, Game, Opponent};
use serde::Serialize;
use sqlx::{PgConnection, types::Json};
use time::{OffsetDateTime, serde::rfc3339};
use uuid::Uuid;

use super::{
    columns::column,
    event_rows::{Detail, MOVED, NewEvent},
    fold::{ClockAndOffers, EndText, Fold},
};
use crate::connection::{DbError, columns};

/// Whether an append took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// The events are in the log, durably.
    Stored,
    /// A version conflict: the game is at another version, and nothing was stored.
    Conflict,
    /// Another request used the same idempotency key, and nothing was stored.
    KeyUsed,
}

/// The events that one command led to, and the columns of the game's row after them.
#[derive(Debug)]
pub(crate) struct Append {
    change: Change,
    /// The version that the row must still be at: optimistic locking.
    expected: i32,
    updated_at: OffsetDateTime,
    seat_0_moved: bool,
    seat_1_moved: bool,
    fold: Fold,
    /// `None` for a plain move.
    once: Option<Json<Once>>,
    computer_to_move: bool,
    /// The last move among the events: the game's row has its ply and position. Without a move, the first event.
    main: NewEvent,
    /// The other events: the end of the game, offers that a move drops, earlier moves of the turn.
    further: Vec<NewEvent>,
}

/// The columns that few moves set, at most once in a game. A null leaves the column as it is.
#[derive(Debug, Serialize)]
struct Once {
    status: &'static str,
    seat_0_player_id: Option<Uuid>,
    seat_1_player_id: Option<Uuid>,
    #[serde(with = "rfc3339::option")]
    started_at: Option<OffsetDateTime>,
    #[serde(flatten)]
    end: EndText,
    rematch_game_id: Option<Uuid>,
    #[serde(with = "rfc3339::option")]
    analysed_at: Option<OffsetDateTime>,
    join_code: Option<String>,
    /// Whether the computer moves next.
    computer_to_move: bool,
    /// Whether the append gives a public game its result.
    is_to_explore: bool,
}

impl Append {
    /// `next` is the game after the events, of which there is at least one.
    pub(crate) fn of(next: &Game, events: &[Event]) -> Self {
        let gets_result = events.iter().any(|event| matches!(event.fact, Fact::Finished(_)));
        let is_to_explore = gets_result && Exploration::counts_game(next);
        let first = events.first().expect("an append has at least one event");
        let last_move = events.iter().rposition(|event| matches!(event.fact, Fact::Moved(_))).unwrap_or(0);
        let others = events.iter().enumerate().filter(|(index, _)| *index != last_move);
        let further: Vec<_> = others.map(|(_, event)| NewEvent::with_position(event)).collect();
        let main = NewEvent::of(&events[last_move]);
        let fold = Fold::of(next);
        let is_plain_move = main.kind == MOVED && further.is_empty() && next.computer_to_move().is_none();
        Self {
            change: next.change(),
            expected: column(first.seq) - 1,
            updated_at: next.updated_at(),
            seat_0_moved: next.moved().first,
            seat_1_moved: next.moved().second,
            computer_to_move: next.computer_to_move().is_some(),
            once: (!is_plain_move).then(|| Json(Once::of(next, &fold, is_to_explore))),
            fold,
            main,
            further,
        }
    }

    pub(crate) const fn game(&self) -> Uuid {
        self.change.game.0
    }

    /// Whether the computer moves next.
    pub(crate) const fn computer_to_move(&self) -> bool {
        self.computer_to_move
    }

    /// The change of which observers are notified once the append is stored.
    pub(crate) const fn change(&self) -> Change {
        self.change
    }
}

impl Once {
    fn of(game: &Game, fold: &Fold, is_to_explore: bool) -> Self {
        Self {
            status: game.status().as_str(),
            seat_0_player_id: fold.seat_0_player_id,
            seat_1_player_id: fold.seat_1_player_id,
            started_at: game.started_at(),
            end: EndText::of(game, fold),
            rematch_game_id: game.rematch().map(|game| game.0),
            analysed_at: game.analysed_at(),
            computer_to_move: game.computer_to_move().is_some(),
            is_to_explore,
            join_code: match &game.terms().opponent {
                Opponent::Link { join_code } => Some(join_code.clone()),
                _ => None,
            },
        }
    }
}

columns! {
    /// The values for the game's row, and for the main event.
    struct GivenRow<'a> => GivenColumns {
        game_id: Uuid,
        /// The version that the row must still be at.
        expected: i32,
        version: i32,
        updated_at: OffsetDateTime,
        ply: i32,
        history_from_seq: Option<i32>,
        turn_seat: Option<i16>,
        position: &'a str,
        seat_0_moved: bool,
        seat_1_moved: bool,
        once: Option<&'a Json<Once>>,
        deadline: Option<OffsetDateTime>,
        clock_and_offers: Option<&'a Json<ClockAndOffers>>,
        seat: Option<i16>,
        kind: &'static str,
        mv: Option<&'a str>,
        detail: Option<&'a Json<Detail>>,
        /// The event's.
        seq: i32,
    }
}

columns! {
    /// Another event of the append.
    struct FurtherRow<'a> => FurtherColumns {
        game_id: Uuid,
        seq: i32,
        seat: Option<i16>,
        kind: &'static str,
        detail: Option<&'a Json<Detail>>,
        ply: Option<i32>,
        mv: Option<&'a str>,
        position: Option<&'a str>,
    }
}

impl Append {
    fn given(&self) -> GivenRow<'_> {
        GivenRow {
            game_id: self.game(),
            expected: self.expected,
            version: self.fold.version,
            updated_at: self.updated_at,
            ply: self.fold.ply,
            history_from_seq: self.fold.history_from_seq,
            turn_seat: self.fold.turn_seat,
            position: &self.fold.position,
            seat_0_moved: self.seat_0_moved,
            seat_1_moved: self.seat_1_moved,
            once: self.once.as_ref(),
            deadline: self.fold.deadline,
            clock_and_offers: self.fold.clock_and_offers.as_ref(),
            seat: self.main.seat,
            kind: self.main.kind,
            mv: self.main.mv.as_deref(),
            detail: self.main.detail.as_ref(),
            seq: self.main.seq,
        }
    }

    fn further(&self) -> impl Iterator<Item = FurtherRow<'_>> {
        self.further.iter().map(|event| FurtherRow {
            game_id: self.game(),
            seq: event.seq,
            seat: event.seat,
            kind: event.kind,
            detail: event.detail.as_ref(),
            ply: event.ply,
            mv: event.mv.as_deref(),
            position: event.position.as_deref(),
        })
    }
}

/// Stores a group of appends, durably: at most one for each game, in the order of their ids. Each one is stored as a
/// whole if its game is still at the expected version, and otherwise not at all. The others do not depend on it. If the
/// statement fails, nothing is stored. Returns the games whose appends were stored.
///
/// For a game whose players have webhooks, the statement queues a row of `webhook_event`. The game's row says whether
/// they have; it is looked up when a seat is taken. A webhook that is made later flags the existing games itself.
///
/// The update locks the rows in the order of `given`, so that two groups with the same games wait for each other
/// without a deadlock. Should PostgreSQL ever join in another order, it ends one of the two statements, and its appends
/// are tried one by one. A CTE that locks the rows first would write an eighth more WAL.
///
/// Every row is found by its game's id, and tables are joined on nothing else, so that they can be distributed by it.
#[expect(clippy::too_many_lines, reason = "one statement, with a line for each of its parameters")]
pub(crate) async fn store(connection: &mut PgConnection, group: &[&Append]) -> Result<Stored, DbError> {
    let given = GivenColumns::of(group.iter().map(|append| append.given()));
    let further = FurtherColumns::of(group.iter().flat_map(|append| append.further()));
    let stored = sqlx::query!(
        r#"
        with given as (
            select
                unnest($1::uuid[]) as game_id,
                unnest($2::integer[]) as expected,
                unnest($3::integer[]) as version,
                unnest($4::timestamptz[]) as updated_at,
                unnest($5::integer[]) as ply,
                unnest($6::integer[]) as history_from_seq,
                unnest($7::smallint[]) as turn_seat,
                unnest($8::text[]) as position,
                unnest($9::boolean[]) as seat_0_moved,
                unnest($10::boolean[]) as seat_1_moved,
                unnest($11::jsonb[]) as once,
                unnest($12::timestamptz[]) as deadline,
                unnest($13::jsonb[]) as clock_and_offers,
                unnest($14::smallint[]) as seat,
                unnest($15::text[]) as kind,
                unnest($16::text[]) as mv,
                unnest($17::jsonb[]) as detail,
                unnest($18::integer[]) as seq
            order by game_id
        ), updated as (
            update game set
                version = given.version, updated_at = given.updated_at, ply = given.ply,
                history_from_seq = given.history_from_seq, turn_seat = given.turn_seat, position = given.position,
                seat_0_moved = given.seat_0_moved, seat_1_moved = given.seat_1_moved,
                deadline = given.deadline, time = clock_and_offers -> 'time', offers = clock_and_offers -> 'offers',
                wake_at = case
                    when given.deadline is not null then least(game.wake_at, given.deadline)
                    when once ->> 'status' = 'open' then game.wake_at
                end,
                status = coalesce(once ->> 'status', game.status),
                seat_0_player_id = coalesce((once ->> 'seat_0_player_id')::uuid, game.seat_0_player_id),
                seat_1_player_id = coalesce((once ->> 'seat_1_player_id')::uuid, game.seat_1_player_id),
                started_at = coalesce((once ->> 'started_at')::timestamptz, game.started_at),
                finished_at = coalesce((once ->> 'finished_at')::timestamptz, game.finished_at),
                aborted_at = coalesce((once ->> 'aborted_at')::timestamptz, game.aborted_at),
                result_winner = coalesce(once ->> 'result_winner', game.result_winner),
                result_reason = coalesce(once ->> 'result_reason', game.result_reason),
                result_score_south = coalesce((once ->> 'result_score_south')::smallint, game.result_score_south),
                result_score_north = coalesce((once ->> 'result_score_north')::smallint, game.result_score_north),
                winner_seat = coalesce((once ->> 'winner_seat')::smallint, game.winner_seat),
                rematch_game_id = coalesce((once ->> 'rematch_game_id')::uuid, game.rematch_game_id),
                analysed_at = coalesce((once ->> 'analysed_at')::timestamptz, game.analysed_at),
                join_code = coalesce(once ->> 'join_code', game.join_code),
                has_webhooks = case when once is null or game.has_webhooks then game.has_webhooks else players_have_webhooks(
                    array[(once ->> 'seat_0_player_id')::uuid, (once ->> 'seat_1_player_id')::uuid]
                ) end
            from given
            where game.id = given.game_id and game.version = given.expected
            returning given.*, game.has_webhooks
        ), to_notify as (
            insert into webhook_event (game_id, from_seq, to_seq)
            select game_id, expected + 1, version from updated where has_webhooks
        ), to_play as (
            insert into computer_turn (game_id, version)
            select game_id, version from updated where (once ->> 'computer_to_move')::boolean
            on conflict (game_id) do update set version = excluded.version, waits_since = excluded.waits_since,
                taken_until = null, round = null
        ), to_explore as (
            insert into unexplored_game (game_id)
            select game_id from updated where (once ->> 'is_to_explore')::boolean
            on conflict do nothing
        ), logged as (
            insert into event (game_id, at, seq, ply, seat, kind, move, position, detail)
            select game_id, updated_at, seq, case kind when 'moved' then ply end, seat, kind, mv,
                case kind when 'moved' then position end, detail
            from updated
            union all
            select game_id, updated_at, further.seq, further.ply, further.seat, further.kind, further.mv,
                further.position, further.detail
            from (
                select
                    unnest($19::uuid[]) as game_id,
                    unnest($20::integer[]) as seq,
                    unnest($21::smallint[]) as seat,
                    unnest($22::text[]) as kind,
                    unnest($23::jsonb[]) as detail,
                    unnest($24::integer[]) as ply,
                    unnest($25::text[]) as mv,
                    unnest($26::text[]) as position
            ) further
            join updated using (game_id)
        )
        select game_id as "game_id!", has_webhooks as "has_webhooks!" from updated
        "#,
        &given.game_id,
        &given.expected,
        &given.version,
        &given.updated_at,
        &given.ply,
        &given.history_from_seq as &[Option<i32>],
        &given.turn_seat as &[Option<i16>],
        &given.position as &[&str],
        &given.seat_0_moved,
        &given.seat_1_moved,
        &given.once as &[Option<&Json<Once>>],
        &given.deadline as &[Option<OffsetDateTime>],
        &given.clock_and_offers as &[Option<&Json<ClockAndOffers>>],
        &given.seat as &[Option<i16>],
        &given.kind as &[&str],
        &given.mv as &[Option<&str>],
        &given.detail as &[Option<&Json<Detail>>],
        &given.seq,
        &further.game_id,
        &further.seq,
        &further.seat as &[Option<i16>],
        &further.kind as &[&str],
        &further.detail as &[Option<&Json<Detail>>],
        &further.ply as &[Option<i32>],
        &further.mv as &[Option<&str>],
        &further.position as &[Option<&str>],
    )
    .fetch_all(connection)
    .await?;
    let has_webhook_events = stored.iter().any(|row| row.has_webhooks);
    Ok(Stored { games: stored.into_iter().map(|row| row.game_id).collect(), has_webhook_events })
}

/// The result of storing a group.
pub(crate) struct Stored {
    /// The games whose appends were stored.
    pub(crate) games: HashSet<Uuid>,
    /// Whether the statement queued any row of `webhook_event`.
    pub(crate) has_webhook_events: bool,
}

/// The games whose rows are not locked by another transaction at this moment.
pub(crate) async fn unlocked(connection: &mut PgConnection, games: &[Uuid]) -> Result<HashSet<Uuid>, DbError> {
    let ids =
        sqlx::query_scalar!("select id from game where id = any($1) order by id for no key update skip locked", games,)
            .fetch_all(connection)
            .await?;
    Ok(ids.into_iter().collect())
}
