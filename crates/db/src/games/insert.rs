//! New games.

use mancala_domain::{Event, Game, PlayerName};
use sqlx::{PgExecutor, types::Json};
use tracing::Instrument;

use super::{
    event_rows::{Detail, NewEvent},
    fold::{ClockAndOffers, Fold},
    term_rows::{StartText, TermsText},
};
use crate::{
    connection::{DbError, statement},
    idempotency::{self, Keyed},
};

/// Whether a new game was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// The game is stored, durably.
    Stored,
    /// Another request used the same idempotency key, or its player is deleted.
    KeyUsed,
    /// The importer of the games is deleted.
    NoPlayer,
    /// The creator already has the most open games that the limit allows.
    TooManyOpen(OpenGamesLimit),
}

/// Which limit a new open game would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenGamesLimit {
    /// The limit of the creator.
    Player,
    /// The limit of the creator's network.
    Network,
}

/// Stores a new game and its first event, the name of its second seat, and the answer to keep under an idempotency key. Idempotent: a second call
/// with the same id changes nothing.
pub async fn insert(
    executor: impl PgExecutor<'_>,
    game: &Game,
    created: &Event,
    keyed: Option<&Keyed>,
    hotseat_name: Option<&PlayerName>,
) -> Result<Inserted, DbError> {
    let fold = Fold::of(game);
    let terms = TermsText::of(game.terms());
    let event = NewEvent::of(created);
    // The player's row is locked, so that no erasure leaves the answer or the name behind. An expired key is used anew. Among
    // several requests with one key, the first locks its row, and the others wait.
    let inserted = sqlx::query!(
        r#"
        with claimed as (
            insert into idempotency_key as kept (player_id, key, request_hash, created_at, location, etag, body)
            select id, $26::text, $27::bytea, $2, $28::text, $29::text, $30::text from player
            where id = $25 and kind <> 'deleted' and $26 is not null for share
            on conflict (player_id, key) do update
            set request_hash = excluded.request_hash, created_at = excluded.created_at,
                location = excluded.location, etag = excluded.etag, body = excluded.body
            where kept.created_at <= $31
            returning key
        ), named_by as (
            select id from player where id = $15 and kind <> 'deleted' and $41::text is not null for share
        ), made as (
            insert into game (
                id, created_at, variant, preset, options, rules_version, opponent, join_code, visibility, creator_seat,
                updated_at, started_at, version, ply, seat_0_player_id, seat_1_player_id,
                seat_0_moved, seat_1_moved, status, position, invited_player_id, turn_seat,
                history_from_seq, clock, deadline, time, expires_at, wake_at, start, has_webhooks, practice, hotseat_name, within_app_id
            )
            select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, false, false, $17, $18,
                $23, $24, $32, $33, $34, $35::jsonb -> 'time', $36, $37, $38::jsonb,
                players_have_webhooks(array[$15, $16, $23]::uuid[]), $40,
                case when exists (select from named_by) then $41 end,
                case when $7 = 'open' and $9 = 'public' then app_that_encloses(coalesce($15, $16)) end
            where $26 is null or exists (select from claimed)
            on conflict (id) do nothing
            returning id, has_webhooks
        ), to_notify as (
            insert into webhook_event (game_id, from_seq, to_seq) select id, $20, $20 from made where has_webhooks
        ), against_computer as (
            insert into computer_game (game_id, player_id, network)
            select made.id, player.id, player.network
            from made join player on player.id = case $23 when $15 then $16 else $15 end where $7 = 'computer'
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
        terms.practice,
        hotseat_name.map(PlayerName::as_str),
    )
    .execute(executor)
    .instrument(statement("insert game event"))
    .await?;
    Ok(if inserted.rows_affected() == 0 && keyed.is_some() { Inserted::KeyUsed } else { Inserted::Stored })
}
