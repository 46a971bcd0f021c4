//! Every failure in one envelope: RFC 9457 `application/problem+json` with a stable code.
//!
//! A handler returns a [`Problem`]. The layer `envelope` gives every answer its request id. It turns all other failures (an
//! unknown path, a panic, a library's own error) into the same form. Status codes of failures are written here only.

use std::{error::Error as StdError, fmt, mem};

use actix_web::{
    HttpResponse, ResponseError,
    body::BoxBody,
    http::{
        StatusCode,
        header::{self, HeaderName},
    },
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    db::DbError,
    domain::Refusal,
    http::view::{event::ViewError, game::GameView, moves::MoveView, wire::ALWAYS_JSON},
    repeats,
};

/// `Retry-After` of a request that failed because the database was unavailable, in seconds: long enough for a restart.
const RETRY_AFTER_S: u64 = 2;

/// The content type of every failure.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// The content type of a failure that is shown to people.
const PAGE: &str = "text/html; charset=utf-8";

pub static X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The status of an answer that is unchanged since the client received it.
pub const NOT_MODIFIED: StatusCode = StatusCode::NOT_MODIFIED;

macro_rules! codes {
    ($($variant:ident $word:literal $status:ident $title:literal $meaning:literal)+) => {
        /// The closed list of failure codes. A code never changes its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Code { $($variant),+ }

        impl Code {
            pub const ALL: &'static [Code] = &[$(Code::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $word),+ }
            }

            pub const fn status(self) -> StatusCode {
                match self { $(Code::$variant => StatusCode::$status),+ }
            }

            pub const fn title(self) -> &'static str {
                match self { $(Code::$variant => $title),+ }
            }

            /// What the code means, and what the client does about it.
            pub const fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning),+ }
            }
        }
    };
}

