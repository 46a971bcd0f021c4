//! The queue of entries, and the thread that writes them.

use std::{
    io::{self, Write},
    sync::Arc,
    thread,
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use super::AccessLogEntry;

use super::settings::{Format, Level};
use crate::metrics::Metrics;

/// How many entries wait for the thread at most: a second of full load, in about 5 MiB.
const QUEUE_MAX: usize = 16_384;

/// How many entries one write takes.
const BATCH_MAX: usize = 512;

/// How long a stopping process waits for the last lines: a reader of standard output that hangs must not keep it.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// The least status of an error.
const ERRORS_FROM: u16 = 400;

/// The access log of a process.
#[derive(Debug)]
pub struct AccessLog {
    level: Level,
    queue: mpsc::Sender<Message>,
    metrics: Arc<Metrics>,
}

#[derive(Debug)]
enum Message {
    Entry(Box<AccessLogEntry>),
    /// All entries before this one are written when the sender is notified.
    End(oneshot::Sender<()>),
}

impl AccessLog {
    /// Starts the thread that writes to `output`; `None` if the level is off.
    pub fn start(
        level: Level,
        format: Format,
        output: impl Write + Send + 'static,
        metrics: Arc<Metrics>,
    ) -> io::Result<Option<Arc<Self>>> {
        if level == Level::Off {
            return Ok(None);
        }
        let (queue, entries) = mpsc::channel(QUEUE_MAX);
        let counted = metrics.clone();
        thread::Builder::new()
            .name("access-log".to_owned())
            .spawn(move || write_all(entries, format, output, &counted))?;
        let watched = queue.downgrade();
        metrics.watched().resource("access_log_queue", QUEUE_MAX, move || {
            watched.upgrade().map(|queue| queue.max_capacity() - queue.capacity())
        });
        Ok(Some(Arc::new(Self { level, queue, metrics })))
    }

    /// Queues an entry, unless the level leaves it out. It never waits.
    pub fn write(&self, entry: AccessLogEntry) {
        if self.level == Level::Errors && entry.status < ERRORS_FROM {
            return;
        }
        if self.queue.try_send(Message::Entry(Box::new(entry))).is_err() {
            self.metrics.access_lines_dropped(1);
        }
    }

    /// Waits until all entries so far are written, for two seconds at most.
    pub async fn flush(&self) {
        let (end, ended) = oneshot::channel();
        let flushed = async {
            if self.queue.send(Message::End(end)).await.is_ok() {
                let _ = ended.await;
            }
        };
        let _ = timeout(END_TIMEOUT, flushed).await;
    }
}

/// Writes entries until all handles are dropped.
fn write_all(mut queue: mpsc::Receiver<Message>, format: Format, mut output: impl Write, metrics: &Metrics) {
    let (mut messages, mut text, mut failing) = (Vec::with_capacity(BATCH_MAX), String::new(), false);
    while queue.blocking_recv_many(&mut messages, BATCH_MAX) > 0 {
        text.clear();
        let (mut lines, mut ends) = (0, vec![]);
        for message in messages.drain(..) {
            match message {
                Message::Entry(entry) => {
                    entry.write(format, &mut text);
                    lines += 1;
                }
                Message::End(end) => ends.push(end),
            }
        }
        let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
        if let Err(error) = &written {
            metrics.access_lines_dropped(lines);
            if !failing {
                tracing::warn!("lines of the access log are lost: standard output does not take them: {error}");
            }
        }
        failing = written.is_err();
        for end in ends {
            // A caller that waits no longer needs no answer.
            let _ = end.send(());
        }
    }
}
