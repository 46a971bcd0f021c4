//! Who someone is that comes back from an issuer: the session, the state and the code are checked, and the session is used up.

use mancala_db::players::identities;
use mancala_http::{
    answer::{code::Code, problem::Problem},
    state::AppState,
};
use mancala_outbound::openid::{Failure, Issuer, Subject};
use mancala_process::{clock::now, metrics::IssuerOutcome, repeats};

use super::session::Session;

/// The longest code: several times as long as the codes of known issuers.
const CODE_BYTES_MAX: usize = 4096;

/// After how many seconds an issuer that did not answer may be asked again.
const RETRY_AFTER_S: u64 = 5;

/// The issuer's unchanged answer, and the session for which it was requested.
pub(super) struct Proof {
    pub(super) session: String,
    pub(super) state: String,
    pub(super) code: String,
    pub(super) iss: Option<String>,
}

/// Finds the person to whom a code belongs. `is_right` says whether the session is the caller's.
pub(super) async fn verified(
    state: &AppState,
    issuer: &Issuer,
    proof: &Proof,
    is_right: impl Fn(&Session) -> bool,
) -> Result<Subject, Problem> {
    if proof.code.is_empty() || proof.code.len() > CODE_BYTES_MAX {
        return Err(Problem::invalid_as("wrong_length", "/code", format!("has 1 to {CODE_BYTES_MAX} bytes")));
    }
    let now = now();
    let session = Session::open(&proof.session, &state.cursors, issuer.settings(), now);
    let session = session.ok_or_else(|| refused("the session is none of this issuer, or no longer"))?;
    let words = session.words();
    if proof.state != words.state {
        return Err(refused("the state is of another sign-in"));
    }
    if !is_right(&session) {
        return Err(refused("the session was begun for another purpose or by another player"));
    }
    let exchange = issuer.prepare().await.map_err(|failure| problem(state, issuer, &failure))?;
    if !exchange.is_named(proof.iss.as_deref()) {
        return Err(refused("iss names another issuer, or none"));
    }
    // The session is used up before the exchange: if two come at once, one is refused.
    if !identities::use_session(&state.db, &session.hash(), session.kept_until()).await? {
        return Err(refused("the session was used before"));
    }
    match exchange.redeem(&proof.code, words.request(&session), now).await {
        Ok(subject) => {
            state.metrics.issuer_asked(&issuer.settings().id, IssuerOutcome::Done);
            Ok(subject)
        }
        Err(failure) => {
            if matches!(failure, Failure::Unavailable(_)) {
                identities::release_session(&state.db, &session.hash()).await?;
            }
            Err(problem(state, issuer, &failure))
        }
    }
}

fn refused(detail: &str) -> Problem {
    Problem::new(Code::SignInRefused, detail)
}

/// The client's problem if an issuer fails. The failure is counted, and the log has its cause.
pub(super) fn problem(state: &AppState, issuer: &Issuer, failure: &Failure) -> Problem {
    let id = &issuer.settings().id;
    let outcome = match failure {
        Failure::Refused(_) | Failure::CodeRefused(_) => IssuerOutcome::Refused,
        Failure::Unavailable(_) => IssuerOutcome::Unavailable,
    };
    state.metrics.issuer_asked(id, outcome);
    let told = match failure {
        Failure::Refused(detail) => return refused(detail),
        Failure::CodeRefused(_) => refused("the issuer refuses the code"),
        Failure::Unavailable(_) => {
            Problem::outside(Code::IssuerUnavailable, "the issuer does not answer as it should; try again")
                .retry_after(RETRY_AFTER_S)
        }
    };
    if let Some(line) = repeats::admit("issuers of sign-ins that fail", &format!("{id}: {failure}")) {
        tracing::warn!(issuer.id = id, left_out = line.left_out, "an issuer of sign-ins fails: {failure}");
    }
    told
}