codes! {
    MalformedRequest "malformed_request" BAD_REQUEST "The request cannot be read"
        "The body is not JSON in UTF-8, or the request breaks off. Send it again, whole."
    ValidationFailed "validation_failed" UNPROCESSABLE_ENTITY "The request is readable but invalid"
        "A field or parameter is missing, unknown, of the wrong type, or out of bounds. `errors` names each with a JSON \
         pointer into the body (or `?name` for a query parameter). Correct the request; sending it again as it is fails again."
    Unauthenticated "unauthenticated" UNAUTHORIZED "A token is needed"
        "Send `Authorization: Bearer <access token>`; POST /v1/players gives one."
    InvalidToken "invalid_token" UNAUTHORIZED "The token is not valid"
        "The access token has expired, was revoked, was not issued by this server, or its player is gone. Get a new one."
    RefreshTokenReused "refresh_token_reused" UNAUTHORIZED "The refresh token was used before"
        "A later refresh token of the same sign-in was used already, so two clients have tokens of it. Of an account all tokens of this \
         sign-in are revoked: sign in again. Of a guest the newer ones stay valid: use the newest, or the recovery code."
    InvalidCredentials "invalid_credentials" UNAUTHORIZED "The name, the password or the recovery code is wrong"
        "No account has this name and this password, and which of the two is wrong is not said; or no player has this recovery code."
    Forbidden "forbidden" FORBIDDEN "Not allowed"
        "The caller is known but may not do this; `detail` says why."
    NotSeated "not_seated" FORBIDDEN "The caller does not sit in this game"
        "Only the two players of a game may do this."
    NotFound "not_found" NOT_FOUND "There is no such thing"
        "The address, game or ply does not exist, or it is a private game in which the caller does not sit."
    MethodNotAllowed "method_not_allowed" METHOD_NOT_ALLOWED "This address does not know the method"
        "The header `Allow` lists the methods that it knows."
    NotAcceptable "not_acceptable" NOT_ACCEPTABLE "The answer would be of another type"
        "The header `Accept` excludes `application/json`, or what else the address answers, as `detail` says. Send one that \
         includes it, or none."
    PayloadTooLarge "payload_too_large" PAYLOAD_TOO_LARGE "The body is too large"
        "A body has at most 64 KiB; games to import, 8 MiB."
    UnsupportedMediaType "unsupported_media_type" UNSUPPORTED_MEDIA_TYPE "The body is of another type, or none is declared"
        "Send `Content-Type: application/json`, or what else the address takes, as `detail` says, and the body without compression (no \
         `Content-Encoding`)."
    NameTaken "name_taken" CONFLICT "The name is taken"
        "An account has this name, or one that reads the same (capitals make no difference). Choose another."
    SeatTaken "seat_taken" CONFLICT "The seat is taken"
        "Another player joined first; when declining an invitation, the caller did. `game` shows the game as it is."
    OwnGame "own_game" CONFLICT "The game is the caller's own"
        "The caller has created the game, and another player joins it. To play both sides, create a game with `opponent.type` `self`. \
         `game` shows the game as it is."
    GameNotStarted "game_not_started" CONFLICT "The game waits for an opponent"
        "Nothing can be played before the second seat is taken. `game` shows the game as it is."
    GameOver "game_over" CONFLICT "The game is over"
        "Nothing can be changed any more. `game` shows how it ended, `moves` what the client has not seen."
    NotYourTurn "not_your_turn" CONFLICT "It is the opponent's turn"
        "Wait for the opponent's move. `game` shows the game as it is, `moves` what the client has not seen."
    StalePly "stale_ply" CONFLICT "The move's number is not the next one"
        "The client's picture of the game is out of date: take over `game` and `moves` (from the ply that was sent on), \
         then let the player choose again."
    IllegalMove "illegal_move" UNPROCESSABLE_ENTITY "The rules forbid the move"
        "`reason` says why, `legal_moves` lists what is allowed. Nothing was played. Of a line of moves, `index` says which of \
         them it is, from 0, and `position` how the board stands before it."
    NoSuchOffer "no_such_offer" CONFLICT "There is no such offer"
        "Nothing of this kind waits for an answer, or it is not the caller's to give: an offer is accepted and declined by the \
         other side, and withdrawn by its own. `game` shows the game as it is."
    OfferPending "offer_pending" CONFLICT "The opponent's offer comes first"
        "The opponent asks to take back a turn, and it is not the caller's turn that would be taken back. Accept or decline that \
         first. `game` shows the game as it is."
    OfferNotPossible "offer_not_possible" CONFLICT "This cannot be offered in this game"
        "`detail` says why: there is no opponent, no turn to take back, no clock to pause, no agreed end in the rules, or \
         the game is not over yet. `game` shows the game as it is."
    TooManyGames "too_many_games" CONFLICT "The player has too many games"
        "A player has at most 1,000 games that are not over: active ones, and open ones that the player created. End some \
         of them (resign, abort) before beginning another."
    NoRecord "no_record" CONFLICT "The game cannot be written in this form"
        "Other programs know other games, or fewer rules of them; `detail` says what is in the way. As `json` every game can be written."
    GameNotOver "game_not_over" CONFLICT "The game is not over"
        "Players get no help while they play: a game is analysed when it is over, and so is the one that it goes on from. Games that one \
         person plays alone are analysed at any time."
    TooManyAnalyses "too_many_analyses" CONFLICT "The player waits for too many analyses"
        "A player waits for at most 20 analyses. Ask again when one of them is there."
    TooManyWebhooks "too_many_webhooks" CONFLICT "The player has too many webhooks"
        "A player has at most 10 webhooks. Change or delete one of them."
    TooManyNotes "too_many_notes" CONFLICT "The player has too many notes"
        "A player has at most 10,000 notes. Change or delete one of them."
    TooManyImports "too_many_imports" CONFLICT "The player has too many imported games"
        "A player may have a number of imported games, and of plies in them; guests fewer than accounts. `detail` says what is left. \
         Nothing was imported: send fewer games, or delete imported ones. `GET /v1/me/imports` lists them."
    WebhookDisabled "webhook_disabled" CONFLICT "The webhook is disabled"
        "Nothing is sent to it. Enable it first: `PATCH` with `enabled`."
    WebhookNotVerified "webhook_not_verified" CONFLICT "The webhook is not verified yet"
        "Its endpoint has not repeated the challenge that was sent to it, so it gets nothing else. `POST …/verify` sends another one."
    PreconditionFailed "precondition_failed" PRECONDITION_FAILED "The game is at another version"
        "The version in `If-Match` is not the game's. Read the game again, then decide."
    IdempotencyKeyReused "idempotency_key_reused" UNPROCESSABLE_ENTITY "The idempotency key was used for another request"
        "Within a day the same `Idempotency-Key` came with something else. Nothing was done; give every new request a new key, \
         and keep the key with the body when sending again."
    RateLimited "rate_limited" TOO_MANY_REQUESTS "Too many calls"
        "The player, or without a token the address, has made more calls than allowed, or uploads too much at once, or too many sign-ins to an\
         account failed. Send the same request again after the seconds in `Retry-After`. `RateLimit` in every answer says how many calls are\
         left."
    Internal "internal" INTERNAL_SERVER_ERROR "A fault of the server"
        "Not the client's doing. Nothing is said about the cause; `request_id` finds it in the server's log. Trying again \
         later may help; a move can be sent again without being played twice."
    Unavailable "unavailable" SERVICE_UNAVAILABLE "The service cannot answer now"
        "The database is away or busy. Send the same request again after the seconds in `Retry-After`; a move is never \
         played twice."
}

