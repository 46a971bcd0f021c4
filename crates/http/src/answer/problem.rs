//! Every failure in one envelope: RFC 9457 `application/problem+json` with a stable code.
//!
//! A handler returns a [`Problem`]. The layer `envelope` gives every answer its request id. It turns all other failures (an
//! unknown path, a panic, a library's own error) into the same form. Status codes of failures are written in `code` only.

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
use time::OffsetDateTime;
use utoipa::ToSchema;

use super::{
    bounds::{FAILURE_BYTES_MAX, cut},
    code::Code,
    field_error::{FAULTS_MAX, FieldError},
    headers::PICTURE_POLICY,
    problem_page::{self, Reader},
    readiness_check::ReadinessCheck,
};
use mancala_process::{
    outage,
    repeats::{self, Admitted},
};
use mancala_wire::view::{
    game::GameView,
    moves::MoveView,
    wire::{ALWAYS_JSON, SuspensionView, Timestamp},
};

/// `Retry-After` of a request that failed because the database was unavailable, in seconds: long enough for a restart.
const RETRY_AFTER_S: u64 = 2;

/// The content type of every failure.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// The content type of a failure that is shown to people.
const PAGE: &str = "text/html; charset=utf-8";

pub static X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A failure: its body for the client, and its cause for the log alone.
#[derive(Clone, Debug)]
pub struct Problem {
    body: Box<ProblemBody>,
    cause: Option<String>,
    allow: Option<String>,
    /// Expected in operation: a 5xx that the log leaves out.
    is_expected: bool,
    retry_after_s: Option<u64>,
    /// The person whom the failure is shown to, as a page.
    reader: Option<Reader>,
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
    /// With a conflict over a ply: the moves from the ply that was sent on, at most 100 and 32 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    moves: Option<Vec<MoveView>>,
    /// With `illegal_move`: why, in a stable word.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reason: Option<&'static str>,
    /// With `player_suspended`: why, and until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    suspension: Option<SuspensionView>,
    /// With `unavailable` at `/readyz`: what keeps the server from storing moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    check: Option<ReadinessCheck>,
    /// With `too_many_invitations`: from when on the same request may succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    retry_at: Option<Timestamp>,
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

impl ProblemBody {
    /// The body as JSON. If it is too long, it has no accepted values, and the first of its faults and moves.
    fn bounded_json(&self) -> String {
        let json = serde_json::to_string(self).expect(ALWAYS_JSON);
        if json.len() <= FAILURE_BYTES_MAX {
            return json;
        }
        let mut short = self.clone();
        for error in short.errors.iter_mut().flatten() {
            error.values = None;
        }
        loop {
            let json = serde_json::to_string(&short).expect(ALWAYS_JSON);
            let (faults, moves) = (short.errors.as_mut(), short.moves.as_mut());
            let listed =
                faults.as_ref().map_or(0, |faults| faults.len()) + moves.as_ref().map_or(0, |moves| moves.len());
            if json.len() <= FAILURE_BYTES_MAX || listed == 0 {
                return json;
            }
            if let Some(faults) = faults {
                faults.truncate(faults.len() / 2);
            }
            if let Some(moves) = moves {
                moves.truncate(moves.len() / 2);
            }
        }
    }
}

impl Problem {
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        let body = ProblemBody {
            kind: format!("/problems/{}", code.as_str()),
            title: code.title(),
            status: code.status().as_u16(),
            detail: cut(detail),
            code,
            request_id: String::new(),
            errors: None,
            game: None,
            moves: None,
            reason: None,
            suspension: None,
            check: None,
            retry_at: None,
            legal_moves: None,
            index: None,
            position: None,
        };
        Self { body: Box::new(body), cause: None, allow: None, is_expected: false, retry_after_s: None, reader: None }
    }

    /// An invalid field, parameter or header.
    pub fn invalid(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::invalid_as("invalid", pointer, detail)
    }

    /// An invalid field, parameter or header, with the code of its fault.
    pub fn invalid_as(code: &'static str, pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::of_fault(FieldError::new(pointer, code, detail))
    }

