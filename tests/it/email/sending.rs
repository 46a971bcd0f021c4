//! The outbox: what is tried again, what is given up, and what an SMTP server that is away does not delay.

use std::{net::TcpListener, time::Instant};

use mancala_server::{
    db::email::{
        self,
        outbox::{self, LinkKind},
    },
    jobs::mail::{round, run},
};
use time::Duration;
use tokio_util::sync::CancellationToken;

use super::steps::{PASSWORD, ask, set, start, verified, verify};
use crate::support::{
    app::TestApp,
    clock::{now, until_async},
    database::count_rows,
    scrape::sample,
    smtp::settings_for,
};

/// The number of attempts of the only mail, and whether it is due.
async fn state(app: &TestApp) -> Option<(i32, bool)> {
    let state = sqlx::query_as("select attempts, next_attempt_at <= now() from mail");
    state.fetch_optional(&app.db).await.expect("an answer")
}

async fn make_due(app: &TestApp) {
    sqlx::query("update mail set next_attempt_at = now() - interval '1 minute'")
        .execute(&app.db)
        .await
        .expect("it is due");
}

#[actix_web::test]
async fn a_temporary_refusal_is_tried_again_and_a_lasting_one_is_not() {
    let (app, smtp) = start().await;
    let ana = app.account("Ana", PASSWORD).await;
    set(&app, &ana, "ana@mail.example").await;
    smtp.will(&["451 later", "421 busy", "550 no such mailbox"]);
    for attempts in [1, 2] {
        assert!(smtp.deliver(&app).await.is_empty());
        assert_eq!(state(&app).await, Some((attempts, false)));
        assert!(smtp.deliver(&app).await.is_empty(), "it is not due yet");
        make_due(&app).await;
    }
    assert!(smtp.deliver(&app).await.is_empty());
    assert_eq!(state(&app).await, None);
    // Refused mails do not count for the limits of the address.
    for n in 0..3 {
        set(&app, &ana, "ana@mail.example").await;
        assert_eq!(smtp.deliver(&app).await.len(), 1, "{n}");
    }
}

#[actix_web::test]
async fn every_attempt_has_a_link_of_its_own_and_all_of_them_are_good() {
    let (app, smtp) = start().await;
    let ana = app.account("Ana", PASSWORD).await;
    set(&app, &ana, "ana@mail.example").await;
    // The process dies after the server has taken the mail, before that is noted.
    let [mail] = &outbox::take(&app.db, now(), now() + Duration::MINUTE, 10).await.expect("mails")[..] else {
        panic!("one mail");
    };
    assert!(
        outbox::store_token(&app.db, mail, (LinkKind::VerifyEmail, &[1; 32]), now() + Duration::HOUR)
            .await
            .expect("an answer")
    );
    assert!(smtp.deliver(&app).await.is_empty(), "another process has it");
    make_due(&app).await;
    let again = smtp.deliver_one(&app).await;
    assert_eq!(count_rows(&app, "email_token").await, 2);
    assert_eq!(verify(&app, &again.token()).await.status, 200);
    assert_eq!(count_rows(&app, "email_token").await, 0);
}

#[actix_web::test]
async fn a_server_that_is_away_fails_no_call_and_loses_no_mail() {
    let (app, smtp) = start().await;
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let ana = verified(&app, &smtp, "Ana", "ana@mail.example").await;
    let away = settings_for(closed);
    for n in 1..=3 {
        assert_eq!(ask(&app, "ana@mail.example").await.status, 202);
        round(&app.db, &away, &CancellationToken::new()).await.expect("the database answers");
        assert_eq!(state(&app).await, Some((n, false)), "one mail, whatever was asked for meanwhile");
        make_due(&app).await;
    }
    assert_eq!(set(&app, &ana, "new@mail.example").await.status, 200);
    assert_eq!(smtp.deliver(&app).await.len(), 2);
    // The fault of settings is not the mail's: nothing is given up.
    smtp.will(&["530 authenticate first"]);
    ask(&app, "ana@mail.example").await;
    assert!(smtp.deliver(&app).await.is_empty());
    assert_eq!(state(&app).await, Some((1, false)));
}

