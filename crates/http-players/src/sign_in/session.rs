//! The session of a sign-in, from its beginning until the person is back: sealed, and in the hands of the client that began it.
//!
//! The issuer's answer comes back through a browser, where others may read it or send their own. The answer is worthless without the
//! session, which only that client has. The server keeps nothing until the session is used. The values for the issuer are derived from a
//! secret that the seal hides, even from the client.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use mancala_db::players::{OwnPlayer, refresh_tokens::Hash};
use mancala_domain::PlayerId;
use mancala_http::answer::cursor::Cursors;
use mancala_outbound::openid::{IssuerSettings, Request};
use mancala_wire::view::wire::ALWAYS_JSON;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

/// How long a person may take to sign in at an issuer.
pub(super) const LIFETIME: Duration = Duration::minutes(10);

/// The most that the clocks of servers may differ, generously.
const CLOCKS_DIFFER: Duration = Duration::minutes(5);

/// A sign-in that has begun.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Session {
    seed: [u8; 32],
    pub(super) redirect_uri: String,
    /// The player to whom the identity is linked, and the version of its credentials; `None` for a sign-in.
    pub(super) link: Option<(Uuid, i32)>,
    until: i64,
}

/// Secrets derived from a session. The issuer gets them; its answer repeats the state, and its ID token the nonce.
pub(super) struct Words {
    pub(super) state: String,
    nonce: String,
    verifier: String,
}

impl Session {
    pub(super) fn begin(redirect_uri: String, link: Option<&OwnPlayer>, now: OffsetDateTime) -> Self {
        let link = link.map(|own| (own.player.id.0, own.credentials_version));
        Self { seed: rand::random(), redirect_uri, link, until: (now + LIFETIME).unix_timestamp() }
    }

    /// The session as its client keeps it, which only this service reads, and only for this issuer and client.
    pub(super) fn seal(&self, cursors: &Cursors, issuer: &IssuerSettings) -> String {
        cursors.seal(&serde_json::to_string(self).expect(ALWAYS_JSON), &purpose(issuer))
    }

    /// Opens a session; `None` if the text is no session of this issuer, or the session has expired.
    pub(super) fn open(sealed: &str, cursors: &Cursors, issuer: &IssuerSettings, now: OffsetDateTime) -> Option<Self> {
        let session: Self = serde_json::from_str(&cursors.open(sealed, &purpose(issuer))?).ok()?;
        (now.unix_timestamp() <= session.until).then_some(session)
    }

    pub(super) fn words(&self) -> Words {
        Words { state: self.derived("state"), nonce: self.derived("nonce"), verifier: self.derived("verifier") }
    }

    /// The hash by which the server knows that the session was used.
    pub(super) fn hash(&self) -> Hash {
        Sha256::new().chain_update("used\0").chain_update(self.seed).finalize().into()
    }

    /// The end of the time for which the server remembers the session. Servers' clocks may differ.
    pub(super) fn kept_until(&self) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(self.until).unwrap_or(OffsetDateTime::UNIX_EPOCH) + CLOCKS_DIFFER
    }

    /// Whether the session links an identity to this player, with these credentials.
    pub(super) fn links(&self, player: PlayerId, credentials_version: i32) -> bool {
        self.link == Some((player.0, credentials_version))
    }

    fn derived(&self, purpose: &str) -> String {
        let hash = Sha256::new().chain_update(purpose).chain_update([0]).chain_update(self.seed).finalize();
        BASE64_URL_SAFE_NO_PAD.encode(hash)
    }
}

impl Words {
    pub(super) fn request<'a>(&'a self, session: &'a Session) -> Request<'a> {
        Request {
            redirect_uri: &session.redirect_uri,
            state: &self.state,
            nonce: &self.nonce,
            verifier: &self.verifier,
        }
    }
}

/// The purpose for which a session is sealed. After a change of the operator's file, an earlier session opens for no other issuer or
/// client.
fn purpose(issuer: &IssuerSettings) -> String {
    format!("sign-in {} {} {}", issuer.id, issuer.issuer, issuer.client_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issuer(id: &str, client: &str) -> IssuerSettings {
        let file = format!(
            r#"{{"issuers": [{{"id": "{id}", "name": "A", "issuer": "https://issuer.example", "client_id": "{client}",
                "redirect_uris": ["https://play.example/back"]}}]}}"#
        );
        let parsed = mancala_outbound::openid::parse(&file, |_| Err(String::new()), |_, _| true);
        parsed.expect("settings").pop().expect("an issuer")
    }

    #[test]
    fn a_session_is_read_by_its_service_for_its_issuer_and_for_a_while() {
        let (cursors, now) = (Cursors::new([7; 32]), OffsetDateTime::UNIX_EPOCH);
        let session = Session::begin("app://back".to_owned(), None, now);
        let google = issuer("google", "a");
        let sealed = session.seal(&cursors, &google);
        assert_eq!(Session::open(&sealed, &cursors, &google, now + LIFETIME).as_ref(), Some(&session));
        assert_eq!(Session::open(&sealed, &cursors, &issuer("apple", "a"), now), None);
        assert_eq!(Session::open(&sealed, &cursors, &issuer("google", "b"), now), None);
        assert_eq!(Session::open(&sealed, &Cursors::new([8; 32]), &google, now), None);
        assert_eq!(Session::open(&sealed, &cursors, &google, now + LIFETIME + Duration::seconds(1)), None);
        assert_eq!(Session::open("", &cursors, &google, now), None);
        assert_eq!(Session::open(&cursors.seal("{}", &purpose(&google)), &cursors, &google, now), None);
        assert!(!sealed.contains("app"), "its client cannot read it");
    }

    #[test]
    fn what_the_issuer_is_told_differs_and_is_of_the_session() {
        let begin = || Session::begin("app://back".to_owned(), None, OffsetDateTime::UNIX_EPOCH);
        let (session, other) = (begin(), begin());
        let (words, again) = (session.words(), session.words());
        assert_eq!((&words.state, &words.nonce, &words.verifier), (&again.state, &again.nonce, &again.verifier));
        assert_ne!(words.state, other.words().state);
        assert!(words.state != words.nonce && words.nonce != words.verifier && words.state != words.verifier);
        assert_eq!(words.verifier.len(), 43, "RFC 7636 asks for 43 to 128 characters");
    }
}
