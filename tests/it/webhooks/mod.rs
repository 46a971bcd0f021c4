//! Webhooks: their endpoints, their queues and their deliveries.

pub mod connections;
pub mod consent;
pub mod deliveries;
pub mod endpoints;
pub mod locks;
pub mod queues;
pub mod sharing;
pub mod waking;
