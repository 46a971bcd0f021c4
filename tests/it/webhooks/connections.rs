//! Connections to endpoints: they are kept for further messages, and no way round what is checked.

use std::{
    future::ready,
    io::{BufRead, BufReader, Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use futures_util::future::{join, join_all};
use h2::server;
use hyper::{Response, StatusCode, body::Bytes};
use mancala_server::webhook::{
    Ages, Attempt, ConnectionsUsed, EndpointResponse, Names, Ports, Reach, SendError, Sender, system_names,
};
use rcgen::CertifiedKey;
use rustls::{RootCertStore, ServerConfig, crypto::ring};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

use crate::support::{
    clock::{until, until_async},
    endpoint::{Endpoint, Reply},
};

async fn send(sender: &Sender, url: &str) -> Result<EndpointResponse, SendError> {
    let payload = r#"{"type":"webhook.ping"}"#;
    let secrets = [&[1_u8; 24][..]];
    sender.send(Attempt { url, id: "a", now_s: 1, payload, secrets: &secrets, challenge: None }).await
}

async fn status(sender: &Sender, url: &str) -> u16 {
    send(sender, url).await.expect("an answer").status
}

fn sender() -> Sender {
    Sender::new(Reach::Anywhere, system_names())
}

/// Ages of which one is over at once.
fn ages(change: impl FnOnce(&mut Ages)) -> Ages {
    let mut ages = Ages::USUAL;
    change(&mut ages);
    ages
}

/// A certificate of `push.example`, and those who trust it.
fn certified(protocols: &[&[u8]]) -> (ServerConfig, RootCertStore) {
    let CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["push.example".to_owned()]).expect("a certificate");
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions of TLS")
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], signing_key.into())
        .expect("they belong together");
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).expect("a root");
    (config, roots)
}

/// Names that are where the test says.
fn names(address: &Arc<Mutex<IpAddr>>) -> Names {
    let address = address.clone();
    Arc::new(move |_| Box::pin(ready(Ok(vec![*address.lock().expect("a lock")]))))
}

#[actix_web::test]
async fn messages_to_one_endpoint_share_its_connections() {
    let (sender, endpoint) = (sender(), Endpoint::start().await);
    for _ in 0..20 {
        assert_eq!(status(&sender, &endpoint.url()).await, 200);
    }
    assert_eq!((endpoint.received().len(), endpoint.connections()), (20, 1));
    assert_eq!(sender.take_used(), ConnectionsUsed { opened: 1, reused: 19 });
    let url = endpoint.url();
    for _ in 0..5 {
        join_all((0..4).map(|_| status(&sender, &url))).await;
    }
    assert_eq!((endpoint.received().len(), endpoint.connections(), sender.count_open()), (40, 4, 4));
    // Each host and port has its own.
    let other = Endpoint::start().await;
    assert_eq!(status(&sender, &other.url()).await, 200);
    assert_eq!((other.received().len(), other.connections()), (1, 1));
}

#[actix_web::test]
async fn a_connection_closed_while_it_waits_is_no_failure() {
    let (sender, endpoint) = (sender(), Endpoint::start().await);
    for n in 1..=3 {
        endpoint.will(&[Reply::Closing]);
        assert_eq!(status(&sender, &endpoint.url()).await, 200);
        until("it is closed", || endpoint.open() == 0).await;
        assert_eq!((endpoint.received().len(), endpoint.connections()), (n, n));
    }
    // The endpoint closes it as the next request comes: this one is sent once more, over a new connection.
    endpoint.will(&[Reply::Status(200), Reply::Nothing, Reply::Status(202)]);
    assert_eq!(status(&sender, &endpoint.url()).await, 200);
    assert_eq!(status(&sender, &endpoint.url()).await, 202);
    assert_eq!((endpoint.received().len(), endpoint.connections()), (6, 5));
    // Only once, and not after a connection of its own.
    endpoint.will(&[Reply::Nothing, Reply::Nothing, Reply::Nothing]);
    assert_eq!(send(&sender, &endpoint.url()).await, Err(SendError::NoAnswer));
    assert_eq!((endpoint.received().len(), endpoint.connections()), (8, 6));
    assert_eq!(send(&sender, &endpoint.url()).await, Err(SendError::NoAnswer));
    assert_eq!((endpoint.received().len(), endpoint.connections()), (9, 7));
}