impl Code {
    /// The code of a failure that does not come from a handler.
    fn of_status(status: StatusCode) -> Self {
        match status {
            StatusCode::NOT_FOUND => Code::NotFound,
            StatusCode::METHOD_NOT_ALLOWED => Code::MethodNotAllowed,
            StatusCode::NOT_ACCEPTABLE => Code::NotAcceptable,
            StatusCode::PAYLOAD_TOO_LARGE => Code::PayloadTooLarge,
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Code::UnsupportedMediaType,
            status if status.is_client_error() => Code::MalformedRequest,
            _ => Code::Internal,
        }
    }
}

/// A failure: its body for the client, and its cause for the log alone.
#[derive(Clone, Debug)]
pub struct Problem {
    body: Box<ProblemBody>,
    cause: Option<String>,
    allow: Option<String>,
    /// Expected in operation: a 5xx that the log leaves out.
    is_expected: bool,
    retry_after_s: Option<u64>,
    /// Shown as a page for people.
    is_page: bool,
}

/// The body of every failure.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody {
    /// Where the code is explained.
    #[serde(rename = "type")]
    #[schema(example = "/problems/stale_ply")]
    kind: String,
    /// The code's meaning in a few words.
    #[schema(example = "The move's number is not the next one")]
    title: &'static str,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599, example = 409)]
    status: u16,
    /// What went wrong this time, in words for people.
    #[schema(example = "the next ply is 7")]
    detail: String,
    code: Code,
    /// The request's id in the server's log.
    request_id: String,
    /// With `validation_failed`: what is wrong, field by field.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    errors: Option<Vec<FieldError>>,
    /// With a conflict: the present state of the game.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    game: Option<GameView>,
    /// With a conflict over a ply: the moves from the ply that was sent on, at most 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    moves: Option<Vec<MoveView>>,
    /// With `illegal_move`: why, in a stable word: `not_a_move`, `not_your_pit`, `empty_pit`, `burnt_pit`, `no_such_pit`,
    /// `must_feed`, `grand_slam`, `no_pass`, `no_swap`, `no_agree`, `game_over`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reason: Option<&'static str>,
    /// With `unavailable` at `/readyz`: what keeps the server from storing moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    check: Option<ReadinessCheck>,
    /// With `illegal_move`: the moves that are allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    legal_moves: Option<Vec<String>>,
    /// With `illegal_move` in a line of moves: the move's index, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 0, example = 3)]
    index: Option<usize>,
    /// With `illegal_move` in a line of moves: the position before that move.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S")]
    position: Option<String>,
}

