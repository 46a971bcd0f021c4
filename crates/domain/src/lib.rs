//! A played game and its players.
//!
//! A game is the fold of its log: [`Game::decide`] says which events a command leads to, and [`Game::apply`] is the
//! only way in which a game changes. Both are pure: time, new ids and random numbers are arguments.
//!
//! This crate knows the rules of the games (`mancala-rules`), seats, clocks and offers. It also knows what is derived from a game: its
//! record, its notices, and its counts in the explorer. It does not know how games are stored, sent or requested.
//!
//! ```
//! use mancala_domain::{
//!     Action, Clock, Command, Event, Game, GameId, JoinContext, Opponent, PlayerId, Seat, Status, Terms, Visibility,
//! };
//! use mancala_rules::{AnyOptions, Variant};
//! use time::{Duration, OffsetDateTime};
//! use uuid::Uuid;
//!
//! let options = AnyOptions::parse(Variant::Kalah, "standard", "")?;
//! let terms = Terms {
//!     options,
//!     rules_version: options.variant().rules_version(),
//!     opponent: Opponent::Open,
//!     clock: Clock::PerMove { allowance: Duration::DAY },
//!     visibility: Visibility::Public,
//!     creator: Seat::First,
//!     start: None,
//!     is_practice: false,
//! };
//! let (ana, bob) = (PlayerId(Uuid::from_u128(1)), PlayerId(Uuid::from_u128(2)));
//! let now = OffsetDateTime::UNIX_EPOCH;
//!
//! // Ana creates a game, Bob joins it, and Ana plays.
//! let (mut game, created) = Game::create(GameId(Uuid::nil()), terms, ana, Duration::WEEK, now);
//! let mut log: Vec<Event> = vec![created];
//! let join = Action::Join { join_code: None, context: JoinContext { running_games: 0, is_blocked: false } };
//! for (player, action) in [(bob, join), (ana, Action::Play { ply: 1, word: "C", recorded: &[] })] {
//!     let decision = game.decide(&Command { player, if_version: None, action }, now)?;
//!     for event in decision.events {
//!         game.apply(&event)?;
//!         log.push(event);
//!     }
//! }
//! assert_eq!((game.status(), game.ply(), game.version()), (Status::Active, 1, 3));
//! assert_eq!(game.position().to_string(), "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S");
//!
//! // What is refused changes nothing.
//! let stale = Command { player: ana, if_version: None, action: Action::Play { ply: 1, word: "D", recorded: &[] } };
//! assert_eq!(game.decide(&stale, now).unwrap_err().to_string(), "the next ply is 2");
//!
//! // The log is all that there is to know.
//! assert_eq!(Game::replay(game.id(), &log)?, game);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod analysis;
mod app;
mod archive;
mod audit;
mod clock;
mod computer_games;
mod decide;
mod disguise;
mod email;
mod exploration;
mod game;
mod ids;
mod import;
mod level;
mod likeness;
mod name_filter;
mod note;
mod notice;
mod password;
mod player;
mod player_name;
mod push;
mod record;
mod report;
mod reserved_names;
mod seat;
mod variant_name;

pub use analysis::{ANALYSIS_EDITION, Analysis, Class, JudgedPly, PLIES_ANALYSED_MAX, POINTS_PER_SEED, Value};
pub use app::{AppName, AppNameError, ExternalId, ExternalIdError};
pub use archive::{ARCHIVE_VERSION, ArchiveError, ArchivedLog, decode, decode_unverified, encode};
pub use audit::{Flaw, audit, audit_analysis};
pub use clock::{Clock, Pause, Time};
pub use computer_games::{ComputerGames, Sharing, TooManyComputerGames};
pub use decide::{
    Action, Command, Decision, JoinContext, NothingToOffer, OFFERS_MAX, OfferContext, Permitted, Refusal,
    RematchContext, RematchOpponent, Subject, TakebackContext,
};
pub use email::{EmailAddress, EmailAddressError, MailKind};
pub use exploration::{
    EXPLORED_BROKEN_OFF_PLIES_MIN, EXPLORED_PLIES_MIN, Exploration, PositionKey, PositionKeys, Visit,
};
pub use game::{
    Change, Created, Event, Fact, Game, GameResult, GameState, Moved, Offer, OfferAnswer, OfferKind, Opponent,
    PLIES_MAX, Ply, PlyAction, Previous, Reason, ReplayError, Start, Status, Terms, UnplayableError, Visibility,
};
pub use ids::{GameId, PlayerId, Slot};
pub use import::{Import, ImportError, ImportRejection, ImportedPly, TextLocation};
pub use level::{Level, LevelError};
pub use name_filter::{NameFilter, NameFilterError};
pub use note::{NoteText, NoteTextError};
pub use notice::{Notice, NoticeKind, deadline_soon, notices, unasked_from};
pub use password::{Password, PasswordError};
pub use player::{Player, PlayerKind, RUNNING_GAMES_MAX};
pub use player_name::{PlayerName, PlayerNameError};
pub use push::{DeviceKind, is_current, is_pushed, pushes};
pub use record::{RecordingError, record};
pub use report::{Remark, RemarkError, ReportReason};
pub use reserved_names::ReservedNames;
pub use seat::{BySeat, Seat, seat_at};
pub use variant_name::variants_named;
