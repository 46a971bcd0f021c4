//! The jobs that run beside the HTTP server, and their end.

use std::{sync::Arc, thread, time::Duration};

use futures_util::future::{join, join_all, join4};
use mancala_server::{
    config::{Serve, Switch},
    connection_plan::{ConnectionPlan, JobConnections},
    db::{self, Database, Writers},
    file_plan::FilePlan,
    http,
    jobs::{analyses, computers, deadlines, explorer, mail, maintenance, purge, push, suspended_games, webhooks},
    metrics::Metrics,
    priority,
    push::{Push, Pusher},
    webhook::{Ports, Reach, Sender, system_names},
};
use sqlx::PgPool;
use tokio::{
    runtime,
    sync::{Notify, oneshot},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{database::cores, failure::Failure};

/// The limits of the jobs.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub plan: ConnectionPlan,
    pub files: FilePlan,
    /// How long they wait at the start.
    pub jobs_delay: Duration,
}

/// Runs a job after a delay.
async fn after(delay: Duration, job: impl Future<Output = ()>) {
    tokio::time::sleep(delay).await;
    job.await;
}

/// All jobs of a server.
pub struct Background {
    /// Jobs on the server's own thread, dropped when they stop.
    tasks: Vec<JoinHandle<()>>,
    /// The job of mails, and the token that stops it.
    mailing: Option<(JoinHandle<()>, CancellationToken)>,
    /// Jobs on threads of their own, in the order in which they stop.
    threads: Vec<JobThread>,
}

impl Background {
    pub fn start(
        options: &Serve,
        push: &Push,
        bounds: Bounds,
        database: &Database,
        writers: &Arc<Writers>,
        metrics: &Arc<Metrics>,
        mail: Option<mail::Settings>,
    ) -> Result<Self, Failure> {
        let Bounds { plan, files, jobs_delay } = bounds;
        let pools: [PgPool; 2] = if plan.housekeeping > 1 {
            [pool_of_part(plan, database.clone(), 1), pool_of_part(plan, database.clone(), 1)]
        } else {
            let shared = pool_of_part(plan, database.clone(), 1);
            [shared.clone(), shared]
        };
        // Deadlines are not delayed by other jobs unless there are few connections.
        let [settling, maintaining] = pools;
        // Mail shares the connection of maintenance: one statement waits for another, and none for an exchange with the SMTP server.
        let mailing = mail.map(|settings| {
            let (pool, stopping) = (maintaining.clone(), CancellationToken::new());
            let stop = stopping.clone();
            let run = async move {
                if stop.run_until_cancelled(tokio::time::sleep(jobs_delay)).await.is_some() {
                    mail::run(pool, settings, stop).await;
                }
            };
            (actix_web::rt::spawn(run), stopping)
        });
        // This job shares a connection with maintenance, as mail does.
        let suspending = suspended_games::run(maintaining.clone(), writers.clone(), metrics.clone());
        let maintaining =
            maintenance::run(maintaining, writers.clone(), metrics.clone(), maintenance_settings(options));
        let settling = deadlines::run(settling, writers.clone(), metrics.clone());
        let tasks = vec![
            actix_web::rt::spawn(after(jobs_delay, maintaining)),
            actix_web::rt::spawn(after(jobs_delay, settling)),
            actix_web::rt::spawn(after(jobs_delay, suspending)),
        ];
        let jobs = Jobs::new(options, push, &files, writers, metrics);
        let database = database.clone();
        let threads = match plan.jobs {
            JobConnections::Own { webhooks, .. } => jobs.on_threads(plan, &database, webhooks)?,
            // All on one thread and one connection.
            JobConnections::Shared => {
                let run = move |stopping| {
                    after(jobs_delay, jobs.on_one_connection(pool_of_part(plan, database, 1), stopping))
                };
                vec![JobThread::start("jobs", priority::lower, run)?]
            }
        };
        Ok(Self { tasks, mailing, threads })
    }

    /// Stops all jobs, and waits for those that hand over their work.
    pub async fn stop(self) {
        for task in self.tasks {
            task.abort();
        }
        if let Some((_, stopping)) = &self.mailing {
            stopping.cancel();
        }
        for thread in self.threads {
            thread.stop().await;
        }
        if let Some((mailing, _)) = self.mailing {
            let _ = mailing.await;
        }
    }
}

/// A job on a thread of its own, so that it does not delay moves.
struct JobThread {
    stopping: CancellationToken,
    ended: oneshot::Receiver<()>,
}

