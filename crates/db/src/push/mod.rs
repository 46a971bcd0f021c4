//! Push notifications: the devices of players, the queue of notices, and the results of sending.

pub mod devices;
pub mod queue;
pub mod sending;
pub mod settings;
