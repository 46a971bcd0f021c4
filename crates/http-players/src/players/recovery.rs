//! Recovery codes: with one, another device becomes the same player.

use actix_web::{HttpRequest, HttpResponse, http::header, post, web::Data};
use mancala_db::players::{
    OwnPlayer,
    recovery::{self, Telling},
    refresh_tokens::Hash,
};
use mancala_http::{
    answer::{
        failures::{Failures, Forbidden, InvalidCredentials, InvalidToken, RecentSignInRequired, Unauthenticated},
        problem::Problem,
    },
    layers::limits,
    request::{
        extract::{NoQuery, OptionalBody, Query},
        player,
    },
    state::{AppState, tokens::Caller},
};
use mancala_process::clock::now;
use serde::Serialize;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use super::recent_sign_in::{self, CurrentPassword};

/// The letters of a code: Crockford's base 32, which has none that read alike.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The letters of a code, without the dashes: 125 bits, which no client guesses.
const CODE_LETTERS: usize = 25;

/// The letters between two dashes.
const GROUP: usize = 5;

/// How many calls a new code costs besides the first: a player needs one in years.
const MORE_CALLS: u32 = 9;

/// Renew the recovery code
///
/// With the code another device becomes the same player: `POST /v1/tokens` with `grant_type` `recovery_code`. It is shown in
/// this answer only, and the code before it is void. For an account it needs a sign-in of the last 10 minutes, or the password.
///
/// - `invalid_credentials`: the password is not the account's
/// - `forbidden`: a player of an app
#[utoipa::path(
    tag = "players",
    operation_id = "renew_recovery_code",
    request_body(content = Option<CurrentPassword>, description = "May be left out",
        example = json!({"current_password": "correct horse"})),
    responses(
        (status = 200, description = "The new code", body = RecoveryCode),
        Failures<(Unauthenticated, InvalidToken, InvalidCredentials, RecentSignInRequired, Forbidden)>,
    ),
    security(("bearer" = []))
)]
#[post("/me/recovery-code")]
pub async fn renew_recovery_code(
    state: Data<AppState>,
    caller: Caller,
    _: Query<NoQuery>,
    body: OptionalBody<CurrentPassword>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    limits::count_more(&request, MORE_CALLS)?;
    let own = player::find(&state, caller).await?;
    player::refuse_if_of_app(&state, caller.player, "a player of an app signs in by the app, and has no recovery code")
        .await?;
    recent_sign_in::require(&state, &request, (caller, &own), body.0.current_password.as_deref()).await?;
    let recovery_code = renew(&state, &own, Telling::Address).await?.ok_or_else(player::gone)?;
    let answer = RecoveryCode { recovery_code };
    Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(answer))
}

/// Gives a player a new code; `None` if the player's credentials were revoked meanwhile.
pub async fn renew(state: &AppState, own: &OwnPlayer, telling: Telling) -> Result<Option<String>, Problem> {
    let code = new_code();
    let stored = recovery::store(&state.db, own, &hash(&code), telling, now()).await?;
    Ok(stored.then_some(code))
}

/// A new code, as people write it down: `7ZK3M-…`.
pub fn new_code() -> String {
    let bytes = rand::random::<[u8; CODE_LETTERS]>();
    let groups = bytes.chunks(GROUP).map(|group| {
        let letters = group.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
        letters.collect::<String>()
    });
    groups.collect::<Vec<_>>().join("-")
}

/// The hash that is stored for a code. Case, dashes and blanks make no difference, nor do letters that read like a digit.
pub fn hash(code: &str) -> Hash {
    let letters = code.chars().filter(|letter| !letter.is_whitespace() && *letter != '-');
    let plain = letters.map(|letter| match letter.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        letter => letter,
    });
    Sha256::digest(plain.collect::<String>()).into()
}

/// A recovery code, which is shown once.
#[derive(Serialize, ToSchema)]
struct RecoveryCode {
    /// To be written down, and kept as secret as a password.
    #[schema(example = "7ZK3M-0Q9AT-XV4HC-8RB2E-N6WDS")]
    recovery_code: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_the_same_however_it_is_typed() {
        let code = new_code();
        assert_eq!(code.len(), CODE_LETTERS + 4);
        assert_ne!(code, new_code());
        let typed = format!(" {} ", code.to_lowercase().replace('-', " "));
        assert_eq!(hash(&code), hash(&typed));
        assert_eq!(hash("10-AB"), hash("loab"));
        assert_ne!(hash("10AB"), hash("10AC"));
    }
}
