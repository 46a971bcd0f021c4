//! Games and their logs.

use std::fmt::Display;

use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool, types::Json};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{DbError, Writers, players::PlayerRow};
use crate::{
    domain::{
        BySeat, Clock, Created, Event, Fact, Game, GameId, GameResult, Moved, Opponent, Player, PlayerId, Ply,
        Previous, Reason, Seat, Status, Terms, Visibility,
    },
    rules::{AnyOptions, AnyPosition, BySide, Side, Variant},
};

/// A game with what is shown beside it.
#[derive(Clone, Debug)]
pub struct SeatedGame {
    pub game: Game,
    pub players: BySeat<Option<Player>>,
    pub last_ply: Option<Ply>,
}

/// Whether an append took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// The events are in the log, durably.
    Stored,
    /// Somebody else was faster: the game is at another version, and nothing was stored.
    Conflict,
}

/// Which games a list shows, newest first.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub status: Option<Status>,
    pub variant: Option<Variant>,
    /// Games in which this player sits.
    pub player: Option<PlayerId>,
    /// Who asks: only public games are listed, and those in which the viewer sits when `player` is given.
    pub viewer: Option<PlayerId>,
    /// Only games created before this one.
    pub before: Option<GameId>,
}

/// A game by its id.
pub async fn find(pool: &PgPool, id: GameId) -> Result<Option<SeatedGame>, DbError> {
    Ok(load(pool, &[id.0]).await?.pop())
}

/// A page of games, newest first.
pub async fn list(pool: &PgPool, filter: &Filter, limit: u32) -> Result<Vec<SeatedGame>, DbError> {
    let status = filter.status.map(Status::as_str);
    let variant = filter.variant.map(|variant| variant.to_string());
    let before = filter.before.map(|game| game.0);
    let viewer = filter.viewer.map(|player| player.0);
    let limit = i64::from(limit);
    let ids = match (filter.player, filter.status) {
        // Each seat's index gives its own newest; what both seats hold (a game against oneself) is one game.
        (Some(player), _) => {
            sqlx::query_scalar!(
                r#"
                select id as "id!" from (
                    (select id from game
                     where seat_0_player_id = $1
                       and (visibility = 'public' or seat_0_player_id = $2 or seat_1_player_id = $2)
                       and ($3::text is null or status = $3) and ($4::text is null or variant = $4)
                       and ($5::uuid is null or id < $5)
                     order by id desc limit $6)
                    union
                    (select id from game
                     where seat_1_player_id = $1
                       and (visibility = 'public' or seat_0_player_id = $2 or seat_1_player_id = $2)
                       and ($3::text is null or status = $3) and ($4::text is null or variant = $4)
                       and ($5::uuid is null or id < $5)
                     order by id desc limit $6)
                ) seated order by id desc limit $6
                "#,
                player.0,
                viewer,
                status,
                variant,
                before,
                limit
            )
            .fetch_all(pool)
            .await?
        }
        (None, Some(Status::Open)) => {
            sqlx::query_scalar!(
                r#"
                select id from game
                where visibility = 'public' and aborted_at is null
                  and (seat_0_player_id is null or seat_1_player_id is null) and ($1::text is null or variant = $1) and ($2::uuid is null or id < $2)
                order by id desc limit $3
                "#,
                variant,
                before,
                limit
            )
            .fetch_all(pool)
            .await?
        }
        (None, _) => {
            sqlx::query_scalar!(
                r#"
                select id from game
                where visibility = 'public' and ($1::text is null or status = $1)
                  and ($2::text is null or variant = $2) and ($3::uuid is null or id < $3)
                order by id desc limit $4
                "#,
                status,
                variant,
                before,
                limit
            )
            .fetch_all(pool)
            .await?
        }
    };
    load(pool, &ids).await
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
        game.id.0,
        i32::try_from(after).unwrap_or(i32::MAX),
        i64::from(count) + i64::from(after > 0),
        column(game.ply),
    )
    .fetch_all(pool)
    .await?;
    let mut rows = rows.into_iter();
    let mut previous = match after {
        0 => Previous::opening(game),
        _ => match rows.next() {
            Some(row) => row.into_previous(game)?,
            None => return Ok(vec![]),
        },
    };
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