impl Problem {
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        let body = ProblemBody {
            kind: format!("/problems/{}", code.as_str()),
            title: code.title(),
            status: code.status().as_u16(),
            detail: detail.into(),
            code,
            request_id: String::new(),
            errors: None,
            game: None,
            moves: None,
            reason: None,
            check: None,
            legal_moves: None,
            index: None,
            position: None,
        };
        Self { body: Box::new(body), cause: None, allow: None, is_expected: false, retry_after_s: None, is_page: false }
    }

    /// An invalid field, parameter or header.
    pub fn invalid(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::invalid_as("invalid", pointer, detail)
    }

    /// An invalid field, parameter or header, with the code of its fault.
    pub fn invalid_as(code: &'static str, pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::of_fault(FieldError::new(pointer, code, detail))
    }

    /// A request that is invalid for one fault.
    pub fn of_fault(error: FieldError) -> Self {
        let detail = if error.pointer.is_empty() {
            error.detail.clone()
        } else {
            format!("{}: {}", error.pointer, error.detail)
        };
        let mut problem = Self::new(Code::ValidationFailed, detail);
        problem.body.errors = Some(vec![error]);
        problem
    }

    /// Whether a part of the body is what the request is refused for.
    pub fn is_of_body(&self) -> bool {
        let errors = self.body.errors.as_deref().unwrap_or_default();
        errors.iter().any(|error| error.pointer.is_empty() || error.pointer.starts_with('/'))
    }

    /// The faults that the request is refused for.
    pub fn into_faults(self) -> Vec<FieldError> {
        self.body.errors.unwrap_or_default()
    }

    /// Adds further faults, as far as there is room. Of two at one pointer, the first has the better words, and the second the code.
    pub fn with_faults(mut self, faults: Vec<FieldError>) -> Self {
        let errors = self.body.errors.get_or_insert_default();
        for fault in faults {
            let has_room = errors.len() < FAULTS_MAX;
            match errors.iter_mut().find(|error| error.pointer == fault.pointer) {
                Some(known) if known.code == "invalid" => {
                    *known = FieldError { detail: mem::take(&mut known.detail), ..fault };
                }
                Some(known) => known.values = known.values.take().or(fault.values),
                None if has_room => errors.push(fault),
                None => {}
            }
        }
        self
    }

    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(Code::NotFound, detail)
    }

    /// A fault of the server. The cause goes to the log only.
    pub fn internal(cause: impl fmt::Display) -> Self {
        Self::new(Code::Internal, "the server failed").because(cause)
    }

    /// Back-pressure: the server limits this work at present, as it is meant to.
    pub fn busy(detail: impl Into<String>) -> Self {
        Self { is_expected: true, ..Self::new(Code::Unavailable, detail) }
    }

    /// The answer to a readiness probe while the server is stopping.
    pub fn draining() -> Self {
        Self { is_expected: true, ..Self::unready(ReadinessCheck::Draining, "the server is stopping") }
    }

    /// The answer to a readiness probe while the server cannot store moves.
    pub fn unready(check: ReadinessCheck, detail: impl Into<String>) -> Self {
        let mut problem = Self::new(Code::Unavailable, detail);
        problem.body.check = Some(check);
        problem
    }

    /// A request for a known path with a method that the path does not have.
    pub fn method_not_allowed(allow: String) -> Self {
        Self { allow: Some(allow), ..Self::new(Code::MethodNotAllowed, "this address does not know the method") }
    }

    /// Shows the failure as a page for people, for clients that prefer one.
    pub fn shown_as_page(self) -> Self {
        Self { is_page: true, ..self }
    }

    /// Whether there is nothing at the address, or nothing that the caller may see.
    pub const fn is_not_found(&self) -> bool {
        matches!(self.body.code, Code::NotFound)
    }

    /// Sets the seconds after which the same request may be sent again.
    pub fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after_s: Some(seconds), ..self }
    }

    /// Adds the cause for the log.
    pub fn because(self, cause: impl fmt::Display) -> Self {
        Self { cause: Some(cause.to_string()), ..self }
    }

    /// Adds the present state of the game, so that the client can go on from there.
    pub fn with_game(mut self, game: GameView) -> Self {
        self.body.game = Some(game);
        self
    }

    /// Adds the moves that the client has not seen.
    pub fn with_moves(mut self, moves: Vec<MoveView>) -> Self {
        self.body.moves = Some(moves);
        self
    }

    /// Adds why the rules forbid a move, and the moves that they allow.
    pub fn with_legal_moves(mut self, reason: &'static str, legal_moves: Vec<String>) -> Self {
        self.body.reason = Some(reason);
        self.body.legal_moves = Some(legal_moves);
        self
    }

    /// Adds the index in a line of moves, and the position before that move.
    pub fn with_place(mut self, index: usize, position: String) -> Self {
        self.body.index = Some(index);
        self.body.position = Some(position);
        self
    }

    pub const fn code(&self) -> Code {
        self.body.code
    }

    /// Logs a failure that comes too late for an answer.
    pub fn log(self, request_id: String) {
        let _ = self.of_request(request_id);
    }
}

