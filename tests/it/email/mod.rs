//! E-mail addresses of accounts: how they are confirmed, what they are good for, and what nothing tells about them.

mod pages;
mod process;
mod resets;
mod restoration;
mod sending;
mod steps;
mod verification;
