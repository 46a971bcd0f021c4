//! The options of mail. They are checked where mail is set up: an error of a parser here would show the value.

use std::fmt;

use clap::Args;

/// How mail is sent. Without an SMTP server none is.
#[derive(Args)]
pub struct Mail {
    /// The SMTP server that takes mail, such as `smtps://user:password@mail.example:465`,
    /// `smtp://user:password@mail.example:587?tls=required` (STARTTLS) or, without encryption and password,
    /// `smtp://10.0.0.7:25`. Needs `PUBLIC_URL` and `MAIL_FROM`. Unless set, accounts have no e-mail addresses, and the
    /// API says so
    #[arg(long, env, global = true, hide_env_values = true, value_name = "URL")]
    pub smtp_url: Option<String>,

    /// The sender of mails, such as `Mancala <noreply@play.example>`
    #[arg(long, env, global = true, value_name = "ADDRESS")]
    pub mail_from: Option<String>,

    /// The page to which links lead that confirm an address, with `{token}` in it. Unless set, a page of the server below `PUBLIC_URL`
    #[arg(long, env, global = true, value_name = "URL")]
    pub email_verify_url: Option<String>,

    /// The page to which links lead that set a new password, with `{token}` in it. Unless set, a page of the server below `PUBLIC_URL`
    #[arg(long, env, global = true, value_name = "URL")]
    pub email_reset_url: Option<String>,
}

/// Hides the URL of the SMTP server, which may hold a password.
impl fmt::Debug for Mail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { smtp_url, mail_from, email_verify_url, email_reset_url } = self;
        let mut shown = f.debug_struct("Mail");
        shown.field("smtp_url", &smtp_url.as_ref().map(|_| "…")).field("mail_from", mail_from);
        shown.field("email_verify_url", email_verify_url).field("email_reset_url", email_reset_url).finish()
    }
}
