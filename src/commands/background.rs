//! The jobs that run beside the HTTP server, and their end.

use std::{sync::Arc, thread};

use mancala_server::{
    config::{Serve, Switch},
    db::Writers,
    http,
    jobs::{analyses, computers, deadlines, explorer, maintenance, purge, webhooks},
    metrics::Metrics,
    priority,
    webhook::{Ports, Reach, Sender, system_names},
};
use sqlx::postgres::PgConnectOptions;
use tokio::{runtime, sync::oneshot, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::failure::Failure;

/// All jobs of a server.
pub struct Background {
    /// Jobs on the server's own thread, dropped when they stop.
    tasks: [JoinHandle<()>; 2],
    /// Jobs on threads of their own, in the order in which they stop.
    threads: Vec<JobThread>,
}

impl Background {
    pub fn start(
        options: &Serve,
        database: &PgConnectOptions,
        writers: &Arc<Writers>,
        metrics: &Arc<Metrics>,
    ) -> Result<Self, Failure> {
        let maintaining = maintenance::run(database.clone(), writers.clone(), maintenance_settings(options));
        let settling = deadlines::run(database.clone(), writers.clone());
        let tasks = [actix_web::rt::spawn(maintaining), actix_web::rt::spawn(settling)];
        let mut threads = vec![start_webhooks(options, database, writers, metrics)?];
        for _ in 0..options.computer_threads {
            let (database, writers, metrics) = (database.clone(), writers.clone(), metrics.clone());
            let play = move |stopping| computers::run(database, writers, metrics, stopping);
            threads.push(JobThread::start("computer", priority::lower, play)?);
        }
        for _ in 0..options.analysis_threads {
            let (database, writers, metrics) = (database.clone(), writers.clone(), metrics.clone());
            let analyse = move |stopping| analyses::run(database, writers, metrics, stopping);
            threads.push(JobThread::start("analysis", priority::lower, analyse)?);
        }
        let (database, metrics) = (database.clone(), metrics.clone());
        let explore = move |stopping| explorer::run(database, metrics, stopping);
        threads.push(JobThread::start("explorer", priority::lower, explore)?);
        Ok(Self { tasks, threads })
    }

    /// Stops all jobs, and waits for those that hand over their work.
    pub async fn stop(self) {
        for task in self.tasks {
            task.abort();
        }
        for thread in self.threads {
            thread.stop().await;
        }
    }
}

/// A job on a thread of its own, so that it does not delay moves.
struct JobThread {
    stopping: CancellationToken,
    ended: oneshot::Receiver<()>,
}

impl JobThread {
    /// Starts `job`, which gets the token that tells it to stop. `before` runs first on its thread.
    fn start<W: Future<Output = ()>>(
        name: &str,
        before: fn(),
        job: impl FnOnce(CancellationToken) -> W + Send + 'static,
    ) -> Result<Self, Failure> {
        let (stopping, (end, ended)) = (CancellationToken::new(), oneshot::channel());
        let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::new)?;
        let stop = stopping.clone();
        let run = move || {
            before();
            runtime.block_on(job(stop));
            // Does not wait for a name look-up that hangs.
            runtime.shutdown_background();
            let _ = end.send(());
        };
        thread::Builder::new().name(name.to_owned()).spawn(run).map_err(Failure::new)?;
        Ok(Self { stopping, ended })
    }

    async fn stop(self) {
        self.stopping.cancel();
        let _ = self.ended.await;
    }
}

fn start_webhooks(
    options: &Serve,
    database: &PgConnectOptions,
    writers: &Writers,
    metrics: &Arc<Metrics>,
) -> Result<JobThread, Failure> {
    let sender = Sender::new(webhook_reach(options), system_names());
    let settings = webhooks::Settings { sender, write: http::write_message, metrics: metrics.clone() };
    let (database, appended) = (database.clone(), writers.webhook_events());
    JobThread::start("webhooks", || {}, move |stopping| webhooks::run(database, appended, settings, stopping))
}

/// Which addresses webhooks may have.
pub fn webhook_reach(options: &Serve) -> Reach {
    match options.webhook_allow_private {
        Switch::On => Reach::Anywhere,
        Switch::Off => Reach::Public(Ports::new(&options.webhook_ports).expect("the option has 1 to 16 ports")),
    }
}

fn maintenance_settings(options: &Serve) -> maintenance::Settings {
    let after = |days: u16| (days > 0).then(|| time::Duration::days(days.into()));
    maintenance::Settings {
        purge: purge::Settings { guest_retention: after(options.guest_retention_days) },
        abandoned_after: after(options.guest_game_days),
    }
}