/// What keeps the server from storing moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadinessCheck {
    Draining,
    Connection,
    Connections,
    Standby,
    ReadOnly,
    Disk,
    Io,
    Memory,
    Rights,
    Migrations,
    Database,
}

/// The most faults that an answer names.
pub const FAULTS_MAX: usize = 50;

/// One invalid part of a request.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FieldError {
    /// A JSON pointer into the body; `?name` for a query parameter; the name of a header.
    #[schema(example = "/options/seeds")]
    pub pointer: String,
    /// What is wrong with this part, in words for people.
    pub detail: String,
    /// What is wrong with it, in a stable word: `required`, `unknown_field`, `duplicate_field`, `wrong_type`, `not_one_of`,
    /// `out_of_range`, `wrong_length`, `wrong_format`, or else `invalid`. Clients treat words that they do not know as `invalid`.
    #[schema(value_type = String, example = "out_of_range")]
    pub code: &'static str,
    /// With `not_one_of`: what is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = json!(["south", "north", "random"]))]
    pub values: Option<Vec<String>>,
}

impl FieldError {
    pub fn new(pointer: impl Into<String>, code: &'static str, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), detail: detail.into(), code, values: None }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code().as_str(), self.body.detail)
    }
}

impl StdError for Problem {}

impl ResponseError for Problem {
    fn status_code(&self) -> StatusCode {
        self.code().status()
    }

    fn error_response(&self) -> HttpResponse<BoxBody> {
        let mut response = HttpResponse::build(self.code().status());
        match self.code() {
            Code::Unauthenticated | Code::InvalidCredentials => {
                response.insert_header((header::WWW_AUTHENTICATE, "Bearer"))
            }
            Code::InvalidToken | Code::RefreshTokenReused => {
                response.insert_header((header::WWW_AUTHENTICATE, "Bearer error=\"invalid_token\""))
            }
            // The rest of the body may still arrive, and no handler will read it.
            Code::MalformedRequest | Code::PayloadTooLarge => response.force_close(),
            _ => &mut response,
        };
        let retry_after_s = self.retry_after_s.or((self.code() == Code::Unavailable).then_some(RETRY_AFTER_S));
        if let Some(seconds) = retry_after_s {
            response.insert_header((header::RETRY_AFTER, seconds));
        }
        if let Some(allow) = &self.allow {
            response.insert_header((header::ALLOW, allow.as_str()));
        }
        response
            .insert_header((X_REQUEST_ID.clone(), self.body.request_id.as_str()))
            .insert_header((header::CONTENT_TYPE, if self.is_page { PAGE } else { PROBLEM_JSON }))
            .insert_header((header::CACHE_CONTROL, "no-store"));
        // For the layer that counts refusals.
        response.extensions_mut().insert(self.code());
        if self.is_page {
            return response.body(self.page());
        }
        response.body(serde_json::to_string(&self.body).expect(ALWAYS_JSON))
    }
}

impl From<DbError> for Problem {
    fn from(error: DbError) -> Self {
        match &error {
            DbError::ConnectionLost(_)
            | DbError::Unreachable(_)
            | DbError::Busy(_)
            | DbError::OutOfService(_)
            | DbError::QueueFull => {
                Self::new(Code::Unavailable, "the database is away or busy; try again").because(chain(&error))
            }
            // A handler refers to a row that it has not read only for its own player.
            DbError::Constraint { name } if name.ends_with("_player_fkey") => {
                Self::new(Code::InvalidToken, "the token's player does not exist")
            }
            _ => Self::internal(chain(&error)),
        }
    }
}

