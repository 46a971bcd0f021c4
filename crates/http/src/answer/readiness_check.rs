//! The causes for which a server is not ready, as words of the API.

use serde::Serialize;
use utoipa::ToSchema;

/// What keeps the server from storing moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadinessCheck {
    Draining,
    Connection,
    SynchronousStandby,
    Connections,
    Standby,
    ReadOnly,
    Disk,
    Io,
    Memory,
    Rights,
    Migrations,
    Database,
}

impl ReadinessCheck {
    /// All checks, with their words.
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::Draining, "draining"),
        (Self::Connection, "connection"),
        (Self::SynchronousStandby, "synchronous_standby"),
        (Self::Connections, "connections"),
        (Self::Standby, "standby"),
        (Self::ReadOnly, "read_only"),
        (Self::Disk, "disk"),
        (Self::Io, "io"),
        (Self::Memory, "memory"),
        (Self::Rights, "rights"),
        (Self::Migrations, "migrations"),
        (Self::Database, "database"),
    ];
}
