//! Push notifications: what the server offers, and the devices of the caller.

pub mod devices;
pub mod offer;
pub mod settings;
