//! The route table. The OpenAPI document is derived from it, so both hold the same routes.

use std::future::ready;

use actix_web::{
    App, HttpRequest, HttpResponse,
    dev::HttpServiceFactory,
    guard,
    web::{self, Data, Path, ServiceConfig},
};
use mancala_http::{
    answer::problem::Problem,
    paths,
    request::{conditional::IfNoneMatch, reader::Page},
};
use mancala_http_games::{
    events::{game_events, player_events, tickets},
    games::{create, invitations, lifecycle, list, moves, offers, positions, seek},
    records::{export, import, list_export, my_imports, verify},
    study::{
        analyses, explorer, hints, notes,
        pictures::{boards, graphs},
        share::game_page,
    },
    variants::{catalog, line},
    webhooks::{deliveries, endpoints, received},
};
use mancala_http_players::{
    apps::{app, exchange, players as app_players, tokens as app_tokens},
    email::{my_email, pages as email_pages, resets, verification},
    operators, personal_export,
    players::{
        blocks, friends, me, merge, mutes, people, profiles, recovery, reports, sign_ins, stats, summary, tokens,
    },
    push::{devices, offer, settings},
    sign_in::{begin, complete, identities},
};
use utoipa::OpenApi;
use utoipa_actix_web::{AppExt, OpenApiFactory, scope, service_config::ServiceConfig as DocumentedConfig};

use super::{
    docs::{DOCUMENT, DOCUMENT_3_0, Documentation, FOLDER},
    openapi::{self, Document, downgrade},
    operation::{health, problems},
    page,
};

/// Every route of the service.
fn routes(routes: &mut Routes<'_, '_>) {
    routes
        .scope("/v1", v1)
        .service(game_page::get_game_page)
        .service(problems::get_problem)
        .service(tokens::get_jwks)
        .service(health::get_liveness)
        .service(health::get_readiness);
}

fn v1(routes: &mut Routes<'_, '_>) {
    routes
        // The most frequent stand first, because a request is matched against one after the other.
        .service(moves::play_move)
        // This route comes before `get_game`, whose pattern matches the path too.
        .service(list_export::export_games)
        .service(lifecycle::get_game)
        .service(moves::list_moves)
        .service(positions::get_position)
        .service(list::list_games)
        .service(explorer::get_explorer)
        .service(export::export_game)
        .service(import::import_games)
        .service(my_imports::list_imports)
        .service(my_imports::delete_imports)
        .service(my_imports::delete_game)
        .service(verify::verify_game)
        .service(analyses::analyse_game)
        .service(analyses::get_analysis)
        .service(hints::get_hint)
        .service(game_events::list_events)
        .service(profiles::create_player)
        .service(profiles::get_player)
        .service(stats::get_player_stats)
        .service(me::get_me)
        .service(me::update_me)
        .service(me::delete_me)
        .service(sign_ins::list_sign_ins)
        .service(sign_ins::delete_sign_ins)
        .service(sign_ins::delete_sign_in)
        .service(recovery::renew_recovery_code)
        .service(merge::merge_guest)
        .service(personal_export::export_me)
        .service(summary::get_summary)
        .service(player_events::list_my_events)
        .service(tickets::create_stream_ticket)
        .service(tokens::create_token)
        .service(tokens::revoke_token)
        .service(catalog::list_variants)
        .service(catalog::get_variant)
        .service(line::play_line)
        .service(create::create_game)
        .service(seek::seek_game)
        .service(lifecycle::join_game)
        .service(lifecycle::resign_game)
        .service(lifecycle::abort_game)
        .service(create::renew_join_code)
        .service(offers::make_offer)
        .service(offers::accept_offer)
        .service(offers::decline_offer)
        .service(offers::withdraw_offer)
        .configure(notes)
        .configure(social)
        .configure(sign_in)
        .configure(email)
        .configure(pictures)
        .configure(webhooks)
        .configure(push)
        .configure(operators)
        .configure(apps);
}

fn notes(routes: &mut Routes<'_, '_>) {
    routes.service(notes::list_notes).service(notes::write_note).service(notes::delete_note);
}

fn social(routes: &mut Routes<'_, '_>) {
    routes
        .service(invitations::decline_invitation)
        .service(invitations::list_invitations)
        .service(blocks::create_block)
        .service(blocks::delete_block)
        .service(blocks::list_blocks)
        .service(mutes::create_mute)
        .service(mutes::delete_mute)
        .service(mutes::list_mutes)
        .service(reports::create_report)
        .service(friends::create_friend)
        .service(friends::delete_friend)
        .service(friends::list_friends)
        .service(people::list_players)
        .service(people::list_opponents);
}

fn sign_in(routes: &mut Routes<'_, '_>) {
    routes
        .service(begin::list_issuers)
        .service(begin::begin_sign_in)
        .service(complete::complete_sign_in)
        .service(identities::list_identities)
        .service(identities::link_identity)
        .service(identities::delete_identity);
}

fn email(routes: &mut Routes<'_, '_>) {
    routes
        .service(my_email::get_my_email)
        .service(my_email::write_my_email)
        .service(verification::verify_email)
        .service(resets::get_password_reset)
        .service(resets::create_password_reset)
        .service(resets::reset_password);
}

fn pictures(routes: &mut Routes<'_, '_>) {
    routes
        .service(boards::get_board_picture)
        .service(boards::get_board_png)
        .service(graphs::get_game_graph)
        .service(graphs::get_game_graph_png)
        .service(boards::get_variant_board_picture)
        .service(boards::get_variant_board_png);
}

