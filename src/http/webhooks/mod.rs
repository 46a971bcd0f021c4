//! Webhooks: endpoints, deliveries, and the message that an endpoint receives. Knows no attempt: the jobs deliver.

pub(crate) mod deliveries;
pub(crate) mod endpoint_view;
pub(crate) mod endpoints;
pub(crate) mod message;
pub(crate) mod received;
