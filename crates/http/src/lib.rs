//! The base of every handler of the REST API: requests as types, answers and failures, and the state of a process and of its workers. The
//! layers around all routes are here, too. Knows no route.

#![forbid(unsafe_code)]

pub mod address;
pub mod answer;
pub mod app_caller;
pub mod layers;
pub mod paths;
pub mod request;
pub mod state;
