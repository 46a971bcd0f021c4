//! Sets up mail from the options.

use mancala_server::{
    config::Serve,
    mail::{Links, Misconfigured, Sender, Settings},
};

use super::failure::Failure;

/// The sender of mails; `None` if the options name no SMTP server.
pub fn sender(options: &Serve) -> Result<Option<Sender>, Failure> {
    let mail = &options.mail;
    let Some(smtp_url) = &mail.smtp_url else {
        if mail.mail_from.is_some() || mail.email_verify_url.is_some() || mail.email_reset_url.is_some() {
            tracing::warn!("no mail is sent: SMTP_URL is not set, and other options of mail are");
        }
        return Ok(None);
    };
    let set_up = || {
        let public_url = options.public_url.as_deref().ok_or(Misconfigured::PublicUrl)?;
        let links = Links::new(public_url, mail.email_verify_url.as_deref(), mail.email_reset_url.as_deref())?;
        let from = mail.mail_from.as_deref().ok_or(Misconfigured::From)?;
        Settings::new(smtp_url, from, links)
    };
    let settings = set_up().map_err(Failure::misuse)?;
    if !settings.is_encrypted() {
        tracing::warn!(
            "mails with links go to the SMTP server without encryption: let it be on this machine or its own network"
        );
    }
    Ok(Some(Sender::new(settings)))
}
