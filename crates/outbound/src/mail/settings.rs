//! The operator's settings of mail, checked before the server starts. Errors do not repeat the settings, which have a password.

use std::{fmt, time::Duration};

use lettre::{AsyncSmtpTransport, Tokio1Executor, message::Mailbox, transport::smtp::extension::ClientId};
use thiserror::Error;
use url::Url;

/// How long a connection to the server may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The placeholder for the token in the address of a link.
const TOKEN: &str = "{token}";

/// Where the links of mails lead: addresses with `{token}` in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    verify: String,
    reset: String,
    /// The server's own page, because restoring an account must work without an app.
    restore: String,
    /// The host that people know the service by, for the texts.
    site: String,
}

impl Links {
    /// The server's own pages below its public URL, unless there are addresses of an app's pages.
    pub fn new(public_url: &str, verify: Option<&str>, reset: Option<&str>) -> Result<Self, Misconfigured> {
        let site = Url::parse(public_url).ok().and_then(|url| url.host_str().map(ToOwned::to_owned));
        let site = site.ok_or(Misconfigured::PublicUrl)?;
        let of = |given: Option<&str>, own: &str| match given {
            None => Ok(format!("{public_url}{own}?token={TOKEN}")),
            Some(given) => {
                let url = Url::parse(given).ok().filter(|url| ["http", "https"].contains(&url.scheme()));
                let is_plain = given.bytes().all(|byte| byte.is_ascii_graphic());
                let is_good = url.is_some() && is_plain && given.matches(TOKEN).count() == 1;
                is_good.then(|| given.to_owned()).ok_or(Misconfigured::Link)
            }
        };
        let restore = of(None, "/email/restore")?;
        Ok(Self { verify: of(verify, "/email/verify")?, reset: of(reset, "/email/reset")?, restore, site })
    }

    pub(super) fn verify(&self, token: &str) -> String {
        self.verify.replace(TOKEN, token)
    }

    pub(super) fn reset(&self, token: &str) -> String {
        self.reset.replace(TOKEN, token)
    }

    pub(super) fn restore(&self, token: &str) -> String {
        self.restore.replace(TOKEN, token)
    }

    pub(super) fn site(&self) -> &str {
        &self.site
    }
}

/// How mail is sent, and by whom.
pub struct Settings {
    pub(super) transport: AsyncSmtpTransport<Tokio1Executor>,
    pub(super) from: Mailbox,
    pub(super) links: Links,
    is_encrypted: bool,
}

impl Settings {
    /// Whether mails go to their server encrypted.
    pub const fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// `smtp_url` names the server: `smtps://user:password@host:port` for TLS from the start, `smtp://…?tls=required`
    /// for STARTTLS, or plain `smtp://host`.
    pub fn new(smtp_url: &str, from: &str, links: Links) -> Result<Self, Misconfigured> {
        let url = Url::parse(smtp_url).ok().filter(Url::has_host).ok_or(Misconfigured::SmtpUrl)?;
        let parameters: Vec<_> = url.query_pairs().collect();
        let is_encrypted = match (url.scheme(), &parameters[..]) {
            ("smtps", []) => true,
            // Opportunistic encryption is none against an attacker.
            ("smtp", [(name, value)]) if name == "tls" && value == "required" => true,
            ("smtp", []) => false,
            _ => return Err(Misconfigured::SmtpUrl),
        };
        let has_credentials = !url.username().is_empty() || url.password().is_some();
        if has_credentials && !is_encrypted {
            return Err(Misconfigured::PlainPassword);
        }
        if has_credentials && (url.username().is_empty() || url.password().is_none()) {
            return Err(Misconfigured::SmtpUrl);
        }
        let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(smtp_url).map_err(|_| Misconfigured::SmtpUrl)?;
        // A path of the URL is the name with which the server introduces itself.
        let builder =
            if url.path().len() > 1 { builder } else { builder.hello_name(ClientId::Domain(links.site.clone())) };
        let builder = builder.timeout(Some(CONNECT_TIMEOUT));
        let from = from.parse().map_err(|_| Misconfigured::From)?;
        Ok(Self { transport: builder.build(), from, links, is_encrypted })
    }
}

/// Omits the transport, which holds a password.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("links", &self.links).finish_non_exhaustive()
    }
}

/// The fault in the settings, without their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Misconfigured {
    #[error(
        "SMTP_URL must look like smtps://user:password@host:465, smtp://user:password@host:587?tls=required or smtp://host:25, \
         with letters such as @ and / of a password percent-encoded"
    )]
    SmtpUrl,
    #[error("SMTP_URL has a password and no encryption: use smtps://… or …?tls=required")]
    PlainPassword,
    #[error("MAIL_FROM must look like noreply@play.example or Mancala <noreply@play.example>")]
    From,
    #[error(
        "EMAIL_VERIFY_URL and EMAIL_RESET_URL must be URLs with one {{token}}, such as https://play.example/reset?token={{token}}"
    )]
    Link,
    #[error("with SMTP_URL set, PUBLIC_URL is needed for the links in mails, such as https://play.example")]
    PublicUrl,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links() -> Links {
        Links::new("https://play.example/mancala", None, None).expect("links")
    }

    #[test]
    fn links_lead_to_the_servers_pages_or_to_those_of_an_app() {
        assert_eq!(links().verify("a_b"), "https://play.example/mancala/email/verify?token=a_b");
        assert_eq!(links().reset("a_b"), "https://play.example/mancala/email/reset?token=a_b");
        let of = |reset| Links::new("https://play.example", None, Some(reset));
        assert_eq!(
            of("https://app.example/#/reset/{token}").expect("a link").reset("a"),
            "https://app.example/#/reset/a"
        );
        for wrong in ["https://app.example/reset", "javascript:{token}", "{token}", "https://a.example/{token}{token}"]
        {
            assert_eq!(of(wrong), Err(Misconfigured::Link), "{wrong}");
        }
    }

    #[test]
    fn settings_are_refused_without_telling_the_password() {
        fn of(url: &str, from: &str) -> Result<String, Misconfigured> {
            Settings::new(url, from, links()).map(|settings| format!("{settings:?}"))
        }
        let good = [
            "smtps://ana:s3cret@mail.example",
            "smtp://ana:s3cret@mail.example:587?tls=required",
            "smtp://10.0.0.7:25",
        ];
        for url in good {
            assert!(!of(url, "Mancala <noreply@play.example>").expect("settings").contains("s3cret"), "{url}");
        }
        assert_eq!(of("smtp://ana:s3cret@mail.example", "a@play.example"), Err(Misconfigured::PlainPassword));
        for tls in ["opportunistic", "opportunistic&tls=required", "required&tls=no", ""] {
            let url = format!("smtp://ana:s3cret@mail.example?tls={tls}");
            assert_eq!(of(&url, "a@play.example"), Err(Misconfigured::SmtpUrl), "{tls}");
        }
        for url in
            ["", "mail.example", "https://mail.example", "smtps://:s3cret@mail.example", "smtps://ana@mail.example"]
        {
            assert_eq!(of(url, "a@play.example"), Err(Misconfigured::SmtpUrl), "{url}");
        }
        assert_eq!(of("smtp://mail.example", "Mancala"), Err(Misconfigured::From));
        assert_eq!(of("smtp://mail.example", "a@b.example\r\nBcc: c@d.example"), Err(Misconfigured::From));
    }
}
