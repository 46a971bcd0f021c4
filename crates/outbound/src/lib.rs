//! Traffic that leaves the service: requests to webhooks, push services and issuers of sign-ins, and mail. Knows no database and no
//! handler.

#![forbid(unsafe_code)]

pub mod jose;
pub mod mail;
pub mod openid;
pub mod push;
pub mod webhook;