#[actix_web::test]
async fn mails_and_requests_that_waited_too_long_are_dropped() {
    let (app, smtp) = start().await;
    let ana = verified(&app, &smtp, "Ana", "ana@mail.example").await;
    ask(&app, "ana@mail.example").await;
    let away = settings_for("127.0.0.1:1".parse().expect("an address"));
    round(&app.db, &away, &CancellationToken::new()).await.expect("an answer");
    let later = "update mail set created_at = created_at - interval '61 minutes', next_attempt_at = now() - interval '1 minute'";
    sqlx::query(later).execute(&app.db).await.expect("an hour passes");
    assert!(smtp.deliver(&app).await.is_empty());
    assert_eq!(state(&app).await, None);
    // Without a job, because no SMTP server is named any more.
    set(&app, &ana, "new@mail.example").await;
    ask(&app, "ana@mail.example").await;
    let purge = async |days| {
        while email::purge(&app.db, now() + Duration::days(days), 1).await.expect("an answer") > 0 {}
        [
            count_rows(&app, "mail").await,
            count_rows(&app, "mail_sent").await,
            count_rows(&app, "password_reset_request").await,
            count_rows(&app, "account_email where pending is not null").await,
            count_rows(&app, "account_email").await,
        ]
    };
    assert_eq!(purge(0).await, [1, 2, 1, 1, 1]);
    assert_eq!(purge(2).await, [0, 0, 0, 0, 1]);
}

/// Queues a verification for each of so many accounts.
async fn queued(app: &TestApp, count: usize) {
    for n in 0..count {
        let account = app.account(&format!("Account {n}"), PASSWORD).await;
        assert_eq!(set(app, &account, &format!("a{n}@mail.example")).await.status, 200);
    }
}

#[actix_web::test]
async fn while_a_server_is_away_one_mail_a_round_is_tried() {
    let (app, smtp) = start().await;
    queued(&app, 8).await;
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let away = settings_for(closed);
    round(&app.db, &away, &CancellationToken::new()).await.expect("an answer");
    assert_eq!(count_rows(&app, "mail where attempts = 1").await, 4, "so many are tried at the same time");
    make_due(&app).await;
    round(&app.db, &away, &CancellationToken::new()).await.expect("an answer");
    assert_eq!(count_rows(&app, "mail where next_attempt_at > now()").await, 1);
    assert_eq!(count_rows(&app, "mail_sent").await, 0, "what was not sent does not count");
    make_due(&app).await;
    let (stopping, begun) = (CancellationToken::new(), Instant::now());
    let job = actix_web::rt::spawn(run(app.db.clone(), away, stopping.clone()));
    let are_late = async || count_rows(&app, "mail where next_attempt_at > now()").await >= 3;
    until_async("three were tried", are_late).await;
    assert!(begun.elapsed() > std::time::Duration::from_millis(1900), "a second lies between two attempts");
    stopping.cancel();
    job.await.expect("it ends");
    make_due(&app).await;
    assert_eq!(smtp.deliver(&app).await.len(), 8);
}

#[actix_web::test]
async fn two_processes_send_each_mail_once() {
    let (app, smtp) = start().await;
    queued(&app, 6).await;
    let settings = smtp.settings();
    let running = CancellationToken::new();
    let (one, other) = tokio::join!(round(&app.db, &settings, &running), round(&app.db, &settings, &running));
    one.and(other).expect("the database answers");
    let mut recipients: Vec<_> = smtp.mails().into_iter().map(|mail| mail.to).collect();
    recipients.sort_unstable();
    assert_eq!(recipients, (0..6).map(|n| format!("a{n}@mail.example")).collect::<Vec<_>>());
}

