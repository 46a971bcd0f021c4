//! Push notifications: what the server offers, and the devices of the caller.

pub(crate) mod devices;
pub(crate) mod offer;
pub(crate) mod settings;