#[actix_web::test]
async fn the_end_of_a_tls_session_answers_nothing() {
    let (config, roots) = certified(&[]);
    let endpoint = Endpoint::start_encrypted(config).await;
    let url = format!("https://push.example:{}/", endpoint.address.port());
    let sender = Sender::trusting(roots, Reach::Anywhere, names(&Arc::new(Mutex::new(endpoint.address.ip()))));
    // The endpoint ends it as the next request comes: this one is sent once more, over a new connection.
    endpoint.will(&[Reply::Status(200), Reply::Nothing, Reply::Status(202)]);
    assert_eq!(status(&sender, &url).await, 200);
    assert_eq!(status(&sender, &url).await, 202);
    assert_eq!((endpoint.received().len(), endpoint.connections()), (3, 2));
    // Only once.
    endpoint.will(&[Reply::Nothing, Reply::Nothing]);
    assert_eq!(send(&sender, &url).await, Err(SendError::NoAnswer));
    assert_eq!((endpoint.received().len(), endpoint.connections()), (5, 3));
}

#[actix_web::test]
async fn an_endpoint_that_tired_of_waiting_gets_the_message_once_more() {
    let (sender, endpoint) = (sender(), Endpoint::start().await);
    let tired = Reply::With(408, "connection: close".to_owned());
    endpoint.will(&[Reply::Status(200), tired.clone(), Reply::Status(202)]);
    assert_eq!(status(&sender, &endpoint.url()).await, 200);
    assert_eq!(status(&sender, &endpoint.url()).await, 202);
    assert_eq!((endpoint.received().len(), endpoint.connections()), (3, 2));
    // Only once, and not after a connection of its own.
    endpoint.will(&[Reply::Status(408), tired.clone(), tired]);
    assert_eq!(status(&sender, &endpoint.url()).await, 408);
    assert_eq!(status(&sender, &endpoint.url()).await, 408);
    assert_eq!((endpoint.received().len(), endpoint.connections()), (6, 4));
}

#[actix_web::test]
async fn what_comes_behind_an_answer_answers_no_other_message() {
    let (sender, endpoint) = (sender(), Endpoint::start().await);
    endpoint.will(&[Reply::Twice, Reply::Status(500)]);
    assert_eq!(status(&sender, &endpoint.url()).await, 200);
    assert_eq!(status(&sender, &endpoint.url()).await, 500);
    assert_eq!((endpoint.received().len(), endpoint.connections()), (2, 2));
}

#[actix_web::test]
async fn what_comes_between_two_messages_answers_neither() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("an address");
    let ((more, wanted), (sent, is_sent)) = (mpsc::channel(), mpsc::channel());
    // On a thread of its own, so that its bytes come while the sender's runtime stands still and does not hear of them.
    let endpoint = thread::spawn(move || {
        let read = |stream: &std::net::TcpStream| {
            let (mut reader, mut length) = (BufReader::new(stream.try_clone().expect("a socket")), 0);
            for line in reader.by_ref().lines().map(|line| line.expect("a line")).take_while(|line| !line.is_empty()) {
                length = line.strip_prefix("content-length: ").map_or(length, |digits| digits.parse().expect("digits"));
            }
            reader.read_exact(&mut vec![0; length]).expect("a body");
        };
        let (mut first, _) = listener.accept().expect("a connection");
        read(&first);
        first.write_all(b"HTTP/1.1 200 A\r\ncontent-length: 0\r\n\r\n").expect("it is sent");
        wanted.recv().expect("it is wanted");
        first.write_all(b"HTTP/1.1 202 A\r\ncontent-length: 0\r\n\r\n").expect("it is sent");
        sent.send(()).expect("the test waits");
        let (mut second, _) = listener.accept().expect("another connection");
        read(&second);
        second.write_all(b"HTTP/1.1 500 A\r\ncontent-length: 0\r\n\r\n").expect("it is sent");
    });
    let (sender, url) = (sender(), format!("http://{address}/"));
    assert_eq!(status(&sender, &url).await, 200);
    more.send(()).expect("it runs");
    is_sent.recv().expect("it runs");
    assert_eq!(status(&sender, &url).await, 500);
    endpoint.join().expect("it ends");
}