#[actix_web::test]
async fn mails_whose_outcome_is_unknown_count_so_copies_are_bounded() {
    let (app, smtp) = start().await;
    let ana = app.account("Ana", PASSWORD).await;
    set(&app, &ana, "ana@mail.example").await;
    smtp.hangs_up(true);
    for _ in 0..5 {
        smtp.deliver(&app).await;
        make_due(&app).await;
    }
    let mails = smtp.mails();
    assert_eq!((mails.len(), state(&app).await), (3, None), "three copies an hour, and then it is given up");
    let ids: Vec<_> = mails.iter().map(|mail| mail.head.lines().find(|line| line.starts_with("Message-ID"))).collect();
    assert!(ids[0].is_some() && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    // Each link is good.
    assert_eq!(verify(&app, &mails[0].token()).await.status, 200);
}

#[actix_web::test]
async fn a_server_that_refuses_everything_does_not_empty_the_outbox() {
    let (app, smtp) = start().await;
    queued(&app, 6).await;
    smtp.will(&["554 the sender is blocked"; 20]);
    for _ in 0..4 {
        smtp.deliver(&app).await;
        make_due(&app).await;
    }
    assert_eq!(count_rows(&app, "mail").await, 3, "three are taken for wrong addresses");
    // They are sent when the server takes mail again.
    while count_rows(&app, "mail").await > 0 {
        smtp.deliver(&app).await;
        make_due(&app).await;
    }
    assert_eq!(smtp.mails().len(), 3);
}

#[actix_web::test]
async fn an_account_causes_a_bounded_number_of_mails_to_strangers() {
    let (app, smtp) = start().await;
    let ana = app.account("Ana", PASSWORD).await;
    let mut sent = 0;
    for n in 0..8 {
        assert_eq!(set(&app, &ana, &format!("stranger{n}@mail.example")).await.status, 200);
        sent += smtp.deliver(&app).await.len();
    }
    assert_eq!(sent, 5);
}

/// Queues this many notices, the oldest a while ago.
async fn queue(app: &TestApp, count: i32) {
    app.account("Ana", super::steps::PASSWORD).await;
    let queued = sqlx::query(
        "insert into mail (player_id, kind, recipient, created_at, next_attempt_at)
        select id, 'password_changed', n || '@mail.example', now() - make_interval(secs => n * 100), now()
        from player, generate_series(1, $1) as n where kind = 'account'",
    );
    queued.bind(count).execute(&app.db).await.expect("they are queued");
}

#[actix_web::test]
async fn a_stop_gives_back_the_mails_that_were_not_sent() {
    let app = TestApp::start().await;
    queue(&app, 6).await;
    // This server takes connections, and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let settings = settings_for(silent.local_addr().expect("an address"));
    let stopping = CancellationToken::new();
    let job = actix_web::rt::spawn(run(app.db.clone(), settings, stopping.clone()));
    until_async("four are tried", async || count_rows(&app, "mail where attempts = 1").await >= 4).await;
    let due = "mail where next_attempt_at <= now()";
    assert_eq!(count_rows(&app, due).await, 2, "the places are taken");
    stopping.cancel();
    job.await.expect("it ends");
    assert_eq!((count_rows(&app, due).await, count_rows(&app, "mail").await), (6, 6));
}

#[actix_web::test]
async fn what_becomes_of_mails_is_counted() {
    let (app, smtp) = start().await;
    queue(&app, 3).await;
    smtp.will(&["550 unknown", "450 later", "250 ok"]);
    assert_eq!(smtp.deliver(&app).await.len(), 1);
    let text = smtp.metrics.text();
    for (outcome, count) in [("sent", 1.0), ("failed", 1.0), ("retried", 1.0), ("limited", 0.0)] {
        let name = format!("mancala_mails_total{{outcome=\"{outcome}\"}}");
        assert!((sample(&text, &name) - count).abs() < 1e-9, "{name} {text}");
    }
    // The postponed mail is the oldest that is left.
    assert!(sample(&text, "mancala_mail_oldest_unsent_seconds") >= 100.0, "{text}");
}
