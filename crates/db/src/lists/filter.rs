//! Which games a list shows, and in which order. The `Debug` text of a filter is part of what cursors are bound to: new
//! names would void the cursors of running clients.

use mancala_domain::{PlayerId, PositionKey, Status, Visibility};
use mancala_rules::{Side, Variant};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::kinds::{ClockKind, OpponentKind};

/// Which games a list shows.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Whose games.
    pub whose: Whose,
    /// Only games of this status.
    pub status: Option<Status>,
    /// Only games of this variant.
    pub variant: Option<Variant>,
    /// Only games of this preset.
    pub preset: Option<&'static str>,
    /// Only games with this kind of clock.
    pub clock: Option<ClockKind>,
    /// For which kind of opponent the second seat is, or was.
    pub open_to: Option<OpponentKind>,
    /// How the game ended: only finished games.
    pub ended: Option<Ended>,
    /// Why the game ended: only finished games.
    pub reason: Option<String>,
    /// The least and the most plies.
    pub plies: (i32, i32),
    /// Only imported games, or only others.
    pub imported: Option<bool>,
    /// Only analysed games, or only others.
    pub analysed: Option<bool>,
    /// Created (in order of finishing: finished) at this moment or later.
    pub since: Option<OffsetDateTime>,
    /// Created (or finished) before this moment.
    pub until: Option<OffsetDateTime>,
    /// The order of the list.
    pub order: Order,
    /// The caller. The list has public games, and those in which the viewer takes part if it is a player's list.
    pub viewer: Option<PlayerId>,
}

/// Whose games.
#[derive(Clone, Copy, Debug)]
pub enum Whose {
    /// All public games.
    Everybodys,
    /// Games in which this player sits.
    Players(Of),
    /// Games that this player imported.
    ImportedBy(PlayerId),
    /// Public games that came to this position and ended with a result.
    At(PositionKey),
}

/// Which games of a player.
#[derive(Clone, Copy, Debug)]
pub struct Of {
    /// The player.
    pub player: PlayerId,
    /// Only games in which this player sits as well.
    pub opponent: Option<PlayerId>,
    /// Only games of this visibility.
    pub visibility: Option<Visibility>,
    /// Only games in which the player is to move.
    pub to_move: bool,
}

/// How a game ended. `Won` and `Lost` refer to the player whose games are listed; a game against oneself is neither.
#[derive(Clone, Copy, Debug)]
pub enum Ended {
    /// This side won.
    WonBy(Side),
    /// A draw.
    Drawn,
    /// The player won.
    Won,
    /// The player lost.
    Lost,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Last created first.
    Created,
    /// Last finished first; only finished games.
    Finished,
    /// Last changed first; only a player's active games.
    Updated,
    /// By deadline, the nearest first, and those without one last; only a player's active games.
    Deadline,
    /// First the games in which the player is to move, then the others; each by deadline.
    Turn,
}

impl Order {
    /// Whether the earliest moment comes first.
    pub(crate) const fn is_ascending(self) -> bool {
        matches!(self, Order::Deadline | Order::Turn)
    }
}

impl Filter {
    /// The statuses whose index ranges are merged.
    pub(crate) fn statuses(&self) -> Vec<&'static str> {
        match self.status {
            Some(status) => vec![status.as_str()],
            None => Status::ALL.map(Status::as_str).to_vec(),
        }
    }

    /// The variants whose index ranges are merged.
    pub(super) fn variants(&self) -> Vec<String> {
        match self.variant {
            Some(variant) => vec![variant.to_string()],
            None => Variant::ALL.iter().map(ToString::to_string).collect(),
        }
    }

    pub(crate) fn variant(&self) -> Option<String> {
        self.variant.map(|variant| variant.to_string())
    }

    pub(crate) fn ended(&self) -> Option<String> {
        self.ended.map(|ended| match ended {
            Ended::WonBy(side) => side.to_string(),
            Ended::Drawn => "draw".to_owned(),
            Ended::Won => "won".to_owned(),
            Ended::Lost => "lost".to_owned(),
        })
    }

    /// The player whose games a lobby leaves out: a lobby has the games that its reader may join.
    pub(super) fn left_out(&self) -> Option<Uuid> {
        let is_lobby = self.status == Some(Status::Open) && matches!(self.open_to, Some(OpponentKind::Open));
        self.viewer().filter(|_| is_lobby)
    }

    pub(crate) fn viewer(&self) -> Option<Uuid> {
        self.viewer.map(|viewer| viewer.0)
    }
}
