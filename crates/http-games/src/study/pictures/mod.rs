//! Boards and graphs of games as pictures, SVG or PNG: what they show, and how they are asked for and answered. `picture`
//! draws them.

mod answer;
pub mod boards;
pub mod graphs;
mod query;
pub mod scene;
