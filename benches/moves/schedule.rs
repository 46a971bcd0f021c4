//! Requests at a fixed rate: when each is due, and the thread that wakes the clients then.

use std::{
    io,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use nix::sys::prctl::set_timerslack;
use tokio::sync::Notify;

/// When the moves of one client, or other requests of it, are due.
pub struct Schedule {
    first: Instant,
    every: Duration,
    pub count: u32,
    due: Arc<Notify>,
}

/// The schedules of several clients, whose requests are due at even intervals in turns.
pub struct Schedules {
    pub begun: Instant,
    pub of_clients: Vec<Schedule>,
}

/// The thread that wakes the clients.
pub struct Timer(thread::JoinHandle<()>);

impl Schedules {
    /// `rate` requests a second of `clients` for a time, which begins soon.
    pub fn start(clients: usize, rate: u32, time: Duration) -> (Self, Timer) {
        let clients = u32::try_from(clients).expect("a few hundred clients");
        let interval = Duration::from_secs(1) / rate;
        let requests = u32::try_from(time.as_nanos() / interval.as_nanos()).unwrap_or(u32::MAX);
        let begun = Instant::now() + Duration::from_millis(50);
        let wakeups: Vec<Arc<Notify>> = (0..clients).map(|_| Arc::default()).collect();
        let of_clients = wakeups.iter().zip(0..).map(|(due, n)| Schedule {
            first: begun + interval * n,
            every: interval * clients,
            count: requests / clients + u32::from(n < requests % clients),
            due: due.clone(),
        });
        let of_clients = of_clients.collect();
        let timer = thread::spawn(move || run_timer(&wakeups, begun, interval, requests));
        (Self { begun, of_clients }, Timer(timer))
    }
}

impl Timer {
    /// Waits for its end, when all requests were due.
    pub fn end(self) -> io::Result<()> {
        self.0.join().map_err(|_| io::Error::other("the timer's thread panicked"))
    }
}

impl Schedule {
    /// Waits until a request is due, and returns when it was.
    pub async fn due(&self, n: u32) -> Instant {
        let due = self.first + self.every * n;
        while Instant::now() < due {
            self.due.notified().await;
        }
        due
    }
}

/// Wakes the clients when their requests are due. On a thread of its own, because tokio's timers round to milliseconds.
fn run_timer(wakeups: &[Arc<Notify>], begun: Instant, interval: Duration, requests: u32) {
    // Otherwise the kernel may wake a thread 50 microseconds late, to save power.
    let _ = set_timerslack(1);
    for (n, due) in (0..requests).zip(wakeups.iter().cycle()) {
        thread::sleep((begun + interval * n).saturating_duration_since(Instant::now()));
        due.notify_one();
    }
}
