//! The codes of failures: their words, their statuses and their meanings.

use actix_web::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

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

            /// The meaning of the code, and the advice for the client.
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
        "The access token has expired, was revoked, was not issued by this server, or its player is gone. Get a new one. A token of another \
         issuer that was to be exchanged is refused for what `detail` says."
    RefreshTokenReused "refresh_token_reused" UNAUTHORIZED "The refresh token was used before"
        "A later refresh token of the same sign-in was used already, so two clients have tokens of it. An account loses all tokens of this \
         sign-in: sign in again. A guest keeps the newer ones: use the newest, or the recovery code."
    InvalidCredentials "invalid_credentials" UNAUTHORIZED "The name, the password or the recovery code is wrong"
        "No account has this name and this password, and which of the two is wrong is not said; or no player has this recovery code."
    SignInRefused "sign_in_refused" UNAUTHORIZED "The sign-in by an issuer is refused"
        "The session, the state or the code is wrong, too old or was used before, or the issuer's token is not to be believed; `detail` says \
         which. No player was made or changed. Begin again."
    RecentSignInRequired "recent_sign_in_required" FORBIDDEN "The account's owner has to sign in again"
        "The access token is of a sign-in that began more than 10 minutes ago, and a token alone must not take an account over. Send the \
         account's password as `current_password`, or sign in again and use the new token."
    Forbidden "forbidden" FORBIDDEN "Not allowed"
        "The caller is known but may not do this; `detail` says why."
    PlayerSuspended "player_suspended" FORBIDDEN "The player is suspended"
        "An operator has suspended the caller: it reads and signs in, and reaches no other players. `suspension` says why and until when; \
         without an end it is a ban."
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
    IdentityTaken "identity_taken" CONFLICT "The identity cannot be linked"
        "The identity is another player's, or the caller has another one of this issuer; `detail` says which. Sign in by it instead, or unlink \
         the other one first."
    LastWayIn "last_way_in" CONFLICT "It is the last way to sign in"
        "Without this identity the caller could not sign in any more. Set a password, or link another identity first."
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
        "`reason` says why, `legal_moves` lists what is allowed. Nothing was played. In a line of moves, `index` says which of \
         them it is, from 0, and `position` how the board stands before it."
    NoSuchOffer "no_such_offer" CONFLICT "There is no such offer"
        "Nothing of this kind waits for an answer, or the caller may not answer it: an offer is accepted and declined by the \
         other side, and withdrawn by its own. `game` shows the game as it is."
    OfferPending "offer_pending" CONFLICT "The opponent's offer comes first"
        "The opponent asks to take back a turn, and it is not the caller's turn that would be taken back. Accept or decline that \
         first. `game` shows the game as it is."
    OfferNotPossible "offer_not_possible" CONFLICT "This cannot be offered in this game"
        "`detail` says why: there is no opponent, no turn to take back, no clock to pause, no agreed end in the rules, it was \
         offered three times since the last ply, or the game is not over yet. `game` shows the game as it is."
    TooManyGames "too_many_games" CONFLICT "The player has too many games"
        "A player has at most 1,000 games that are not over: active ones, and open ones that the player created. End some \
         of them (resign, abort) before beginning another."
    TooManyOpenGames "too_many_open_games" CONFLICT "The player has too many open games"
        "A guest, or an account that is new, has at most 3 open public games, and those of one network 20 together; `detail` says which. Wait until \
         one of them begins, abort one, or join a game that is open."
    NoRecord "no_record" CONFLICT "The game cannot be written in this form"
        "Other programs know other games, or fewer rules of them; `detail` says what is in the way. As `json` every game can be written."
    GameNotOver "game_not_over" CONFLICT "The game is not over"
        "Players get no help while they play: a game is analysed when it is over, and so is the one that it goes on from. Games that one \
         person plays alone are analysed at any time."
    TooManyAnalyses "too_many_analyses" CONFLICT "The player waits for too many analyses"
        "A player waits for at most 20 analyses. Ask again when one of them is there."
    TooManyWebhooks "too_many_webhooks" CONFLICT "The player has too many webhooks"
        "A player has at most 10 webhooks. Change or delete one of them."
    PushNotOffered "push_not_offered" CONFLICT "The server sends no such push notifications"
        "The operator has not set this kind of push notification up. `GET /v1/push` says which kinds there are."
    TooManyDevices "too_many_devices" CONFLICT "The player has too many devices"
        "A player has at most 10 devices that get push notifications. Remove one of them."
    TooManyNotes "too_many_notes" CONFLICT "The player has too many notes"
        "A player has at most 10,000 notes. Change or delete one of them."
    TooManyBlocks "too_many_blocks" CONFLICT "The player blocks too many others"
        "A player blocks at most 1,000 others. Unblock one of them."
    TooManyMutes "too_many_mutes" CONFLICT "The player mutes too many others"
        "A player mutes at most 1,000 others. Unmute one of them."
    TooManyFriends "too_many_friends" CONFLICT "There are too many friends or requests"
        "A player has at most 1,000 friends, and 100 requests that wait; `detail` says which. End a friendship, or withdraw a request."
    TooManyInvitations "too_many_invitations" CONFLICT "The player has invited the same other one too often"
        "A player invites the same other one at most 20 times within 24 hours, and the players of a network 60 times. `retry_at` says from when on there is room for one more."
    TooManyImports "too_many_imports" CONFLICT "The player has too many imported games"
        "A player may have a number of imported games, and of plies in them; guests fewer than accounts. `detail` says what is left. \
         Nothing was imported: send fewer games, or delete imported ones. `GET /v1/me/imports` lists them."
    WebhookDisabled "webhook_disabled" CONFLICT "The webhook is disabled"
        "Nothing is sent to it. Enable it first: `PATCH` with `enabled`."
    WebhookNotVerified "webhook_not_verified" CONFLICT "The webhook is not verified yet"
        "Its endpoint has not repeated the challenge that was sent to it, so it gets nothing else. `POST …/verify` sends another one."
    EmailNotConfigured "email_not_configured" CONFLICT "The server sends no mail"
        "Its operator has named no SMTP server, so no address is set and no password is reset by one. Asking again does not help. \
         `GET /v1/password-reset` says so beforehand."
    InvalidLink "invalid_link" UNPROCESSABLE_ENTITY "The link is not valid, or no longer"
        "The token of a link in a mail was used, has expired, is void, or was never one; which of them is not said. Ask for another link."
    PreconditionFailed "precondition_failed" PRECONDITION_FAILED "The game is at another version"
        "The version in `If-Match` is not the game's. Read the game again, then decide."
    IdempotencyKeyReused "idempotency_key_reused" UNPROCESSABLE_ENTITY "The idempotency key was used for another request"
        "Within a day the same `Idempotency-Key` came with something else. Nothing was done; give every new request a new key, \
         and keep the key with the body when sending again."
    RateLimited "rate_limited" TOO_MANY_REQUESTS "Too many calls"
        "The player, or without a token the address, has made more calls than allowed, or uploads too much at once, or too many sign-ins to an \
         account failed. Send the same request again after the seconds in `Retry-After`. `RateLimit` in every answer says how many calls are \
         left."
    Internal "internal" INTERNAL_SERVER_ERROR "A fault of the server"
        "Not the client's doing. Nothing is said about the cause; `request_id` finds it in the server's log. Trying again \
         later may help; a move can be sent again without being played twice."
    Unavailable "unavailable" SERVICE_UNAVAILABLE "The service cannot answer now"
        "The database is away or busy, or another service that the answer needs. Send the same request again after the seconds in \
         `Retry-After`; a move is never played twice."
    IssuerUnavailable "issuer_unavailable" SERVICE_UNAVAILABLE "The issuer of the sign-in does not answer"
        "The service by which the person wants to sign in is away, slow, or answers wrongly. Send the same request again after the seconds \
         in `Retry-After`, or let the person sign in in another way."
}

impl Code {
    /// The code of a failure that does not come from a handler.
    pub(super) fn of_status(status: StatusCode) -> Self {
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