    /// A fault: the word is none of the accepted ones.
    pub fn not_one_of(
        pointer: impl Into<String>,
        detail: impl Into<String>,
        values: impl Iterator<Item: ToString>,
    ) -> Self {
        let values = Some(values.map(|value| value.to_string()).collect());
        Self::of_fault(FieldError { values, ..FieldError::new(pointer, "not_one_of", detail) })
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

    /// Adds further faults, as far as there is room. If two have the same pointer, the first keeps its words, and gets the code
    /// of the second.
    #[must_use]
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

    /// Back-pressure: the server currently limits this work, by design.
    pub fn busy(detail: impl Into<String>) -> Self {
        Self { is_expected: true, ..Self::new(Code::Unavailable, detail) }
    }

    /// A failure of another service, which is no fault of this one.
    pub fn outside(code: Code, detail: impl Into<String>) -> Self {
        Self { is_expected: true, ..Self::new(code, detail) }
    }

    /// The answer to a readiness probe while the server is stopping.
    pub fn draining() -> Self {
        Self::unready(ReadinessCheck::Draining, "the server is stopping")
    }

    /// The answer to a readiness probe while the server cannot store moves.
    pub fn unready(check: ReadinessCheck, detail: impl Into<String>) -> Self {
        // The answer to a probe, and no failed request.
        let mut problem = Self::busy(detail);
        problem.body.check = Some(check);
        problem
    }

    /// A request for a known path with a method that the path does not have.
    pub fn method_not_allowed(allow: String) -> Self {
        Self { allow: Some(allow), ..Self::new(Code::MethodNotAllowed, "this address does not know the method") }
    }

    /// Shows the failure as a page for people, for clients that prefer one.
    #[must_use]
    pub fn shown_to(self, reader: Reader) -> Self {
        Self { reader: Some(reader), ..self }
    }

    /// Whether there is nothing at the address, or nothing that the caller may see.
    pub const fn is_not_found(&self) -> bool {
        matches!(self.body.code, Code::NotFound)
    }

    /// Sets the seconds after which the same request may be sent again.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after_s: Some(seconds), ..self }
    }

    /// Adds the cause for the log.
    #[must_use]
    pub fn because(self, cause: impl fmt::Display) -> Self {
        Self { cause: Some(cause.to_string()), ..self }
    }

    /// Adds the present state of the game, so that the client can go on from there.
    #[must_use]
    pub fn with_game(mut self, game: GameView) -> Self {
        self.body.game = Some(game);
        self
    }

    /// Adds the moves that the client has not seen.
    #[must_use]
    pub fn with_moves(mut self, moves: Vec<MoveView>) -> Self {
        self.body.moves = Some(moves);
        self
    }

    /// Adds why the rules forbid a move, and the moves that they allow.
    #[must_use]
    pub fn with_legal_moves(mut self, reason: &'static str, legal_moves: Vec<String>) -> Self {
        self.body.reason = Some(reason);
        self.body.legal_moves = Some(legal_moves);
        self
    }

    /// Adds why the caller is suspended, and until when.
    #[must_use]
    pub fn with_suspension(mut self, suspension: SuspensionView) -> Self {
        self.body.suspension = Some(suspension);
        self
    }

    /// Adds the moment from which the same request may succeed. It is no `Retry-After`: a client that obeys one by itself would wait for hours.
    #[must_use]
    pub fn with_retry_at(mut self, moment: OffsetDateTime) -> Self {
        self.body.retry_at = Some(Timestamp(moment));
        self
    }

    /// Adds the index in a line of moves, and the position before that move.
    #[must_use]
    pub fn with_place(mut self, index: usize, position: String) -> Self {
        self.body.index = Some(index);
        self.body.position = Some(position);
        self
    }

    pub const fn code(&self) -> Code {
        self.body.code
    }

    /// The failed readiness check, if the failure is that moves cannot be stored.
    pub const fn check(&self) -> Option<ReadinessCheck> {
        self.body.check
    }

    /// The failure and its cause, for the log.
    pub fn with_cause(&self) -> String {
        self.cause.as_ref().map_or_else(|| self.to_string(), |cause| format!("{self}: {cause}"))
    }

    /// Logs a failure that comes too late for an answer.
    pub fn log(self, request_id: String) {
        let _ = self.of_request(request_id);
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
            Code::Unauthenticated | Code::InvalidCredentials | Code::SignInRefused => {
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
            .insert_header((header::CONTENT_TYPE, if self.reader.is_some() { PAGE } else { PROBLEM_JSON }))
            .insert_header((header::CACHE_CONTROL, "no-store"));
        // The code is for the layer that counts refusals.
        response.extensions_mut().insert(self.code());
        if let Some(reader) = self.reader {
            response.insert_header((header::CONTENT_SECURITY_POLICY, PICTURE_POLICY));
            return response.body(problem_page::of_failure(self.code(), &self.body.request_id, reader));
        }
        response.body(self.body.bounded_json())
    }
}

impl Problem {
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
    #[must_use]
    pub fn of_request(mut self, request_id: String) -> Self {
        if self.code().status().is_server_error() && !self.is_expected {
            let (code, cause) = (self.code().as_str(), self.cause.as_deref().unwrap_or_default());
            if let Some(line) = self.admitted(cause) {
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

    /// Whether the failure is logged. Failures during an outage of the database are not, because the outage has its own lines.
    fn admitted(&self, cause: &str) -> Option<Admitted> {
        match self.code() {
            Code::Unavailable => outage::admit_failure("requests that failed", cause),
            _ => repeats::admit("requests that failed", cause),
        }
    }
}
