//! A background job beside the server of a test.

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A background job on the runtime of a test, until it is cancelled.
pub struct Job {
    stopping: CancellationToken,
    working: JoinHandle<()>,
}

impl Job {
    pub fn start<W: Future<Output = ()> + Send + 'static>(work: impl FnOnce(CancellationToken) -> W) -> Self {
        let stopping = CancellationToken::new();
        let working = tokio::spawn(work(stopping.clone()));
        Self { stopping, working }
    }

    pub async fn end(self) {
        self.stopping.cancel();
        self.working.await.expect("it ends");
    }
}
