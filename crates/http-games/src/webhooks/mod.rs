//! Webhooks: endpoints, deliveries, and the message that an endpoint receives. Knows no attempt: the jobs deliver.

pub mod deliveries;
pub mod endpoint_view;
pub mod endpoints;
pub mod message;
pub mod received;