#[actix_web::test]
async fn a_connection_is_kept_only_after_a_whole_short_answer() {
    let (sender, endpoint) = (sender(), Endpoint::start().await);
    for (reply, is_kept) in [
        (Reply::Status(200), true),
        (Reply::Status(500), true),
        (Reply::With(200, "connection: close".to_owned()), false),
        (Reply::Long(4096), true),
        (Reply::Long(4097), false),
        (Reply::Giant, false),
        (Reply::Endless, false),
    ] {
        endpoint.will(std::slice::from_ref(&reply));
        let before = endpoint.connections();
        assert!(send(&sender, &endpoint.url()).await.is_ok());
        assert_eq!(sender.count_open(), usize::from(is_kept), "{reply:?}");
        assert_eq!(status(&sender, &endpoint.url()).await, 200);
        let opened = endpoint.connections() - before;
        assert_eq!(opened, usize::from(!is_kept) + usize::from(before == 0), "{reply:?}");
    }
}

#[actix_web::test]
async fn a_kept_connection_follows_the_name() {
    let here = Endpoint::start().await;
    let port = here.address.port();
    let there = Endpoint::start_at(SocketAddr::new(Ipv4Addr::new(127, 0, 0, 2).into(), port)).await;
    let address = Arc::new(Mutex::new(here.address.ip()));
    let url = format!("http://push.example:{port}/");
    let usual = Sender::new(Reach::Anywhere, names(&address));
    let strict = usual.clone().with_ages(ages(|ages| ages.check = Duration::ZERO));
    for sender in [&usual, &strict, &usual, &strict] {
        assert_eq!(status(sender, &url).await, 200);
    }
    assert_eq!((here.received().len(), here.connections()), (4, 2));
    *address.lock().expect("a lock") = there.address.ip();
    // A check holds for some seconds.
    assert_eq!((status(&usual, &url).await, here.received().len()), (200, 5));
    assert_eq!((status(&strict, &url).await, there.received().len()), (200, 1));
    until("the connection to the old address is closed", || here.open() == 1).await;
}

#[actix_web::test]
async fn a_kept_connection_closes_when_its_address_is_forbidden() {
    let (config, roots) = certified(&[]);
    let endpoint = Endpoint::start_encrypted(config).await;
    let port = endpoint.address.port();
    let address = Arc::new(Mutex::new(endpoint.address.ip()));
    let url = format!("https://push.example:{port}/");
    let sender = Sender::trusting(roots, Reach::Anywhere, names(&address));
    let sender = sender.with_ages(ages(|ages| ages.check = Duration::ZERO));
    for _ in 0..2 {
        assert_eq!(status(&sender, &url).await, 200);
    }
    assert_eq!((endpoint.received().len(), endpoint.connections(), endpoint.open()), (2, 1, 1));
    let public = sender.with_reach(Reach::Public(Ports::new(&[443, port]).expect("few")));
    assert_eq!(send(&public, &url).await, Err(SendError::NotAllowed));
    until("its connection is closed", || endpoint.open() == 0).await;
    assert_eq!((endpoint.received().len(), endpoint.connections(), public.count_open()), (2, 1, 0));
}

