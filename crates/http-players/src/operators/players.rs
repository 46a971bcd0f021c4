//! Players, for operators: showing, warning, renaming, suspending and banning them, and ending suspensions.

use std::time::Instant;

use actix_web::{HttpResponse, get, http::header, post, web::Data};
use mancala_db::{
    operators::{
        self, Deed,
        acts::{self, Acted},
    },
    players::{
        self,
        reports::{self, Which},
        suspensions::{self, SuspendedGames},
    },
};
use mancala_domain::Remark;
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, Forbidden, NameTaken, NotFound},
        problem::Problem,
    },
    request::{
        body::MEDIUM_BODY,
        extract::{Body, NoQuery, Query, some_text, some_word, word},
        names::parse_name,
    },
    state::AppState,
};
use mancala_process::clock::now;
use mancala_wire::view::wire::{PlayerView, SuspensionView, Timestamp};
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};
use utoipa::ToSchema;

use super::{access::Operator, acts::ActView, reports::OperatorReportView};
use crate::players::profiles::{PlayerPath, name_taken, no_player};

/// How many reports and acts are shown with a player. The lists have all.
const SHOWN_MAX: u32 = 20;

/// The longest suspension: for longer ones there is a ban.
const SUSPENSION_MAX: Duration = Duration::days(3660);

/// Look at a player
///
/// With the newest 20 reports about it, and what operators did.
#[utoipa::path(
    tag = "operators",
    operation_id = "inspect_player",
    params(("player_id" = Uuid, Path, description = "The player's id")),
    responses(
        (status = 200, description = "The player", body = InspectedPlayer),
        Failures<NotFound>,
    ),
    security(("operator" = []))
)]
#[get("/operator/players/{player_id}")]
pub async fn inspect_player(
    state: Data<AppState>,
    _: Operator,
    path: PlayerPath,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    let player = players::find(&state.db, path.0).await?.ok_or_else(no_player)?.player;
    let suspension = suspensions::find(&state.db, path.0).await?.filter(|found| found.is_active(now()));
    let reports = reports::list(&state.db, Which::About(path.0), None, SHOWN_MAX).await?;
    let acts = operators::list_acts(&state.db, Some(path.0), None, SHOWN_MAX).await?;
    let inspected = InspectedPlayer {
        player: PlayerView::from(&player),
        since: Timestamp(player.created_at),
        suspension: suspension.as_ref().map(SuspensionView::from),
        reports: reports.iter().map(OperatorReportView::of).collect(),
        acts: acts.iter().map(ActView::of).collect(),
    };
    Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(inspected))
}

/// Act on a player
///
/// `warn` tells the player the reason. `rename` gives another name. `suspend` counts until a moment, and `ban` without an end; either takes
/// the place of the other. `lift` ends both. Every server knows of it within a second. The player reads the reason.
///
/// - `forbidden`: neither a guest nor an account, or there is nothing to lift
#[utoipa::path(
    tag = "operators",
    operation_id = "act_on_player",
    params(("player_id" = Uuid, Path, description = "The player's id")),
    request_body(content = ActOnPlayer, example = json!({"type": "warn", "reason": "Your offers come too often."})),
    responses(
        (status = 201, description = "The act", body = ActView),
        Failures<(Forbidden, NotFound, NameTaken)>,
    ),
    security(("operator" = []))
)]
#[post("/operator/players/{player_id}/acts")]
pub async fn act_on_player(
    state: Data<AppState>,
    operator: Operator,
    path: PlayerPath,
    _: Query<NoQuery>,
    body: Body<ActOnPlayer, MEDIUM_BODY>,
) -> Result<HttpResponse, Problem> {
    let now = now();
    let (deed, reason) = body.0.read(&state, now)?;
    match acts::act(&state.db, &operator.0, path.0, &deed, &reason, now).await? {
        Acted::Done(act, suspension) => {
            // The suspension counts in this process before the answer; the others follow within a second.
            if let Some(suspension) = suspension {
                state.hub.audience().revocations().enter_suspension(path.0, suspension.term(), Instant::now());
            }
            state.recent.forget(path.0);
            Ok(HttpResponse::Created().insert_header((header::CACHE_CONTROL, "no-store")).json(ActView::of(&act)))
        }
        Acted::Unknown => Err(no_player()),
        Acted::NoPerson => Err(Problem::new(Code::Forbidden, "operators act on guests and accounts only")),
        Acted::NameTaken => Err(name_taken()),
        Acted::Nothing => Err(Problem::new(Code::Forbidden, "the player is neither suspended nor banned")),
    }
}

