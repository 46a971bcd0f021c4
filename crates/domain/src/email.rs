//! E-mail addresses of accounts, and the kinds of mail. Does not know how mail is written or sent.

use std::fmt;

use thiserror::Error;

/// The longest address, in bytes (RFC 5321, with the brackets of a path taken off).
const BYTES_MAX: usize = 254;

/// The longest part before the `@`.
const LOCAL_BYTES_MAX: usize = 64;

/// The longest part of a domain between two dots.
const LABEL_BYTES_MAX: usize = 63;

/// The characters that are allowed before the `@`, beside letters, digits and single dots (RFC 5322, `atext`).
const LOCAL_MARKS: &[u8] = b"!#$%&'*+-/=?^_`{|}~";

/// An address to which mail can be sent: ASCII, without quotes, and with a DNS name in small letters after the `@`. So a header or a
/// command of SMTP can have it unchanged.
///
/// `Debug` hides the address from the log.
#[derive(Clone, PartialEq, Eq)]
pub struct EmailAddress(String);

impl EmailAddress {
    /// An address of its two parts. The domain is in ASCII.
    pub fn new(local: &str, domain: &str) -> Result<Self, EmailAddressError> {
        let is_atom = |atom: &str| {
            !atom.is_empty() && atom.bytes().all(|byte| byte.is_ascii_alphanumeric() || LOCAL_MARKS.contains(&byte))
        };
        let is_label = |label: &str| {
            (1..=LABEL_BYTES_MAX).contains(&label.len())
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        if local.len() > LOCAL_BYTES_MAX || local.len() + 1 + domain.len() > BYTES_MAX {
            return Err(EmailAddressError::Length);
        }
        if !local.split('.').all(is_atom) {
            return Err(EmailAddressError::Local);
        }
        if !domain.contains('.') || !domain.split('.').all(is_label) {
            return Err(EmailAddressError::Domain);
        }
        Ok(Self(format!("{local}@{}", domain.to_ascii_lowercase())))
    }

    /// A stored address, which was accepted before.
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form by which an address is found and compared. Case before the `@` makes no difference, because servers ignore it.
    pub fn key(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

impl fmt::Debug for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EmailAddress")
    }
}

/// Why a text is no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EmailAddressError {
    /// The address is too long.
    #[error("has at most {BYTES_MAX} characters, {LOCAL_BYTES_MAX} of them before the @")]
    Length,
    /// The part before the `@`.
    #[error("has letters of ASCII, digits, single dots and !#$%&'*+-/=?^_`{{|}}~ before the @")]
    Local,
    /// The part after the `@`.
    #[error("has the name of a domain behind the @, such as ana@play.example")]
    Domain,
}

/// The subject of a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailKind {
    /// The link that confirms an address.
    VerifyEmail,
    /// The link by which a password is set anew.
    ResetPassword,
    /// The password has changed.
    PasswordChanged,
    /// Another address has taken the place of this one.
    EmailChanged,
    /// The account has no address any more.
    EmailRemoved,
    /// The account has another recovery code.
    RecoveryCodeChanged,
    /// The account got another identity, with which a person can sign in through an issuer.
    IdentityLinked,
    /// The account has lost an identity.
    IdentityUnlinked,
    /// The account was erased.
    AccountErased,
}

impl MailKind {
    /// Every kind.
    pub const ALL: [MailKind; 9] = [
        MailKind::VerifyEmail,
        MailKind::ResetPassword,
        MailKind::PasswordChanged,
        MailKind::EmailChanged,
        MailKind::EmailRemoved,
        MailKind::RecoveryCodeChanged,
        MailKind::IdentityLinked,
        MailKind::IdentityUnlinked,
        MailKind::AccountErased,
    ];

    /// The word for it in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            MailKind::VerifyEmail => "verify_email",
            MailKind::ResetPassword => "reset_password",
            MailKind::PasswordChanged => "password_changed",
            MailKind::EmailChanged => "email_changed",
            MailKind::EmailRemoved => "email_removed",
            MailKind::RecoveryCodeChanged => "recovery_code_changed",
            MailKind::IdentityLinked => "identity_linked",
            MailKind::IdentityUnlinked => "identity_unlinked",
            MailKind::AccountErased => "account_erased",
        }
    }

    /// The kind of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_kept_and_compared_without_regard_to_capitals() {
        let address = EmailAddress::new("Ana.Maria+play", "Play.Example").expect("an address");
        assert_eq!(address.as_str(), "Ana.Maria+play@play.example");
        assert_eq!(address.key(), "ana.maria+play@play.example");
        assert_eq!(format!("{address:?}"), "EmailAddress");
        for kind in MailKind::ALL {
            assert_eq!(MailKind::of_word(kind.as_str()), Some(kind));
        }
    }

    #[test]
    fn what_would_end_a_header_or_a_command_is_no_address() {
        for local in
            ["", "a b", "a\r\nBcc: b", "a\n", "\"a\"", "a>", "<a", "a@b", "a..b", ".a", "a.", "ä", "a,b", "a:b"]
        {
            assert_eq!(EmailAddress::new(local, "play.example"), Err(EmailAddressError::Local), "{local:?}");
        }
        for domain in ["", "example", "a..example", "-a.example", "a-.example", "a_b.example", "a.example\r\n", "a b.c"]
        {
            assert_eq!(EmailAddress::new("ana", domain), Err(EmailAddressError::Domain), "{domain:?}");
        }
        let domain = format!("{}.{}.{}.example", "a".repeat(63), "b".repeat(63), "c".repeat(63));
        assert!(EmailAddress::new(&"a".repeat(53), &domain).is_ok());
        assert_eq!(EmailAddress::new(&"a".repeat(55), &domain), Err(EmailAddressError::Length));
        assert_eq!(EmailAddress::new(&"a".repeat(65), "play.example"), Err(EmailAddressError::Length));
        assert_eq!(EmailAddress::new("a", &format!("{}.example", "a".repeat(64))), Err(EmailAddressError::Domain));
    }
}
