//! What systemd hears of the service.

use std::{
    os::unix::net::UnixDatagram,
    path::{Path, PathBuf},
    time::Duration,
};

use mancala_server::http::new_key;
use nix::sys::signal::Signal;

use crate::support::{
    app::TestApp,
    binary::{Running, url},
};

/// The socket of a service manager, deleted with the test.
struct Manager(UnixDatagram, PathBuf);

impl Manager {
    fn new() -> Self {
        let path = Path::new("/tmp").join(format!("mancala-notify-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let socket = UnixDatagram::bind(&path).expect("a socket");
        socket.set_read_timeout(Some(Duration::from_secs(30))).expect("it may wait");
        Self(socket, path)
    }

    fn next(&self) -> String {
        let mut buffer = [0; 4096];
        let length = self.0.recv(&mut buffer).expect("a message arrives");
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.1);
    }
}

#[actix_web::test]
async fn systemd_hears_when_the_service_is_ready_alive_and_stopping() {
    let app = TestApp::start().await;
    let manager = Manager::new();
    let socket = manager.1.to_str().expect("a text").to_owned();
    let variables = [("NOTIFY_SOCKET", socket.as_str()), ("WATCHDOG_USEC", "200000")];
    let arguments = ["--drain-s", "0", "--shutdown-timeout-s", "7"];
    let mut running = Running::start_with(&url(&app), &new_key(), &arguments, &variables);
    let first = manager.next();
    assert!(first.contains("READY=1") && first.contains(running.address()), "{first}");
    for _ in 0..3 {
        assert_eq!(manager.next().trim(), "WATCHDOG=1");
    }
    running.signal(Signal::SIGTERM);
    let last =
        std::iter::repeat_with(|| manager.next()).find(|message| !message.contains("WATCHDOG")).expect("one more");
    // The time for the answers, and 30 seconds for the rest.
    assert!(last.contains("STOPPING=1") && last.contains("EXTEND_TIMEOUT_USEC=37000000"), "{last}");
    // Nothing reads the socket any more: on a slow machine the messages until the end would fill it, and the server would wait.
    drop(manager);
    assert_eq!(running.ended().0, Some(0));
}
