//! Names: no two accounts read alike, reserved names are no player's, and names of earlier releases stay good.

use mancala_server::{db::players::name_claims, domain::PlayerName, http::new_key, jobs::names};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Row;

use crate::support::{
    app::TestApp,
    binary::{self, File},
    calls::{Guest, send, signed},
    clock::until_async,
};

const PASSWORD: &str = "correct horse";

async fn register(app: &TestApp, name: &str) -> crate::support::answer::Answer {
    app.post("/v1/players", None, &json!({"name": name, "password": PASSWORD})).await
}

#[actix_web::test]
async fn no_two_accounts_have_names_that_read_alike() {
    let app = TestApp::start().await;
    let alan = app.account("Alan Bo", PASSWORD).await;
    for name in
        ["AIan Bo", "A1an Bo", "\u{410}lan Bo", "ＡＬＡＮ ＢＯ", "Alan\u{2003}\u{412}o", "𝐀lan Bo", "alan b\u{3bf}"]
    {
        register(&app, name).await.is_problem(409, "name_taken");
        let guest = app.guest(name).await;
        app.patch("/v1/me", Some(&guest), &json!({"password": PASSWORD})).await.is_problem(409, "name_taken");
    }
    // Changes of the account itself, after which its earlier name is free.
    assert_eq!(app.patch("/v1/me", Some(&alan), &json!({"name": "AIan Bo"})).await.body["name"], "AIan Bo");
    assert_eq!(app.patch("/v1/me", Some(&alan), &json!({"name": "Cleo"})).await.body["name"], "Cleo");
    let other = register(&app, "AIan Bo").await;
    assert_eq!(other.status, 201, "{other:?}");
    app.patch("/v1/me", Some(&alan), &json!({"name": "Alan Bo"})).await.is_problem(409, "name_taken");
    let other = Guest { id: other.string("/player/id"), token: other.string("/access_token") };
    assert_eq!(app.delete_me(&other).await.status, 204);
    assert_eq!(app.patch("/v1/me", Some(&alan), &json!({"name": "Alan Bo"})).await.status, 200);
}

/// Stores accounts as an earlier release did, in the order of their ids.
async fn stored_by_earlier_release(app: &TestApp, names: &[&str]) -> Vec<String> {
    let mut ids = vec![];
    for name in names {
        let account = app.account(&format!("Temporary {}", ids.len()), PASSWORD).await;
        let key = name.parse::<PlayerName>().map_or_else(|_| name.to_lowercase(), |name| name.key());
        for statement in [
            "delete from name_claim where player_id = $1::uuid and $2 <> '' and $3 <> ''",
            "update account set name_key = $2, claims_of = null where player_id = $1::uuid and $3 <> ''",
            "update player set name = $3 where id = $1::uuid and $2 <> ''",
        ] {
            let done = sqlx::query(statement).bind(&account.id).bind(&key).bind(name).execute(&app.db).await;
            done.expect("it is stored");
        }
        ids.push(account.id);
    }
    ids
}

#[actix_web::test]
async fn accounts_that_read_alike_already_sign_in_and_change_passwords() {
    let app = TestApp::start().await;
    let alike = ["Alan", "AIan", "\u{410}lan", "A\u{16fe4}na"];
    let ids = stored_by_earlier_release(&app, &alike).await;
    let check = async |password: &str, names: &[&str]| {
        for (name, id) in names.iter().zip(&ids) {
            let answer = app.sign_in(name, password).await;
            assert_eq!((answer.status.as_u16(), answer.string("/player/id")), (200, id.clone()), "{name}");
            assert_eq!(answer.string("/player/name"), **name, "a stored name is readable");
        }
    };
    check(PASSWORD, &alike[..3]).await;
    names::claim(&app.db).await.expect("names are claimed");
    assert!(name_claims::list_unclaimed(&app.db, 10).await.expect("a list").is_empty());
    let owner = "select player_id::text from name_claim where form = 'alan'";
    let owner: String = sqlx::query_scalar(owner).fetch_one(&app.db).await.expect("a claim");
    assert_eq!(owner, ids[0], "the first one has the form");
    check(PASSWORD, &alike[..3]).await;
    for (name, id) in alike[..3].iter().zip(&ids) {
        let token = app.sign_in(name, PASSWORD).await.string("/access_token");
        let changed = json!({"password": "battery staple"});
        let answer = app.patch("/v1/me", Some(&Guest { id: id.clone(), token }), &changed).await;
        assert_eq!(answer.status, 200, "{name} {answer:?}");
    }
    check("battery staple", &alike[..3]).await;
    register(&app, "A1an").await.is_problem(409, "name_taken");
    assert_eq!(app.get(&format!("/v1/players/{}", ids[3]), None).await.body["name"], alike[3]);
}

