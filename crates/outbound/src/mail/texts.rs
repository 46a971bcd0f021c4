//! The texts of mails: plain, short, in English.

use mancala_domain::{EmailAddress, MailKind};

use super::settings::Links;

/// A mail before it is put into its form on the wire.
#[derive(Clone, Debug)]
pub struct Letter {
    /// Every attempt has the same id, so that a mailbox can tell that it has the mail already.
    pub id: String,
    pub recipient: EmailAddress,
    pub(super) subject: String,
    pub(super) text: String,
}

/// The subject of a mail. A mail to an address that is not confirmed names no player, because a stranger could have chosen the name.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// The link that confirms the address.
    Verify { token: &'a str },
    /// The address is another account's already.
    InUse,
    /// The link by which the account's password is set anew.
    Reset { token: &'a str, player: &'a str },
    /// The notice of a change of an account, with the link that reverts it.
    Notice { kind: MailKind, token: &'a str, player: &'a str },
    /// The account was erased, and its name with it.
    Erased,
}

impl Letter {
    pub fn new(id: String, recipient: EmailAddress, subject: Subject<'_>, links: &Links) -> Self {
        let site = links.site();
        let (subject, text) = match subject {
            Subject::Verify { token } => (
                format!("Confirm your e-mail address for {site}"),
                format!(
                    "This address was entered for an account at {site}. To confirm it, open\n\n{}\n\n\
                     within 24 hours. If that was not you, ignore this mail.\n",
                    links.verify(token)
                ),
            ),
            Subject::InUse => (
                format!("Your e-mail address at {site}"),
                format!(
                    "This address was entered for an account at {site}, but another account there has it \
                     already, so nothing has changed.\nIf that was you, sign in to that account, or reset its password \
                     with this address. Otherwise ignore this mail.\n"
                ),
            ),
            Subject::Reset { token, player } => (
                format!("Set a new password for {site}"),
                format!(
                    "To set a new password for the account \"{player}\" at {site}, open\n\n{}\n\n\
                     within an hour. If you did not ask for it, ignore this mail: the password does not change.\n",
                    links.reset(token)
                ),
            ),
            Subject::Notice { kind, token, player } => notice(kind, player, token, links),
            Subject::Erased => (
                format!("Your account at {site} was erased"),
                format!(
                    "The account of this address at {site} was erased, and cannot be brought back.\n\
                     If that was not you, write to the operator of the service.\n"
                ),
            ),
        };
        Self { id, recipient, subject, text }
    }
}

fn notice(kind: MailKind, player: &str, token: &str, links: &Links) -> (String, String) {
    let (subject, what) = match kind {
        MailKind::EmailChanged => ("Another e-mail address", "now has another e-mail address instead of this one"),
        MailKind::EmailRemoved => {
            ("Your e-mail address was removed", "no longer has an e-mail address: this one was removed")
        }
        MailKind::RecoveryCodeChanged => ("A new recovery code", "has a new recovery code"),
        MailKind::IdentityLinked => ("A way to sign in was added", "has one more way to sign in"),
        MailKind::IdentityUnlinked => ("A way to sign in was removed", "has one way to sign in less"),
        // The other kinds have texts of their own.
        MailKind::PasswordChanged | MailKind::VerifyEmail | MailKind::ResetPassword | MailKind::AccountErased => {
            ("Your password has changed", "has a new password")
        }
    };
    let (site, link) = (links.site(), links.restore(token));
    (
        format!("{subject} at {site}"),
        format!(
            "The account \"{player}\" at {site} {what}.\nIf that was you, do nothing. Otherwise open\n\n{link}\n\n\
             within 7 days. This signs out all devices, restores this address, removes the ways to sign in that were \
             added, and lets you set a new password.\n"
        ),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
        assert!(!letter(Subject::Erased).text.contains("http"));
        let notices = [
            MailKind::PasswordChanged,
            MailKind::EmailChanged,
            MailKind::EmailRemoved,
            MailKind::RecoveryCodeChanged,
            MailKind::IdentityLinked,
            MailKind::IdentityUnlinked,
        ];
        let mut subjects = BTreeSet::new();
        for kind in notices {
            let notice = letter(Subject::Notice { kind, token: "abc", player: "Ana" });
            assert!(notice.text.contains("\"Ana\"") && notice.subject.ends_with("play.example"), "{}", notice.text);
            assert!(notice.text.contains("\n\nhttps://play.example/email/restore?token=abc\n\n"), "{}", notice.text);
            subjects.insert(notice.subject);
        }
        assert_eq!(subjects.len(), notices.len());
    }
}
