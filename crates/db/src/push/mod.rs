//! Push notifications: the devices of players, what is to be sent to them, and what has become of it.

pub mod devices;
pub mod queue;
pub mod sending;
pub mod settings;