/// Stores a new game and its first event. A second time with the same id changes nothing.
pub async fn insert(pool: &PgPool, game: &Game, created: &Event) -> Result<(), DbError> {
    let fold = Fold::of(game);
    let terms = TermsText::of(&game.terms);
    let event = EventColumns::of(std::slice::from_ref(created));
    sqlx::query!(
        r#"
        with made as (
            insert into game (
                id, created_at, variant, preset, options, rules_version, opponent, join_code, visibility, creator_seat,
                updated_at, started_at, finished_at, version, ply, seat_0_player_id, seat_1_player_id,
                seat_0_moved, seat_1_moved, status, position
            )
            values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
            on conflict (id) do nothing
            returning id
        )
        insert into event (game_id, at, seq, kind, detail)
        select made.id, e.at, e.seq, e.kind, e.detail
        from made, unnest($22::timestamptz[], $23::integer[], $24::text[], $25::jsonb[]) as e (at, seq, kind, detail)
        "#,
        game.id.0,
        game.created_at,
        terms.variant,
        terms.preset,
        terms.options,
        terms.rules_version,
        terms.opponent,
        terms.join_code,
        terms.visibility,
        terms.creator_seat,
        game.updated_at,
        game.started_at,
        fold.finished_at,
        fold.version,
        fold.ply,
        fold.seat_0_player_id,
        fold.seat_1_player_id,
        game.moved.first,
        game.moved.second,
        game.status.as_str(),
        fold.position,
        &event.at,
        &event.seq,
        &event.kind as &[&str],
        &event.detail as &[Option<Json<Detail>>],
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Appends events to a game's log and makes its row their fold, in one guarded statement: either all of it is stored,
/// durably, or nothing. `next` is the game after the events; the row must still be at the version before them.
pub async fn append(writers: &Writers, next: &Game, events: &[Event]) -> Result<Appended, DbError> {
    writers.run(next.id.0, async |connection| append_through(connection, next, events).await).await
}

async fn append_through(connection: &mut PgConnection, next: &Game, events: &[Event]) -> Result<Appended, DbError> {
    // The update names the id once more: by the join alone, a plan that was made while there were few games reads them all.
    let fold = Fold::of(next);
    let expected = fold.version - i32::try_from(events.len()).expect("an append holds a handful of events");
    let log = EventColumns::of(events);
    let result = next.result.as_ref();
    let applied = sqlx::query_scalar!(
        r#"
        with locked as (
            select id from game where id = $1 and version = $2 order by id for no key update
        ), updated as (
            update game set
                version = $3, updated_at = $4, started_at = $5, finished_at = $6, aborted_at = $26, ply = $7,
                seat_0_player_id = $8, seat_1_player_id = $9, seat_0_moved = $10, seat_1_moved = $11,
                status = $12, position = $13,
                result_winner = $14, result_reason = $15, result_score_south = $16, result_score_north = $17
            from locked
            where game.id = $1 and game.id = locked.id and game.version = $2
            returning game.id
        ), logged as (
            insert into event (game_id, at, seq, ply, seat, kind, move, position, detail)
            select updated.id, e.at, e.seq, e.ply, e.seat, e.kind, e.move, e.position, e.detail
            from updated, unnest(
                $18::timestamptz[], $19::integer[], $20::integer[], $21::smallint[], $22::text[], $23::text[],
                $24::text[], $25::jsonb[]
            ) as e (at, seq, ply, seat, kind, move, position, detail)
        )
        select id from updated
        "#,
        next.id.0,
        expected,
        fold.version,
        next.updated_at,
        next.started_at,
        fold.finished_at,
        fold.ply,
        fold.seat_0_player_id,
        fold.seat_1_player_id,
        next.moved.first,
        next.moved.second,
        next.status.as_str(),
        fold.position,
        result.and_then(|result| result.winner).map(|side| side.to_string()),
        result.map(|result| result.reason.to_string()),
        result.map(|result| seeds(result.score.south)),
        result.map(|result| seeds(result.score.north)),
        &log.at,
        &log.seq,
        &log.ply as &[Option<i32>],
        &log.seat as &[Option<i16>],
        &log.kind as &[&str],
        &log.mv as &[Option<String>],
        &log.position as &[Option<String>],
        &log.detail as &[Option<Json<Detail>>],
        fold.aborted_at,
    )
    .fetch_optional(connection)
    .await?;
    Ok(if applied.is_some() { Appended::Stored } else { Appended::Conflict })
}

/// The games of some ids, newest first, in one query whatever their number.
async fn load(pool: &PgPool, ids: &[Uuid]) -> Result<Vec<SeatedGame>, DbError> {
    let rows = sqlx::query_as!(
        GameRow,
        r#"
        select game.*,
            first.kind as "first_kind?", first.name as "first_name?", first.created_at as "first_created_at?",
            second.kind as "second_kind?", second.name as "second_name?", second.created_at as "second_created_at?",
            last.at as "last_at?", last.seat as "last_seat?", last.move as "last_move?",
            last.position as "last_position?",
            previous.at as "previous_at?", previous.position as "previous_position?"
        from game
        left join player first on first.id = game.seat_0_player_id
        left join player second on second.id = game.seat_1_player_id
        left join lateral (
            select seq, at, seat, move, position from event
            where game_id = game.id and kind = 'moved' order by seq desc limit 1
        ) last on game.ply > 0
        left join lateral (
            select at, position from event
            where game_id = game.id and kind = 'moved' and seq < last.seq order by seq desc limit 1
        ) previous on game.ply > 1
        where game.id = any($1)
        order by game.id desc
        "#,
        ids
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter().map(SeatedGame::try_from).collect()
}

/// A row of `game`, with its players and its last two plies.
struct GameRow {
    id: Uuid,
    created_at: OffsetDateTime,
    variant: String,
    preset: String,
    options: String,
    rules_version: i16,
    opponent: String,
    join_code: Option<String>,
    visibility: String,
    creator_seat: i16,
    updated_at: OffsetDateTime,
    started_at: Option<OffsetDateTime>,
    finished_at: Option<OffsetDateTime>,
    aborted_at: Option<OffsetDateTime>,
    version: i32,
    ply: i32,
    seat_0_player_id: Option<Uuid>,
    seat_1_player_id: Option<Uuid>,
    seat_0_moved: bool,
    seat_1_moved: bool,
    status: String,
    position: String,
    result_winner: Option<String>,
    result_reason: Option<String>,
    result_score_south: Option<i16>,
    result_score_north: Option<i16>,
    first_kind: Option<String>,
    first_name: Option<String>,
    first_created_at: Option<OffsetDateTime>,
    second_kind: Option<String>,
    second_name: Option<String>,
    second_created_at: Option<OffsetDateTime>,
    last_at: Option<OffsetDateTime>,
    last_seat: Option<i16>,
    last_move: Option<String>,
    last_position: Option<String>,
    previous_at: Option<OffsetDateTime>,
    previous_position: Option<String>,
}

impl TryFrom<GameRow> for SeatedGame {
    type Error = DbError;

    fn try_from(row: GameRow) -> Result<Self, DbError> {
        let id = row.id;
        let terms = TermsText {
            variant: row.variant,
            preset: row.preset,
            options: row.options,
            rules_version: row.rules_version,
            opponent: row.opponent,
            join_code: row.join_code,
            visibility: row.visibility,
            creator_seat: row.creator_seat,
        }
        .parse("game", id)?;
        let result = match (row.result_reason, row.result_score_south, row.result_score_north) {
            (Some(reason), Some(south), Some(north)) => {
                let score = Score { south, north };
                Some(ResultText { winner: row.result_winner, reason, score }.parse("game", id)?)
            }
            _ => None,
        };
        let game = Game {
            id: GameId(id),
            version: number("game", "version", id, row.version)?,
            status: word("game", "status", id, &Status::ALL, Status::as_str, &row.status)?,
            players: BySeat { first: row.seat_0_player_id.map(PlayerId), second: row.seat_1_player_id.map(PlayerId) },
            moved: BySeat { first: row.seat_0_moved, second: row.seat_1_moved },
            ply: number("game", "ply", id, row.ply)?,
            position: position("game", id, &terms.options, &row.position)?,
            result,
            created_at: row.created_at,
            started_at: row.started_at,
            updated_at: row.updated_at,
            finished_at: row.finished_at.or(row.aborted_at),
            terms,
        };
        let first = player_row(row.seat_0_player_id, row.first_kind, row.first_name, row.first_created_at);
        let second = player_row(row.seat_1_player_id, row.second_kind, row.second_name, row.second_created_at);
        let players = BySeat {
            first: first.map(Player::try_from).transpose()?,
            second: second.map(Player::try_from).transpose()?,
        };
        let previous = match (row.previous_position, row.previous_at) {
            (Some(text), Some(at)) => Previous { position: position("event", id, &game.terms.options, &text)?, at },
            _ => Previous::opening(&game),
        };
        let last_ply = match (row.last_at, row.last_seat, row.last_move, row.last_position) {
            (Some(at), Some(seat), Some(mv), Some(position)) => {
                Some(PlyRow { at, ply: row.ply, seat, mv, position }.into_ply(&game, &previous)?)
            }
            _ => None,
        };
        Ok(Self { game, players, last_ply })
    }
}

fn player_row(
    id: Option<Uuid>,
    kind: Option<String>,
    name: Option<String>,
    created_at: Option<OffsetDateTime>,
) -> Option<PlayerRow> {
    Some(PlayerRow { id: id?, kind: kind?, name: name?, created_at: created_at? })
}

/// A row of `event` that is a ply.
struct PlyRow {
    at: OffsetDateTime,
    ply: i32,
    seat: i16,
    mv: String,
    position: String,
}

impl PlyRow {
    fn into_ply(self, game: &Game, previous: &Previous) -> Result<Ply, DbError> {
        let id = game.id.0;
        let moved = Moved {
            ply: number("event", "ply", id, self.ply)?,
            seat: seat("event", id, self.seat)?,
            mv: self.mv.parse().map_err(|e| DbError::inconsistent("event", "move", id, e))?,
            position: position("event", id, &game.terms.options, &self.position)?,
        };
        Ply::replay(game, previous, &moved, self.at).map_err(|e| DbError::inconsistent("event", "position", id, e))
    }

    fn into_previous(self, game: &Game) -> Result<Previous, DbError> {
        Ok(Previous { position: position("event", game.id.0, &game.terms.options, &self.position)?, at: self.at })
    }
}

/// A row of `event`.
struct EventRow {
    at: OffsetDateTime,
    seq: i32,
    ply: Option<i32>,
    seat: Option<i16>,
    kind: String,
    mv: Option<String>,
    position: Option<String>,
    detail: Option<Json<Detail>>,
}

impl EventRow {
    /// `options` are those of the game's first event, once it is read.
    fn into_event(self, id: GameId, options: Option<&AnyOptions>) -> Result<Event, DbError> {
        let id = id.0;
        let incomplete =
            || DbError::inconsistent("event", "kind", id, format!("{} {} is incomplete", self.kind, self.seq));
        let seat = || seat("event", id, self.seat.ok_or_else(incomplete)?);
        let fact = match (self.kind.as_str(), self.detail) {
            ("created", Some(Json(Detail::Created { player_id, terms }))) => {
                Fact::Created(Created { terms: terms.parse("event", id)?, player: PlayerId(player_id) })
            }
            ("joined", Some(Json(Detail::Joined { player_id }))) => {
                Fact::Joined { seat: seat()?, player: PlayerId(player_id) }
            }
            ("moved", None) => {
                let (Some(ply), Some(mv), Some(text), Some(options)) = (self.ply, &self.mv, &self.position, options)
                else {
                    return Err(incomplete());
                };
                Fact::Moved(Moved {
                    ply: number("event", "ply", id, ply)?,
                    seat: seat()?,
                    mv: mv.parse().map_err(|e| DbError::inconsistent("event", "move", id, e))?,
                    position: position("event", id, options, text)?,
                })
            }
            ("resigned", None) => Fact::Resigned { seat: seat()? },
            ("aborted", None) => Fact::Aborted { seat: seat()? },
            ("finished", Some(Json(Detail::Finished(result)))) => Fact::Finished(result.parse("event", id)?),
            _ => return Err(incomplete()),
        };
        Ok(Event { seq: number("event", "seq", id, self.seq)?, at: self.at, fact })
    }
}

/// What some kinds of event say beyond their columns.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Detail {
    Created {
        player_id: Uuid,
        #[serde(flatten)]
        terms: TermsText,
    },
    Finished(ResultText),
    Joined {
        player_id: Uuid,
    },
}

/// The terms of a game in words.
#[derive(Debug, Serialize, Deserialize)]
struct TermsText {
    variant: String,
    preset: String,
    options: String,
    rules_version: i16,
    opponent: String,
    join_code: Option<String>,
    visibility: String,
    creator_seat: i16,
}

impl TermsText {
    fn of(terms: &Terms) -> Self {
        let Terms { options, rules_version, opponent, clock: Clock::Unlimited, visibility, creator } = terms;
        let (opponent, join_code) = match opponent {
            Opponent::Open => ("open", None),
            Opponent::Link { join_code } => ("link", Some(join_code.clone())),
            Opponent::Oneself => ("self", None),
        };
        Self {
            variant: options.variant().to_string(),
            preset: options.preset().to_owned(),
            options: options.overrides(),
            rules_version: i16::try_from(*rules_version).expect("editions of the rules are counted from 1"),
            opponent: opponent.to_owned(),
            join_code,
            visibility: visibility.as_str().to_owned(),
            creator_seat: seat_number(*creator),
        }
    }

    fn parse(self, table: &'static str, id: Uuid) -> Result<Terms, DbError> {
        let variant: Variant = self.variant.parse().map_err(|e| DbError::inconsistent(table, "variant", id, e))?;
        let opponent = match (self.opponent.as_str(), self.join_code) {
            ("open", None) => Opponent::Open,
            ("link", Some(join_code)) => Opponent::Link { join_code },
            ("self", None) => Opponent::Oneself,
            _ => return Err(DbError::inconsistent(table, "opponent", id, self.opponent)),
        };
        Ok(Terms {
            options: AnyOptions::parse(variant, &self.preset, &self.options)
                .map_err(|e| DbError::inconsistent(table, "options", id, e))?,
            rules_version: u16::try_from(self.rules_version)
                .map_err(|e| DbError::inconsistent(table, "rules_version", id, e))?,
            opponent,
            clock: Clock::Unlimited,
            visibility: word(table, "visibility", id, &Visibility::ALL, Visibility::as_str, &self.visibility)?,
            creator: seat(table, id, self.creator_seat)?,
        })
    }
}

/// A result in words.
#[derive(Debug, Serialize, Deserialize)]
struct ResultText {
    winner: Option<String>,
    reason: String,
    score: Score,
}

#[derive(Debug, Serialize, Deserialize)]
struct Score {
    south: i16,
    north: i16,
}

impl ResultText {
    fn of(result: &GameResult) -> Self {
        Self {
            winner: result.winner.map(|side| side.to_string()),
            reason: result.reason.to_string(),
            score: Score { south: seeds(result.score.south), north: seeds(result.score.north) },
        }
    }

    fn parse(self, table: &'static str, id: Uuid) -> Result<GameResult, DbError> {
        let winner = self.winner.map(|side| side.parse::<Side>()).transpose();
        let score = |seeds: i16| u16::try_from(seeds).map_err(|e| DbError::inconsistent(table, "result_score", id, e));
        Ok(GameResult {
            winner: winner.map_err(|e| DbError::inconsistent(table, "result_winner", id, e))?,
            reason: self.reason.parse::<Reason>().map_err(|e| DbError::inconsistent(table, "result_reason", id, e))?,
            score: BySide { south: score(self.score.south)?, north: score(self.score.north)? },
        })
    }
}

/// The columns of `game` that a fold decides.
struct Fold {
    /// When it ended with a result.
    finished_at: Option<OffsetDateTime>,
    /// When it ended without one.
    aborted_at: Option<OffsetDateTime>,
    version: i32,
    ply: i32,
    seat_0_player_id: Option<Uuid>,
    seat_1_player_id: Option<Uuid>,
    position: String,
}

impl Fold {
    fn of(game: &Game) -> Self {
        Self {
            finished_at: game.finished_at.filter(|_| game.status == Status::Finished),
            aborted_at: game.finished_at.filter(|_| game.status == Status::Aborted),
            version: column(game.version),
            ply: column(game.ply),
            seat_0_player_id: game.players.first.map(|player| player.0),
            seat_1_player_id: game.players.second.map(|player| player.0),
            position: game.position.to_string(),
        }
    }
}

/// Events as columns, for `unnest`.
#[derive(Default)]
struct EventColumns {
    at: Vec<OffsetDateTime>,
    seq: Vec<i32>,
    ply: Vec<Option<i32>>,
    seat: Vec<Option<i16>>,
    kind: Vec<&'static str>,
    mv: Vec<Option<String>>,
    position: Vec<Option<String>>,
    detail: Vec<Option<Json<Detail>>>,
}

impl EventColumns {
    fn of(events: &[Event]) -> Self {
        let mut columns = Self::default();
        for Event { seq, at, fact } in events {
            let (kind, seat, moved, detail) = match fact {
                Fact::Created(Created { terms, player }) => {
                    let terms = TermsText::of(terms);
                    ("created", None, None, Some(Detail::Created { player_id: player.0, terms }))
                }
                Fact::Joined { seat, player } => {
                    ("joined", Some(*seat), None, Some(Detail::Joined { player_id: player.0 }))
                }
                Fact::Moved(moved) => ("moved", Some(moved.seat), Some(moved), None),
                Fact::Resigned { seat } => ("resigned", Some(*seat), None, None),
                Fact::Aborted { seat } => ("aborted", Some(*seat), None, None),
                Fact::Finished(result) => ("finished", None, None, Some(Detail::Finished(ResultText::of(result)))),
            };
            columns.at.push(*at);
            columns.seq.push(column(*seq));
            columns.ply.push(moved.map(|moved| column(moved.ply)));
            columns.seat.push(seat.map(seat_number));
            columns.kind.push(kind);
            columns.mv.push(moved.map(|moved| moved.mv.to_string()));
            columns.position.push(moved.map(|moved| moved.position.to_string()));
            columns.detail.push(detail.map(Json));
        }
        columns
    }
}

fn column(count: u32) -> i32 {
    i32::try_from(count).expect("no game has two thousand million events")
}

fn seeds(count: u16) -> i16 {
    i16::try_from(count).expect("a board holds at most 288 seeds")
}

const fn seat_number(seat: Seat) -> i16 {
    match seat {
        Seat::First => 0,
        Seat::Second => 1,
    }
}

fn seat(table: &'static str, id: impl Display, number: i16) -> Result<Seat, DbError> {
    match number {
        0 => Ok(Seat::First),
        1 => Ok(Seat::Second),
        _ => Err(DbError::inconsistent(table, "seat", id, number)),
    }
}

fn number(table: &'static str, column: &'static str, id: impl Display, value: i32) -> Result<u32, DbError> {
    u32::try_from(value).map_err(|e| DbError::inconsistent(table, column, id, e))
}

fn position(table: &'static str, id: Uuid, options: &AnyOptions, text: &str) -> Result<AnyPosition, DbError> {
    AnyPosition::parse(options, text).map_err(|e| DbError::inconsistent(table, "position", id, e))
}

/// The value that a column's word stands for.
fn word<T: Copy>(
    table: &'static str,
    column: &'static str,
    id: Uuid,
    all: &[T],
    as_str: fn(T) -> &'static str,
    text: &str,
) -> Result<T, DbError> {
    all.iter()
        .copied()
        .find(|value| as_str(*value) == text)
        .ok_or_else(|| DbError::inconsistent(table, column, id, text))
}
