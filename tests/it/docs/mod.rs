//! The documents: their examples are run, and compared with the server's answers.

pub mod asynchronous;
pub mod deployment;
pub mod examples;
pub mod openapi;
pub mod pages;
pub mod readme;
pub mod schemas;
