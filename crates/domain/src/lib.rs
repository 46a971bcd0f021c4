//! A played game and its people.
//!
//! A game is the fold of its log: `Game::decide` says which events a command leads to, and `Game::apply` is the only
//! way in which a game changes. Both are pure: time, ids and lots are arguments. This module knows the rules of the
//! games; it knows nothing of how games are stored, sent or asked for.

mod analysis;
mod clock;
mod command;
mod decide;
mod event;
mod exploration;
mod flaws;
mod game;
mod history;
mod import;
mod level;
mod note;
mod notice;
mod offer;
mod password;
mod player;
mod record;
mod seat;

pub use analysis::{ANALYSIS_EDITION, Analysis, Class, JudgedPly, PLIES_ANALYSED_MAX, POINTS_PER_SEED, Value};
pub use clock::{Clock, Pause, Time};
pub use command::{Action, Circumstances, Command, NothingToOffer, Refusal};
pub use event::{Created, Event, Fact, Moved, Played};
pub use exploration::{Exploration, PositionKey, PositionKeys, Visit};
pub use flaws::{Flaw, flaw_of_analysis, flaws};
pub use game::{Change, Game, GameId, GameResult, Opponent, Reason, ReplayError, Start, Status, Terms, Visibility};
pub use history::{Ply, Previous, UnplayableError, seat_at};
pub use import::{Import, ImportError, ImportedPly, Names, Place, Unplayable};
pub use level::Level;
pub use note::{NoteText, NoteTextError};
pub use notice::{Notice, NoticeKind, deadline_soon, notices};
pub use offer::{Answer, Offer, OfferKind};
pub use password::{Password, PasswordError};
pub use player::{Player, PlayerId, PlayerKind, PlayerName, PlayerNameError, RUNNING_GAMES_MAX};
pub use record::{RecordingError, record};
pub use seat::{BySeat, Seat};
