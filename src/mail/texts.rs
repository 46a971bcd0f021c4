//! The texts of mails: plain, short, in English.

use super::settings::Links;
use crate::domain::{EmailAddress, MailKind};

/// A mail before it is put into its form on the wire.
#[derive(Clone, Debug)]
pub struct Letter {
    /// The same for every attempt, so that a mailbox can tell that it has the mail already.
    pub id: String,
    pub recipient: EmailAddress,
    pub(super) subject: String,
    pub(super) text: String,
}

/// What a mail is about. Those that go to an address that is not confirmed have no name of a player in them, which would carry words of a stranger.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// The link that confirms the address.
    Verify { token: &'a str },
    /// The address is another account's already.
    InUse,
    /// The link by which the account's password is set anew.
    Reset { token: &'a str, player: &'a str },
    /// What has happened to an account.
    Notice { kind: MailKind, player: &'a str },
}

impl Letter {
    pub fn new(id: String, recipient: EmailAddress, subject: Subject<'_>, links: &Links) -> Self {
        let site = links.site();
        let (subject, text) = match subject {
            Subject::Verify { token } => (
                format!("Confirm your e-mail address for {site}"),
                format!(
                    "This address was entered for an account of {site}. To confirm it, open\n\n{}\n\n\
                     within 24 hours. If that was not you, do nothing: the address is not used.\n",
                    links.verify(token)
                ),
            ),
            Subject::InUse => (
                format!("Your e-mail address at {site}"),
                format!(
                    "This address was entered for an account of {site}, but it belongs to another account there \
                     already, so nothing has changed.\nIf that was you, sign in to that account, or set its password \
                     anew by this address. Otherwise do nothing.\n"
                ),
            ),
            Subject::Reset { token, player } => (
                format!("Set a new password for {site}"),
                format!(
                    "To set a new password for the account \"{player}\" of {site}, open\n\n{}\n\n\
                     within an hour. If you have not asked for it, do nothing: the password stays as it is.\n",
                    links.reset(token)
                ),
            ),
            Subject::Notice { kind, player } => notice(kind, player, site),
        };
        Self { id, recipient, subject, text }
    }
}

fn notice(kind: MailKind, player: &str, site: &str) -> (String, String) {
    let (subject, what, then) = match kind {
        MailKind::EmailChanged => (
            "Another e-mail address",
            "has another e-mail address now, in place of this one",
            "write to the operator of the service at once",
        ),
        MailKind::EmailRemoved => (
            "Your e-mail address was removed",
            "has no e-mail address any more: this one was removed",
            "write to the operator of the service at once",
        ),
        // The links have texts of their own.
        MailKind::PasswordChanged | MailKind::VerifyEmail | MailKind::ResetPassword => {
            ("Your password has changed", "has a new password", "ask for a link to this address that sets another one")
        }
    };
    (
        format!("{subject} at {site}"),
        format!("The account \"{player}\" of {site} {what}.\nIf that was not you, {then}.\n"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mail_says_what_it_is_about_and_strangers_words_stay_out() {
        let links = Links::new("https://play.example", None, None).expect("links");
        let to = EmailAddress::new("ana", "mail.example").expect("an address");
        let letter = |subject| Letter::new("1".to_owned(), to.clone(), subject, &links);
        let verify = letter(Subject::Verify { token: "abc" });
        assert!(verify.text.contains("\n\nhttps://play.example/email/verify?token=abc\n\n"), "{}", verify.text);
        let reset = letter(Subject::Reset { token: "abc", player: "Ana" });
        assert!(reset.text.contains("\"Ana\"") && reset.text.contains("/email/reset?token=abc\n"), "{}", reset.text);
        assert!(!letter(Subject::InUse).text.contains("http"));
        for kind in [MailKind::PasswordChanged, MailKind::EmailChanged, MailKind::EmailRemoved] {
            let notice = letter(Subject::Notice { kind, player: "Ana" });
            assert!(notice.text.contains("\"Ana\"") && notice.subject.ends_with("play.example"), "{}", notice.text);
            assert!(!notice.text.contains("http"));
        }
    }
}