fn webhooks(routes: &mut Routes<'_, '_>) {
    routes
        .service(endpoints::create_webhook)
        .service(endpoints::list_webhooks)
        .service(endpoints::get_webhook)
        .service(endpoints::update_webhook)
        .service(endpoints::delete_webhook)
        .service(endpoints::rotate_webhook_secret)
        .service(endpoints::verify_webhook)
        .service(deliveries::ping_webhook)
        .service(deliveries::list_webhook_deliveries)
        .service(deliveries::redeliver_webhook);
}

fn push(routes: &mut Routes<'_, '_>) {
    routes
        .service(offer::get_push)
        .service(devices::create_device)
        .service(devices::list_devices)
        .service(devices::delete_device)
        .service(settings::get_push_settings)
        .service(settings::write_push_settings);
}

fn operators(routes: &mut Routes<'_, '_>) {
    routes
        .service(operators::reports::list_reports)
        .service(operators::reports::get_reported_game)
        .service(operators::reports::close_report)
        .service(operators::players::inspect_player)
        .service(operators::players::act_on_player)
        .service(operators::acts::list_operator_acts);
}

fn apps(routes: &mut Routes<'_, '_>) {
    routes
        .service(app::get_app)
        .service(app_players::list_app_players)
        .service(app_players::write_app_player)
        .service(app_players::get_app_player)
        .service(app_players::delete_app_player)
        .service(app_tokens::create_app_player_token)
        .service(exchange::exchange_token);
}

/// The target to which the route table is written.
enum Routes<'a, 'c> {
    /// A worker of the server.
    Served(&'a mut ServiceConfig),
    /// The OpenAPI document. Building the schemas takes hundreds of times as long as registering the routes.
    Documented(&'a mut DocumentedConfig<'c>),
}

impl Routes<'_, '_> {
    fn service(&mut self, route: impl HttpServiceFactory + OpenApiFactory + 'static) -> &mut Self {
        match self {
            Self::Served(config) => {
                config.service(route);
            }
            Self::Documented(config) => {
                config.service(route);
            }
        }
        self
    }

    /// Adds routes below a prefix.
    fn scope(&mut self, prefix: &str, add: fn(&mut Routes<'_, '_>)) -> &mut Self {
        match self {
            Self::Served(config) => {
                config.service(web::scope(prefix).configure(|config| add(&mut Routes::Served(config))));
            }
            Self::Documented(config) => {
                config.service(scope(prefix).configure(|config| add(&mut Routes::Documented(config))));
            }
        }
        self
    }

    fn configure(&mut self, add: fn(&mut Routes<'_, '_>)) -> &mut Self {
        add(self);
        self
    }
}

/// The OpenAPI document of the routes.
pub fn document() -> utoipa::openapi::OpenApi {
    let (_, mut document) = App::new()
        .into_utoipa_app()
        .openapi(Document::openapi())
        .configure(|config| routes(&mut Routes::Documented(config)))
        .split_for_parts();
    received::add(&mut document);
    let mut document = openapi::complete(document);
    received::complete(&mut document);
    document
}

/// The document in OpenAPI 3.0.
pub fn document_3_0() -> serde_json::Value {
    downgrade(serde_json::to_value(document()).expect("a document is JSON"))
}

/// Adds the routes, the page for people, the pages of the documentation, and the handler for all other requests.
pub fn configure(config: &mut ServiceConfig, documentation: &Data<Documentation>, page: Page) {
    routes(&mut Routes::Served(config));
    if page == Page::Served {
        page::configure(config);
    }
    email_pages::configure(config);
    config
        .app_data(documentation.clone())
        .app_data(page)
        .service(web::resource(DOCUMENT).guard(guard::Get()).to(show_document))
        .service(web::resource(DOCUMENT_3_0).guard(guard::Get()).to(show_document_3_0))
        .service(web::resource("/docs").guard(guard::Get()).to(async || web::Redirect::to("/docs/")))
        .service(web::resource(FOLDER).guard(guard::Get()).to(show_page))
        .default_service(web::to(|request: HttpRequest| ready(unknown(&request))));
}

async fn show_document(request: HttpRequest, documentation: Data<Documentation>, known: IfNoneMatch) -> HttpResponse {
    documentation.document(&request, &known)
}

async fn show_document_3_0(
    request: HttpRequest,
    documentation: Data<Documentation>,
    known: IfNoneMatch,
) -> HttpResponse {
    documentation.document_3_0(&request, &known)
}

async fn show_page(
    request: HttpRequest,
    documentation: Data<Documentation>,
    page: Path<String>,
    known: IfNoneMatch,
) -> Result<HttpResponse, Problem> {
    documentation.page(&page, &request, &known).or_else(|problem| page::not_found(&request, problem))
}

/// Refuses a request that matches no route: a wrong method of a known path, or an unknown path. A page that is not served is
/// unknown. Browsers get the page, except below `/v1`.
fn unknown(request: &HttpRequest) -> Result<HttpResponse, Problem> {
    let path = request.match_info().as_str();
    let nothing = Problem::not_found("there is nothing at this address");
    match paths::find(path) {
        Some(path) if !path.knows(request.method()) => Err(Problem::method_not_allowed(path.allow.clone())),
        None if !path.starts_with("/v1/") => page::not_found(request, nothing),
        _ => Err(nothing),
    }
}
