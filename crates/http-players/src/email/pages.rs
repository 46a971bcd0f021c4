//! The pages to which links in mails lead, unless an app has pages of its own. Scanners of mail open links, so a page only shows a button,
//! and nothing happens before it is pressed. They run no script, and are no part of the API.

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder, guard,
    http::header,
    web::{self, Data},
};
use askama::Template;
use serde::Deserialize;

use super::{resets::set_password, restoration::restore, verification::verify};
use mancala_http::{
    answer::{code::Code, problem::Problem},
    request::form::Form,
    state::AppState,
};

use crate::players::me::leftovers;

/// The paths of the pages.
const VERIFY: &str = "/email/verify";
const RESET: &str = "/email/reset";
const RESTORE: &str = "/email/restore";

/// The policy of the pages: they have their styles in themselves, send their form to this server, and load and run nothing.
const PAGE_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// The longest token that a form repeats. Every valid token is shorter.
const TOKEN_BYTES_MAX: usize = 100;

/// Adds the pages.
pub fn configure(config: &mut web::ServiceConfig) {
    config
        .service(
            web::resource(VERIFY)
                .guard(guard::Get())
                .to(async |request: HttpRequest| show(&asking(Link::Verify, &request))),
        )
        .service(web::resource(VERIFY).guard(guard::Post()).to(confirm))
        .service(
            web::resource(RESET)
                .guard(guard::Get())
                .to(async |request: HttpRequest| show(&asking(Link::Reset, &request))),
        )
        .service(web::resource(RESET).guard(guard::Post()).to(set))
        .service(
            web::resource(RESTORE)
                .guard(guard::Get())
                .to(async |request: HttpRequest| show(&asking(Link::Restore, &request))),
        )
        .service(web::resource(RESTORE).guard(guard::Post()).to(take_back));
}

/// The purpose of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    Verify,
    Reset,
    Restore,
}

/// The values of a page.
#[derive(Template)]
#[template(path = "email_page.html")]
struct EmailPage {
    title: &'static str,
    text: String,
    /// The form, if there is something to press.
    form: Option<PageForm>,
}

struct PageForm {
    /// The last part of the page's own path: the page may be below another path at a proxy.
    action: &'static str,
    token: String,
    asks_password: bool,
    button: &'static str,
}

/// The body that a form with only a button sends.
#[derive(Deserialize)]
struct ButtonForm {
    token: String,
}

#[derive(Deserialize)]
struct ResetForm {
    token: String,
    password: String,
    /// The state of a checkbox; absent if it is not ticked.
    unlink_identities: Option<String>,
}

/// The page that asks to press its button.
fn asking(link: Link, request: &HttpRequest) -> EmailPage {
    let mut parameters = form_urlencoded::parse(request.query_string().as_bytes());
    let token = parameters.find(|(name, _)| name == "token").map(|(_, token)| token.into_owned());
    token.filter(|token| token.len() <= TOKEN_BYTES_MAX).map_or_else(void, |token| match link {
        Link::Verify => EmailPage {
            title: "Confirm your e-mail address",
            text: "Press the button to confirm the address for your account.".to_owned(),
            form: Some(PageForm { action: "verify", token, asks_password: false, button: "Confirm" }),
        },
        Link::Reset => {
            of_reset("Choose a new password of 8 to 128 characters. It signs you out everywhere.".to_owned(), token)
        }
        Link::Restore => EmailPage {
            title: "Take your account back",
            text: "Press the button if you did not make the change that the mail tells. It signs out all devices, makes this address \
                   the account's again, and removes recovery codes and other ways to sign in that were added since. Then you set \
                   a new password."
                .to_owned(),
            form: Some(PageForm { action: "restore", token, asks_password: false, button: "Take it back" }),
        },
    })
}

fn of_reset(text: String, token: String) -> EmailPage {
    let form = PageForm { action: "reset", token, asks_password: true, button: "Set the password" };
    EmailPage { title: "Set a new password", text, form: Some(form) }
}

fn void() -> EmailPage {
    let text = "The link is not valid, or no longer. Ask for another one.".to_owned();
    EmailPage { title: "This link leads nowhere", text, form: None }
}

async fn confirm(state: Data<AppState>, form: Form<ButtonForm>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let address = match verify(&state, &request, &form.0.token).await {
        Ok(address) => address,
        Err(problem) if problem.code() == Code::InvalidLink => return Ok(refuse(Code::InvalidLink, &void())),
        Err(problem) => return Err(problem),
    };
    let text = format!("{} is the address of your account now.", address.as_str());
    Ok(show(&EmailPage { title: "The address is confirmed", text, form: None }))
}

async fn take_back(
    state: Data<AppState>,
    form: Form<ButtonForm>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    match restore(&state, &request, &form.0.token).await {
        Ok(reset) => {
            let text = "The account is yours again, and no device is signed in. Choose a new password of 8 to 128 characters, within an \
                        hour: the one before is void.";
            Ok(show(&of_reset(text.to_owned(), reset)))
        }
        Err(problem) if problem.code() == Code::InvalidLink => Ok(refuse(Code::InvalidLink, &void())),
        Err(problem) => Err(problem),
    }
}

async fn set(state: Data<AppState>, form: Form<ResetForm>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let ResetForm { token, password, unlink_identities } = form.0;
    let leftovers = leftovers(false, unlink_identities.is_some());
    match set_password(&state, &request, &token, &password, leftovers).await {
        Ok((account, _)) => {
            let text = format!("Sign in as \"{}\" with it.", account.player.name);
            Ok(show(&EmailPage { title: "The new password is set", text, form: None }))
        }
        Err(problem) if problem.code() == Code::InvalidLink => Ok(refuse(Code::InvalidLink, &void())),
        Err(problem) if problem.code() == Code::ValidationFailed => {
            let faults = problem.into_faults();
            let detail = faults.first().map_or("is not accepted", |fault| fault.detail.as_str());
            let again = of_reset(format!("The password {detail}. Choose another one."), token);
            Ok(refuse(Code::ValidationFailed, &again))
        }
        Err(problem) => Err(problem),
    }
}

fn show(page: &EmailPage) -> HttpResponse {
    answer(HttpResponse::Ok(), page)
}

fn refuse(code: Code, page: &EmailPage) -> HttpResponse {
    let mut response = answer(HttpResponse::build(code.status()), page);
    // Other layers read the code here, because the page is no problem document.
    response.extensions_mut().insert(code);
    response
}

fn answer(mut response: HttpResponseBuilder, page: &EmailPage) -> HttpResponse {
    response
        .insert_header((header::CONTENT_SECURITY_POLICY, PAGE_POLICY))
        // The address of the page has the token.
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .content_type("text/html; charset=utf-8")
        .body(page.render().expect("a String accepts all text"))
}