#[actix_web::test]
async fn a_server_claims_the_names_that_an_earlier_release_stored() {
    let app = TestApp::start().await;
    stored_by_earlier_release(&app, &["Alan", "Bo"]).await;
    // An earlier release, still running, renames an account.
    let cleo = app.account("Cleo", PASSWORD).await;
    let renamed = "with account as (update account set name_key = 'dan' where player_id = $1::uuid)
        update player set name = 'Dan' where id = $1::uuid";
    sqlx::query(renamed).bind(&cleo.id).execute(&app.db).await.expect("it is renamed");
    let _running = binary::Running::start_with(&binary::url(&app), &new_key(), &[], &[]);
    let are_claimed = async || name_claims::list_unclaimed(&app.db, 1).await.expect("a list").is_empty();
    until_async("the job runs at the start", are_claimed).await;
    let rows = sqlx::query("select form from name_claim order by form").fetch_all(&app.db).await.expect("claims");
    let forms: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(forms, ["alan", "bo", "dan"]);
    register(&app, "D\u{430}n").await.is_problem(409, "name_taken");
    assert_eq!(register(&app, "Cleo").await.status, 201);
}

#[actix_web::test]
async fn reserved_names_are_neither_accounts_nor_guests() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for name in ["Computer", "Computer 3", "C0mputer-12", "deleted  PLAYER", "Admin", "\u{410}dmin", "s.u.p.p.o.r.t"] {
        for answer in [
            register(&app, name).await,
            app.post("/v1/players", None, &json!({"name": name})).await,
            app.patch("/v1/me", Some(&ana), &json!({"name": name})).await,
        ] {
            answer.is_problem(422, "validation_failed");
            assert_eq!(answer.body["errors"][0]["pointer"], "/name", "{answer:?}");
        }
    }
    // A guest whose name was reserved later keeps it, and becomes no account with it.
    let renamed = sqlx::query("update player set name = 'Support' where id = $1::uuid").bind(&ana.id);
    renamed.execute(&app.db).await.expect("it is stored");
    app.patch("/v1/me", Some(&ana), &json!({"password": PASSWORD})).await.is_problem(422, "validation_failed");
    assert_eq!(app.patch("/v1/me", Some(&ana), &json!({"name": "Support"})).await.status, 200);
    let named = app.patch("/v1/me", Some(&ana), &json!({"name": "Ana", "password": PASSWORD})).await;
    assert_eq!(named.status, 200, "{named:?}");
}

#[actix_web::test]
async fn a_new_name_is_claimed_and_the_old_one_given_up() {
    let app = TestApp::start().await;
    let zorro = app.account("Zorro", "a long pass phrase").await;
    let lookalike = async |name: &str| {
        app.post("/v1/players", None, &json!({"name": name, "password": "a long pass phrase"})).await
    };
    lookalike("Z0rro").await.is_problem(409, "name_taken");
    assert_eq!(app.patch("/v1/me", Some(&zorro), &json!({"name": "Bobby"})).await.status, 200);
    lookalike("B0bby").await.is_problem(409, "name_taken");
    assert_eq!(lookalike("Z0rro").await.status, 201);
}

#[actix_web::test]
async fn an_account_signs_in_with_a_name_that_is_refused_by_now() {
    let app = TestApp::start().await;
    app.account("Rune", "a long pass phrase").await;
    let older = "with older as (update player set name = 'ᚠᚢᚦ' where name = 'Rune' returning id) \
                 update account set name_key = 'ᚠᚢᚦ' from older where player_id = older.id";
    sqlx::query(older).execute(&app.db).await.expect("a row");
    assert_eq!(app.sign_in("ᚠᚢᚦ", "a long pass phrase").await.status, 200);
    app.sign_in(&"ᚠ".repeat(1000), "a long pass phrase").await.is_problem(401, "invalid_credentials");
}

