//! Proof of a recent sign-in, or the password, for actions that take over or end an account. An access token is not enough, because it may
//! be stolen.

use actix_web::HttpRequest;
use mancala_db::players::{self, OwnPlayer};
use mancala_domain::PlayerKind;
use mancala_http::{
    answer::{code::Code, problem::Problem},
    layers::limits::network_of,
    request::known,
    state::{AppState, sign_ins, tokens::Caller},
};
use mancala_process::clock::now;
use serde::Deserialize;
use time::{Duration, OffsetDateTime};
use utoipa::ToSchema;

/// How long a sign-in counts as recent: long enough to change several things after it.
const RECENT: Duration = Duration::minutes(10);

/// The most that the clock of the server that signed a token may be ahead.
const CLOCKS_DIFFER: Duration = Duration::minutes(1);

/// Refuses an account whose token is of an older sign-in, unless its password is given. A password that is given must be right. Guests,
/// among them the players of apps, have no password and are let through.
pub async fn require(
    state: &AppState,
    request: &HttpRequest,
    (caller, own): (Caller, &OwnPlayer),
    current_password: Option<&str>,
) -> Result<(), Problem> {
    match current_password {
        _ if own.player.kind != PlayerKind::Account => Ok(()),
        Some(password) => check_password(state, request, own, password).await,
        None if is_recent(caller, now()) => Ok(()),
        None => Err(required()),
    }
}

pub fn required() -> Problem {
    let detail =
        "this changes who may sign in to the account: send its password as current_password, or sign in again first";
    Problem::new(Code::RecentSignInRequired, detail)
}

fn is_recent(caller: Caller, now: OffsetDateTime) -> bool {
    let age = |at: i64| Duration::seconds(now.unix_timestamp().saturating_sub(at));
    caller.auth_time.map(age).is_some_and(|age| (-CLOCKS_DIFFER..=RECENT).contains(&age))
}

/// Refuses a password that is not the account's. Attempts count as sign-ins do.
async fn check_password(
    state: &AppState,
    request: &HttpRequest,
    own: &OwnPlayer,
    password: &str,
) -> Result<(), Problem> {
    let refused = || Problem::new(Code::InvalidCredentials, "the password is not the account's");
    let Ok(password) = password.parse() else { return Err(refused()) };
    let (name, network) = (&own.player.name, network_of(request));
    let asker = known::asker(state, Some(own.player.id), network).await?;
    let compare = async {
        let (account, hash) = players::find_account(&state.db, name).await?.unzip();
        let is_right = state.passwords.compare(password, hash, asker).await?;
        Ok(account.filter(|account| is_right && account.player.id == own.player.id))
    };
    let limits = state.sign_ins.as_ref();
    sign_ins::by_password(limits, (name, network, asker.is_known), compare).await?.map(drop).ok_or_else(refused)
}

/// The account's password, in the body of a call that needs nothing else.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PasswordConfirmation)]
pub struct CurrentPassword {
    /// The account's password. Not needed if its sign-in began within the last 10 minutes.
    #[schema(format = Password)]
    pub current_password: Option<String>,
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use mancala_domain::PlayerId;

    #[test]
    fn a_sign_in_is_recent_for_ten_minutes() {
        let now = OffsetDateTime::from_unix_timestamp(1_000_000).expect("a moment");
        let player = PlayerId(Uuid::from_u128(1));
        let caller = |auth_time| Caller {
            player,
            credentials_version: 0,
            is_guest: false,
            is_new: false,
            sign_in: None,
            auth_time,
        };
        let cases = [(None, false), (Some(0), true), (Some(600), true), (Some(601), false), (Some(-61), false)];
        for (age, expected) in cases {
            let auth_time = age.map(|age: i64| 1_000_000 - age);
            assert_eq!(is_recent(caller(auth_time), now), expected, "{age:?}");
        }
        assert!(!is_recent(caller(Some(i64::MIN)), now));
        assert!(!is_recent(caller(Some(i64::MAX)), now));
    }
}
