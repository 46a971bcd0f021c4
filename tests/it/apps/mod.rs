//! Apps: their keys, the issuers that they trust, their players, and what each kind of caller may call.

mod authorization;
mod exchange;
mod keys;
mod limits;
mod players;
mod quotas;
mod trust;
mod webhooks;
mod within;
