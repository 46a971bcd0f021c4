//! Pages of games for links in messages: what they show, and their words in each language.

pub mod game_page;
mod words;
