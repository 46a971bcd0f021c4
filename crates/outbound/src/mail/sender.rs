//! Sends a mail by SMTP. The server is the operator's, and may be anywhere.

use std::time::Duration;

use lettre::{
    AsyncTransport, Message,
    address::Address,
    message::{
        Mailbox,
        header::{ContentType, HeaderName, HeaderValue},
    },
    transport::smtp::{Error, response::Severity},
};
use mancala_domain::EmailAddress;
use tokio::time::timeout;

use super::{
    settings::{Links, Settings},
    texts::Letter,
};

/// How long a whole attempt may take: servers look through a mail before they take it.
const TIMEOUT: Duration = Duration::from_mins(2);

/// The replies of a server to a client that signs in wrongly or without encryption: the fault is of the settings, not of the mail.
const OF_SETTINGS: [u16; 5] = [502, 503, 530, 534, 535];

/// Sends mails.
#[derive(Debug)]
pub struct Sender(Settings);

/// The reason why a mail was not sent. The reason names no address, although servers do in their replies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsent {
    /// The server refuses it for good, with this reply.
    Refused(u16),
    /// The server refuses it for now, with this reply.
    PutOff(u16),
    /// The server was not reached, or says that the settings are wrong.
    Unreachable(String),
    /// The exchange has broken off. The server may have taken the mail.
    Unknown(String),
}

impl Sender {
    pub const fn new(settings: Settings) -> Self {
        Self(settings)
    }

    /// Where the links of its mails lead.
    pub const fn links(&self) -> &Links {
        &self.0.links
    }

    /// Sends a mail, and waits until the server has taken it.
    pub async fn send(&self, letter: &Letter) -> Result<(), Unsent> {
        let message =
            self.message(letter).ok_or_else(|| Unsent::Unreachable("the mail cannot be written".to_owned()))?;
        match timeout(TIMEOUT, self.0.transport.send(message)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(unsent(&error)),
            Err(_) => Err(Unsent::Unknown("the server takes too long".to_owned())),
        }
    }

    fn message(&self, letter: &Letter) -> Option<Message> {
        let automatic = HeaderValue::new(HeaderName::new_from_ascii_str("Auto-Submitted"), "auto-generated".to_owned());
        let message = Message::builder()
            .from(self.0.from.clone())
            .to(Mailbox::new(None, address(&letter.recipient)?))
            .subject(letter.subject.as_str())
            .message_id(Some(format!("<{}@{}>", letter.id, self.0.from.email.domain())))
            // So that no absence assistant answers it.
            .raw_header(automatic)
            .header(ContentType::TEXT_PLAIN)
            .body(letter.text.clone());
        message.ok()
    }
}

fn address(address: &EmailAddress) -> Option<Address> {
    address.as_str().parse().ok()
}

/// The meaning of a failure. The text of a reply may name the address, so only its number is logged.
fn unsent(error: &Error) -> Unsent {
    let Some(code) = error.status() else {
        // The text may repeat the server's words.
        let cause =
            if error.is_response() { "the server's answer cannot be read".to_owned() } else { error.to_string() };
        // Only these failures certainly come before the mail is sent.
        let is_before = error.is_tls() || error.is_client() || cause.to_lowercase().starts_with("connection error");
        return if is_before { Unsent::Unreachable(cause) } else { Unsent::Unknown(cause) };
    };
    let number = u16::from(code);
    match code.severity {
        _ if OF_SETTINGS.contains(&number) => {
            Unsent::Unreachable(format!("the server replies {number}: it wants other credentials or encryption"))
        }
        Severity::PermanentNegativeCompletion => Unsent::Refused(number),
        _ => Unsent::PutOff(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_of_an_account_can_be_sent_to() {
        for local in ["ana", "a.b+c", "!#$%&'*+-/=?^_`{|}~", &"a".repeat(64)] {
            for domain in ["play.example", "xn--bcher-kva.example", "a-b.c9.example"] {
                let of_account = EmailAddress::new(local, domain).expect("an address");
                assert_eq!(address(&of_account).expect("it can").to_string(), of_account.as_str());
            }
        }
    }
}
