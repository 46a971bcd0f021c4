//! An address that leads to one PostgreSQL, and later to another, as that of a proxy or a name does. It knows nothing of the server.

use std::{
    sync::{Arc, Mutex},
    thread,
};

use sqlx::postgres::PgConnectOptions;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, UnixStream},
    runtime::Builder,
    sync::watch,
};

/// An address on this machine. It ends with its value.
pub struct Detour {
    port: u16,
    target: Arc<Mutex<PgConnectOptions>>,
    /// Changes when the connections that there are shall end.
    cut: watch::Sender<()>,
}

impl Detour {
    /// An address that leads to the socket of `target`. Its thread also serves tests that block their own.
    pub fn to(target: &PgConnectOptions) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        listener.set_nonblocking(true).expect("it is a socket");
        let port = listener.local_addr().expect("it is bound").port();
        let target = Arc::new(Mutex::new(target.clone()));
        let (cut, cuts) = watch::channel(());
        let led_to = target.clone();
        thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime starts");
            runtime.block_on(async { lead(TcpListener::from_std(listener).expect("it is bound"), led_to, cuts).await });
        });
        Self { port, target, cut }
    }

    /// How a database is connected to by this address.
    pub fn options(&self, database: &PgConnectOptions) -> PgConnectOptions {
        database.clone().host("127.0.0.1").port(self.port)
    }

    /// Leads later connections to another PostgreSQL. Open connections stay.
    pub fn turn_to(&self, target: &PgConnectOptions) {
        *self.target.lock().expect("no panic holds it") = target.clone();
    }

    /// Ends the connections that there are.
    pub fn cut(&self) {
        self.cut.send_replace(());
    }
}

/// Leads connections until the address is dropped.
async fn lead(listener: TcpListener, target: Arc<Mutex<PgConnectOptions>>, mut cuts: watch::Receiver<()>) {
    loop {
        cuts.mark_unchanged();
        let mut client = tokio::select! {
            accepted = listener.accept() => accepted.expect("a connection is accepted").0,
            changed = cuts.changed() => match changed {
                Ok(()) => continue,
                Err(_) => return,
            },
        };
        let socket = {
            let target = target.lock().expect("no panic holds it");
            format!("{}/.s.PGSQL.{}", target.get_host(), target.get_port())
        };
        let mut cuts = cuts.clone();
        tokio::spawn(async move {
            let Ok(mut server) = UnixStream::connect(socket).await else { return };
            tokio::select! {
                _ = copy_bidirectional(&mut client, &mut server) => {}
                _ = cuts.changed() => {}
            }
        });
    }
}
