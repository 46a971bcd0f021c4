//! Sets up mail from the options.

use mancala_server::{
    config::Serve,
    mail::{Links, Misconfigured, Sender, Settings},
};

use super::failure::Failure;

/// The sender of mails; `None` if the options name no SMTP server.
pub fn sender(options: &Serve) -> Result<Option<Sender>, Failure> {
    let mail = &options.mail;
    let Some(smtp_url) = &mail.smtp_url else { return Ok(None) };
    let set_up = || {
        let public_url = options.public_url.as_deref().ok_or(Misconfigured::PublicUrl)?;
        let links = Links::new(public_url, mail.email_verify_url.as_deref(), mail.email_reset_url.as_deref())?;
        let from = mail.mail_from.as_deref().ok_or(Misconfigured::From)?;
        Settings::new(smtp_url, from, links)
    };
    let settings = set_up().map_err(Failure::misuse)?;
    Ok(Some(Sender::new(settings)))
}