#[actix_web::test]
async fn connections_are_kept_for_a_bounded_time_and_in_bounded_number() {
    let endpoint = Endpoint::start().await;
    for over in [ages(|ages| ages.open = Duration::ZERO), ages(|ages| ages.idle = Duration::ZERO)] {
        let (sender, before) = (sender().with_ages(over), endpoint.connections());
        for _ in 0..3 {
            assert_eq!(status(&sender, &endpoint.url()).await, 200);
        }
        assert_eq!(endpoint.connections() - before, 3, "{over:?}");
        sender.close_expired();
        assert_eq!(sender.count_open(), 0);
    }
    let (sender, endpoints) = (sender().with_open_max(4), join_all((0..6).map(|_| Endpoint::start())).await);
    for endpoint in &endpoints {
        assert_eq!(status(&sender, &endpoint.url()).await, 200);
        assert!(sender.count_open() <= 4);
    }
    until("the first ones are closed", || endpoints.iter().map(Endpoint::open).sum::<usize>() == 4).await;
    assert_eq!(endpoints[0].open() + endpoints[1].open(), 0);
    // More than are kept for one host.
    let many = sender.with_open_max(512);
    let busy = Endpoint::start().await;
    let url = busy.url();
    join_all((0..40).map(|_| status(&many, &url))).await;
    until("the others are closed", || busy.open() == 32).await;
}

#[actix_web::test]
async fn a_tls_session_is_resumed_on_the_next_connection() {
    let (config, roots) = certified(&[]);
    let endpoint = Endpoint::start_encrypted(config).await;
    let url = format!("https://push.example:{}/", endpoint.address.port());
    let sender = Sender::trusting(roots, Reach::Anywhere, names(&Arc::new(Mutex::new(endpoint.address.ip()))));
    for (connections, resumed) in [(1, 0), (2, 1), (3, 2)] {
        endpoint.will(&[Reply::With(200, "connection: close".to_owned())]);
        assert_eq!(status(&sender, &url).await, 200);
        assert_eq!((endpoint.connections(), endpoint.resumed()), (connections, resumed));
    }
}

/// An endpoint that speaks HTTP/2, and answers no request to `/silent`: its port, and for each connection the requests that came over it.
async fn speaks_http2(config: ServerConfig, requests_max: usize, at_once: u32) -> (u16, Arc<Mutex<Vec<Vec<String>>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let port = listener.local_addr().expect("an address").port();
    let connections: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
    let (tls, counted) = (TlsAcceptor::from(Arc::new(config)), connections.clone());
    actix_web::rt::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (tls, counted) = (tls.clone(), counted.clone());
            actix_web::rt::spawn(async move {
                let mut serving = server::Builder::new();
                serving.max_concurrent_streams(at_once);
                let mut connection = serving.handshake::<_, Bytes>(tls.accept(stream).await.ok()?).await.ok()?;
                let mut held = vec![];
                let n = {
                    let mut all = counted.lock().expect("a lock");
                    all.push(vec![]);
                    all.len() - 1
                };
                while let Some(Ok((request, mut respond))) = connection.accept().await {
                    let seen = {
                        let mut all = counted.lock().expect("a lock");
                        all[n].push(request.uri().to_string());
                        all[n].len()
                    };
                    if request.uri().path() == "/silent" {
                        held.push(respond);
                        continue;
                    }
                    let response = Response::builder().status(StatusCode::NO_CONTENT).body(()).expect("a response");
                    respond.send_response(response, true).ok()?;
                    if seen == requests_max {
                        connection.graceful_shutdown();
                    }
                }
                Some(())
            });
        }
    });
    (port, connections)
}

#[actix_web::test]
async fn an_endpoint_that_offers_http2_gets_all_over_one_connection() {
    let (config, roots) = certified(&[b"h2", b"http/1.1"]);
    let (port, connections) = speaks_http2(config, 25, 100).await;
    let here = Arc::new(Mutex::new(Ipv4Addr::LOCALHOST.into()));
    let sender = Sender::trusting(roots, Reach::Anywhere, names(&here));
    let url = format!("https://push.example:{port}/a?b=c");
    assert_eq!(status(&sender, &url).await, 204);
    for _ in 0..3 {
        join_all((0..8).map(|_| status(&sender, &url))).await;
    }
    let requests = connections.lock().expect("a lock").clone();
    assert_eq!(requests, [vec![url.clone(); 25]]);
    // The endpoint ends this connection after so many, which is no failure.
    until_async("a second connection is opened", async || {
        assert_eq!(status(&sender, &url).await, 204);
        connections.lock().expect("a lock").len() >= 2
    })
    .await;
}

