//! Webhooks: endpoints, deliveries, and the message that an endpoint receives.

pub(crate) mod deliveries;
pub(crate) mod endpoints;
pub(crate) mod message;
