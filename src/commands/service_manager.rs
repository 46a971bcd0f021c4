//! Notifies systemd that the service is ready, that it stops, and that it is alive. Without systemd nothing happens.

use std::time::Duration;

use sd_notify::NotifyState;
use tokio::time::sleep;

/// The API is served. From here on the service reports to systemd's watchdog, if there is one.
pub fn ready(address: &str) {
    tell(&[NotifyState::Ready, NotifyState::Status(&format!("serving on {address}"))]);
    if let Some(timeout) = sd_notify::watchdog_enabled() {
        actix_web::rt::spawn(feed_watchdog(timeout / 2));
    }
}

/// The service stops, which takes at most so long.
pub fn stopping(within: Duration) {
    // systemd would otherwise end the drain at its own timeout.
    let extended = u32::try_from(within.as_micros()).unwrap_or(u32::MAX);
    tell(&[NotifyState::Stopping, NotifyState::ExtendTimeoutUsec(extended), NotifyState::Status("stopping")]);
}

/// Runs on the main thread, which also handles signals: if it hangs, systemd restarts the service.
async fn feed_watchdog(pause: Duration) {
    loop {
        tell(&[NotifyState::Watchdog]);
        sleep(pause).await;
    }
}

fn tell(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::warn!("systemd cannot be notified: {error}");
    }
}
