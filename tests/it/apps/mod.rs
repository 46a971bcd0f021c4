//! Apps: their keys, their players, and what each kind of caller may call.

mod authorization;
mod keys;
mod players;
mod webhooks;