impl JobThread {
    /// Starts `job`, whose token is cancelled when it must stop. `before` runs first on its thread. The job's pools are made on the
    /// thread's own runtime, on which their connections live.
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
            runtime.block_on(async { job(stop).await });
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

/// The jobs that leave the server's own thread.
struct Jobs {
    webhooks: webhooks::Settings,
    /// `None` if nothing is sent to devices.
    push: Option<push::Settings>,
    computer_threads: u16,
    analysis_threads: u16,
    writers: Arc<Writers>,
    metrics: Arc<Metrics>,
}

impl Jobs {
    fn new(options: &Serve, push: &Push, files: &FilePlan, writers: &Arc<Writers>, metrics: &Arc<Metrics>) -> Self {
        let devices = push.kinds();
        let push_attempts = if devices.is_empty() { 0 } else { (files.attempts / PUSH_SHARE).max(1) };
        let pusher = (!devices.is_empty()).then(|| {
            let sender = Sender::new(webhook_reach(options), system_names()).with_open_max(push_attempts);
            Pusher::new(push.clone(), sender)
        });
        Self {
            webhooks: webhooks::Settings {
                sender: Sender::new(webhook_reach(options), system_names())
                    .with_open_max(files.attempts - push_attempts),
                write: http::write_message,
                devices,
                metrics: metrics.clone(),
                attempts_max: files.attempts - push_attempts,
            },
            push: pusher.map(|pusher| push::Settings { pusher, metrics: metrics.clone(), attempts_max: push_attempts }),
            computer_threads: options.computer_threads(cores()),
            analysis_threads: options.analysis_threads,
            writers: writers.clone(),
            metrics: metrics.clone(),
        }
    }

    /// Starts each job on a thread with a connection of its own; webhooks have more of them.
    fn on_threads(
        self,
        plan: ConnectionPlan,
        database: &Database,
        webhook_connections: u32,
    ) -> Result<Vec<JobThread>, Failure> {
        let Self { webhooks: settings, push, writers, metrics, .. } = self;
        let (options, appended) = (database.clone(), writers.webhook_events());
        let send = move |stopping| {
            notify(pool_of_part(plan, options, webhook_connections), appended, settings, push, stopping)
        };
        let mut threads = vec![JobThread::start("webhooks", || {}, send)?];
        for _ in 0..self.computer_threads {
            let (options, writers, metrics) = (database.clone(), writers.clone(), metrics.clone());
            let play = move |stopping| computers::run(pool_of_part(plan, options, 1), writers, metrics, stopping);
            threads.push(JobThread::start("computer", priority::lower, play)?);
        }
        for _ in 0..self.analysis_threads {
            let (options, writers, metrics) = (database.clone(), writers.clone(), metrics.clone());
            let analyse = move |stopping| analyses::run(pool_of_part(plan, options, 1), writers, metrics, stopping);
            threads.push(JobThread::start("analysis", priority::lower, analyse)?);
        }
        let options = database.clone();
        let explore = move |stopping| explorer::run(pool_of_part(plan, options, 1), metrics, stopping);
        threads.push(JobThread::start("explorer", priority::lower, explore)?);
        Ok(threads)
    }

    /// Runs all jobs on the present thread. The engine's searches leave it as they always do.
    async fn on_one_connection(self, pool: PgPool, stopping: CancellationToken) {
        let Self { webhooks: settings, push, writers, metrics, .. } = self;
        let send = Box::pin(notify(pool.clone(), writers.webhook_events(), settings, push, stopping.clone()));
        let play = join_all(
            (0..self.computer_threads)
                .map(|_| computers::run(pool.clone(), writers.clone(), metrics.clone(), stopping.clone())),
        );
        let analyse = join_all(
            (0..self.analysis_threads)
                .map(|_| analyses::run(pool.clone(), writers.clone(), metrics.clone(), stopping.clone())),
        );
        let explore = explorer::run(pool.clone(), metrics.clone(), stopping.clone());
        join4(send, play, analyse, explore).await;
    }
}

/// The connections of a part.
fn pool_of_part(plan: ConnectionPlan, database: Database, max: u32) -> PgPool {
    db::kept_pool(database, max, plan.kept(max)).0
}

/// Webhooks, and push notifications if there are any, by the same connections to the database.
async fn notify(
    pool: PgPool,
    appended: Arc<Notify>,
    webhooks: webhooks::Settings,
    push: Option<push::Settings>,
    stopping: CancellationToken,
) {
    let sending = webhooks::run(pool.clone(), appended, webhooks, stopping.clone());
    match push {
        Some(settings) => {
            join(sending, Box::pin(push::run(pool, settings, stopping))).await;
        }
        None => sending.await,
    }
}

/// The share of all concurrent attempts that push services may take, if push is on: 128 of 512.
const PUSH_SHARE: usize = 4;

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
        archived_after: after(options.archive_after_days),
    }
}
