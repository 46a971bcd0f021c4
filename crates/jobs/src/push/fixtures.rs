//! Fixtures for the tests of this folder.

use mancala_db::push::sending::DueDevice;
use mancala_domain::{DeviceKind, PlayerId};
use uuid::Uuid;

/// A browser in English that is shown everything at once, and to which nothing was sent yet.
pub(super) fn due_device() -> DueDevice {
    DueDevice {
        id: Uuid::nil(),
        lease: Uuid::nil(),
        player: PlayerId(Uuid::nil()),
        kind: DeviceKind::Web,
        address: String::new(),
        host: String::new(),
        keys: None,
        language: "en".to_owned(),
        failures: 0,
        failing_since: None,
        last_success_at: None,
        quiet_until: None,
        digest_minutes: None,
        notices: vec![],
        unknown: vec![],
    }
}
