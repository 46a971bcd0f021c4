//! Webhooks: their endpoints, their queues and their deliveries.

pub mod consent;
pub mod deliveries;
pub mod endpoints;
pub mod queues;