impl From<ViewError> for Problem {
    fn from(error: ViewError) -> Self {
        Self::internal(error)
    }
}

impl From<&Refusal> for Problem {
    fn from(refusal: &Refusal) -> Self {
        let code = match refusal {
            Refusal::Unknown => Code::NotFound,
            Refusal::NotSeated => Code::NotSeated,
            Refusal::WrongJoinCode
            | Refusal::NotInvited
            | Refusal::NoCode
            | Refusal::AlreadyMoved
            | Refusal::NoPractice => Code::Forbidden,
            Refusal::TooManyGames | Refusal::TooManyGamesForRematch => Code::TooManyGames,
            Refusal::OtherVersion { .. } => Code::PreconditionFailed,
            Refusal::SeatTaken => Code::SeatTaken,
            Refusal::OwnGame => Code::OwnGame,
            Refusal::NotStarted => Code::GameNotStarted,
            Refusal::Over => Code::GameOver,
            Refusal::StalePly { .. } => Code::StalePly,
            Refusal::NotYourTurn => Code::NotYourTurn,
            Refusal::Illegal(_) | Refusal::NotAMove => Code::IllegalMove,
            Refusal::NoSuchOffer => Code::NoSuchOffer,
            Refusal::OfferPending => Code::OfferPending,
            Refusal::NothingToOffer(_) => Code::OfferNotPossible,
            Refusal::InTurn { index, position, refusal: of_move } => {
                let code = Self::from(of_move.as_ref()).code();
                return Self::new(code, refusal.to_string()).with_place(*index, position.to_string());
            }
        };
        Self::new(code, refusal.to_string())
    }
}

/// An error and its sources in one line.
pub fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

impl Problem {
    /// The failure as a page.
    fn page(&self) -> String {
        let ProblemBody { title, detail, code, request_id, .. } = &*self.body;
        let (code, detail) = (code.as_str(), detail.replace('&', "&amp;").replace('<', "&lt;"));
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
             <meta name=\"robots\" content=\"noindex\">\n<title>{title}</title>\n<h1>{title}</h1>\n<p>{detail}</p>\n\
             <p><a href=\"/problems/{code}\"><code>{code}</code></a>, request <code>{request_id}</code></p>\n</html>\n"
        )
    }

    pub fn of(error: &actix_web::Error) -> Self {
        let ours = error.as_error::<Problem>().cloned();
        ours.unwrap_or_else(|| Self::of_status(error.as_response_error().status_code()).because(error))
    }

    pub fn of_status(status: StatusCode) -> Self {
        let code = Code::of_status(status);
        Self::new(code, code.title())
    }

    /// Whether the failure is no fault of the server, and so is not logged: it has too much to do, or is stopping.
    pub const fn is_expected(&self) -> bool {
        self.is_expected
    }

    /// Whether the id of the failed request is set.
    pub const fn has_request(&self) -> bool {
        !self.body.request_id.is_empty()
    }

    /// Sets the id of the failed request, and logs the failure if it is a fault of the server.
    pub fn of_request(mut self, request_id: String) -> Self {
        if self.code().status().is_server_error() && !self.is_expected {
            let (code, cause) = (self.code().as_str(), self.cause.as_deref().unwrap_or_default());
            if let Some(line) = repeats::admit("requests that failed", cause) {
                tracing::error!(
                    request.id = request_id,
                    code,
                    cause,
                    left_out = line.left_out,
                    "request failed: {self}"
                );
            }
        }
        self.body.request_id = request_id;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_a_word_of_its_own_and_a_failing_status() {
        for (n, code) in Code::ALL.iter().enumerate() {
            assert!(code.status().is_client_error() || code.status().is_server_error());
            assert_eq!(serde_json::to_value(code).expect("a word is JSON"), code.as_str());
            assert!(Code::ALL[..n].iter().all(|other| other.as_str() != code.as_str()));
        }
    }
}