#[actix_web::test]
async fn messages_wait_for_no_other_one_at_an_endpoint_that_takes_few() {
    let (config, roots) = certified(&[b"h2"]);
    let (port, connections) = speaks_http2(config, 1000, 1).await;
    let sender = Sender::trusting(roots, Reach::Anywhere, names(&Arc::new(Mutex::new(Ipv4Addr::LOCALHOST.into()))));
    let [url, silent] = ["", "silent"].map(|path| format!("https://push.example:{port}/{path}"));
    for _ in 0..2 {
        assert_eq!(status(&sender, &url).await, 204);
    }
    let others = async {
        until("the silent one has its message", || connections.lock().expect("a lock")[0].contains(&silent)).await;
        timeout(Duration::from_secs(5), status(&sender, &url)).await
    };
    assert_eq!(join(timeout(Duration::from_secs(6), send(&sender, &silent)), others).await.1, Ok(204));
    assert_eq!(connections.lock().expect("a lock").len(), 2);
}

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).expect("it is short").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), content].concat()
}

/// An endpoint that speaks HTTP/2 with one setting, and answers the head of each request, without its body. With the second answer on a
/// connection it also says that it takes no more, but leaves the connection open.
async fn answers_heads(config: ServerConfig, setting: (u16, u32)) -> u16 {
    const HEADERS: u8 = 1;
    const SETTINGS: u8 = 4;
    const GOAWAY: u8 = 7;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let port = listener.local_addr().expect("an address").port();
    let tls = TlsAcceptor::from(Arc::new(config));
    actix_web::rt::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let tls = tls.clone();
            actix_web::rt::spawn(async move {
                let mut stream = tls.accept(stream).await.ok()?;
                let setting = [&setting.0.to_be_bytes()[..], &setting.1.to_be_bytes()].concat();
                stream.write_all(&frame(SETTINGS, 0, 0, &setting)).await.ok()?;
                stream.read_exact(&mut [0; 24]).await.ok()?;
                let mut head = [0; 9];
                while stream.read_exact(&mut head).await.is_ok() {
                    let [_, a, b, kind, flags, id @ ..] = head;
                    stream.read_exact(&mut vec![0; usize::from(u16::from_be_bytes([a, b]))]).await.ok()?;
                    let answer = match (kind, u32::from_be_bytes(id)) {
                        // 0x88 is the status 200.
                        (HEADERS, 1) => frame(HEADERS, 5, 1, &[0x88]),
                        (HEADERS, n) => {
                            [frame(HEADERS, 5, n, &[0x88]), frame(GOAWAY, 0, 0, &[id, [0; 4]].concat())].concat()
                        }
                        (SETTINGS, _) if flags == 0 => frame(SETTINGS, 1, 0, &[]),
                        _ => continue,
                    };
                    stream.write_all(&answer).await.ok()?;
                }
                Some(())
            });
        }
    });
    port
}

#[actix_web::test]
async fn an_endpoint_does_not_decide_how_long_a_connection_lives() {
    const MAX_CONCURRENT_STREAMS: u16 = 3;
    const INITIAL_WINDOW_SIZE: u16 = 4;
    for setting in [INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS] {
        let (config, roots) = certified(&[b"h2"]);
        let port = answers_heads(config, (setting, 0)).await;
        let sender = Sender::trusting(roots, Reach::Anywhere, names(&Arc::new(Mutex::new(Ipv4Addr::LOCALHOST.into()))));
        let url = format!("https://push.example:{port}/");
        for _ in 0..6 {
            // If it takes no further request, the attempt ends without an answer.
            let _ = timeout(Duration::from_millis(500), send(&sender, &url)).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(sender.take_used().opened >= 3);
        sender.close_expired();
        until("no more than one is open", || sender.count_open() <= 1).await;
        if setting == MAX_CONCURRENT_STREAMS {
            // None of them is of use, so none is kept.
            until("none is open", || sender.count_open() == 0).await;
        }
    }
}
