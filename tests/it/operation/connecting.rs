//! The ways to a database that `DATABASE_URL` can name.

use std::{
    net::TcpListener,
    process::Stdio,
    thread::sleep,
    time::{Duration, Instant},
};

use mancala_server::http::new_key;

use crate::support::binary::{File, server};

#[test]
fn an_ipv6_address_in_the_url_of_the_database_is_connected_to() {
    let listener = TcpListener::bind("[::1]:0").expect("this machine has IPv6");
    listener.set_nonblocking(true).expect("it may");
    let url = format!("postgres://mancala@[::1]:{}/mancala", listener.local_addr().expect("an address").port());
    let key = File::new(&new_key());
    let mut command = server(&["--listen", "127.0.0.1:0", "--database-url", &url]);
    command.args(["--jwt-private-key-file", key.name()]).stderr(Stdio::null()).stdout(Stdio::null());
    let mut child = command.spawn().expect("the binary runs");
    let until = Instant::now() + Duration::from_secs(30);
    let mut is_connected = false;
    while !is_connected && Instant::now() < until && child.try_wait().expect("a child of ours").is_none() {
        is_connected = listener.accept().is_ok();
        sleep(Duration::from_millis(10));
    }
    is_connected = is_connected || listener.accept().is_ok();
    let _ = child.kill();
    let _ = child.wait();
    assert!(is_connected, "no connection came");
}