#[actix_web::test]
async fn an_imported_game_is_not_that_of_a_reserved_name() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "a long pass phrase").await;
    let import = async |kind: &str, text: String| {
        let request = app.request(Method::POST, "/v1/games/import?visibility=public").header("content-type", kind);
        let answer = send(signed(request, Some(&ana)).body(text)).await;
        assert_eq!(answer.body["imported"], 1, "{answer:?}");
        answer.string("/items/0/game_id")
    };
    let south = async |id: &str| {
        let seat = app.get_game(id, None).await.body["seats"]["south"].clone();
        (seat["name"].as_str().unwrap_or_default().to_owned(), seat["kind"].as_str().unwrap_or_default().to_owned())
    };
    let expected = ("Computer 3 (elsewhere)".to_owned(), "imported".to_owned());
    let record = "[Variant \"kalah\"]\n[South \"Computer 3\"]\n[North \"Ana\"]\n\n1. A *\n";
    let id = import("text/plain", record.to_owned()).await;
    assert_eq!(south(&id).await, expected);
    // Games against the computer are exported and imported again, any number of times.
    let level = json!({"variant": "kalah", "side": "north", "opponent": {"type": "computer", "level": 3}});
    let mut id = app.created(&ana, &level).await["id"].as_str().expect("an id").to_owned();
    assert_eq!(app.get_game(&id, None).await.string("/seats/south/name"), "Computer 3");
    for format in ["json", "text", "json"] {
        let text = app.get(&format!("/v1/games/{id}/export?format={format}"), Some(&ana)).await.text;
        id = import(if format == "json" { "application/json" } else { "text/plain" }, text).await;
        assert_eq!(south(&id).await, expected, "{format}");
    }
    let svg = app.get(&format!("/v1/games/{id}/board.svg"), None).await.text;
    assert!(svg.contains("Kalah: Computer 3 (elsewhere) (imported) against Ana (imported)"), "{svg}");
    let file = File::new(record);
    let done = binary::server(&["import", file.name(), "--database-url", &binary::url(&app)]).output();
    assert!(done.expect("the binary runs").status.success());
    let names = "select count(*) from player where kind = 'imported' and name = 'Computer 3'";
    let posing: i64 = sqlx::query_scalar(names).fetch_one(&app.db).await.expect("a count");
    assert_eq!(posing, 0);
}

#[actix_web::test]
async fn a_password_that_is_guessed_at_once_is_refused() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana Maria").await;
    for password in ["password", "PassWord", "12345678", "qwertyuiop", "ana maria", "Ana Maria1987", "short"] {
        for answer in [
            app.post("/v1/players", None, &json!({"name": "Ana Maria", "password": password})).await,
            app.patch("/v1/me", Some(&ana), &json!({"password": password})).await,
            app.patch("/v1/me", Some(&app.guest("Bo").await), &json!({"name": "Ana Maria", "password": password}))
                .await,
        ] {
            answer.is_problem(422, "validation_failed");
            assert_eq!(answer.body["errors"][0]["pointer"], "/password", "{password} {answer:?}");
            assert!(!answer.text.contains(password) || password == "password", "a password is not repeated");
        }
    }
    assert_eq!(app.patch("/v1/me", Some(&ana), &json!({"password": PASSWORD})).await.status, 200);
}

/// The document's schemas of a player have a kind beside the name.
#[test]
fn wherever_a_player_is_named_the_kind_stands_beside_the_name() {
    let document: Value =
        serde_json::from_str(include_str!("../../../openapi/openapi.json")).expect("the document is JSON");
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    let named = schemas.iter().filter(|(_, schema)| {
        let has = |name: &str| !schema["properties"][name].is_null();
        has("name") && has("id")
    });
    // An issuer of sign-ins has both, and is no player.
    let named: Vec<_> = named.filter(|(name, _)| *name != "Issuer").collect();
    assert!(named.len() >= 2, "the player and the profile");
    for (name, schema) in named {
        assert!(schema["required"].as_array().expect("a list").contains(&json!("kind")), "{name}");
    }
}