/// What to do to a player.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ActOnPlayer {
    #[serde(rename = "type", deserialize_with = "word")]
    #[schema(inline)]
    kind: ActWord,
    /// Why, as the player reads it with a warning and a suspension.
    #[schema(min_length = 1, max_length = 1000)]
    reason: String,
    /// With `suspend` alone: its end.
    #[serde(default, deserialize_with = "some_text")]
    #[schema(nullable = false, format = DateTime, example = "2026-12-24T12:00:00Z")]
    until: Option<String>,
    /// With `suspend` alone: what becomes of games that have begun, `play_on` if it is absent. A ban ends them.
    #[serde(default, deserialize_with = "some_word")]
    #[schema(nullable = false)]
    games: Option<GamesWord>,
    /// With `rename` alone: the new name.
    #[serde(default, deserialize_with = "some_text")]
    #[schema(nullable = false, min_length = 1, max_length = 32, example = "Player 17")]
    name: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ActWord {
    Warn,
    Rename,
    Suspend,
    Ban,
    Lift,
}

/// The effect on games that have begun. `play_on`: the player still moves. `stop`: the player cannot move, and clocks are stopped until the
/// suspension ends. `end`: the games end, as with a ban.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = SuspendedGames)]
enum GamesWord {
    PlayOn,
    Stop,
    End,
}

impl From<GamesWord> for SuspendedGames {
    fn from(word: GamesWord) -> Self {
        match word {
            GamesWord::PlayOn => Self::PlayOn,
            GamesWord::Stop => Self::Stop,
            GamesWord::End => Self::End,
        }
    }
}

impl ActOnPlayer {
    fn read(self, state: &AppState, now: OffsetDateTime) -> Result<(Deed, Remark), Problem> {
        let reason = self.reason.parse::<Remark>();
        let reason = reason.map_err(|error| Problem::invalid("/reason", error.to_string()))?;
        if self.until.is_some() && self.kind != ActWord::Suspend {
            return Err(Problem::invalid("/until", "only a suspension has an end"));
        }
        if self.games.is_some() && self.kind != ActWord::Suspend {
            return Err(Problem::invalid("/games", "only a suspension says what becomes of games: a ban ends them"));
        }
        if self.name.is_some() && self.kind != ActWord::Rename {
            return Err(Problem::invalid("/name", "only `rename` gives a name"));
        }
        let missing = |pointer: &'static str| Problem::invalid_as("required", pointer, "is missing");
        let deed = match self.kind {
            ActWord::Warn => Deed::Warn,
            ActWord::Ban => Deed::Ban,
            ActWord::Lift => Deed::Lift,
            ActWord::Rename => {
                let name = self.name.ok_or_else(|| missing("/name"))?;
                Deed::Rename(parse_name(&name, &state.reserved_names)?)
            }
            ActWord::Suspend => {
                let until = self.until.ok_or_else(|| missing("/until"))?;
                let until = OffsetDateTime::parse(&until, &Rfc3339)
                    .map_err(|_| Problem::invalid_as("wrong_format", "/until", "not a moment in RFC 3339"))?;
                if until <= now || until > now + SUSPENSION_MAX {
                    let detail = "a suspension ends in the future, within ten years";
                    return Err(Problem::invalid_as("out_of_range", "/until", detail));
                }
                Deed::Suspend { until, games: self.games.map_or(SuspendedGames::PlayOn, SuspendedGames::from) }
            }
        };
        Ok((deed, reason))
    }
}

/// A player, as operators see it.
#[derive(Serialize, ToSchema)]
struct InspectedPlayer {
    player: PlayerView,
    /// When the player was created.
    since: Timestamp,
    /// The suspension or ban that counts now.
    #[schema(required = true)]
    suspension: Option<SuspensionView>,
    /// The reports about the player, the last one first.
    reports: Vec<OperatorReportView>,
    /// What operators did, the last act first.
    acts: Vec<ActView>,
}
