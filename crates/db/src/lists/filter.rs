//! Which games a list shows, and in what order.

use mancala_domain::{PlayerId, PositionKey, Status, Visibility};
use mancala_rules::{Side, Variant};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::kinds::{ClockKind, OpponentKind};

/// Which games a list shows, and how.
#[derive(Clone, Debug)]
pub struct Filter {
    pub whose: Whose,
    pub status: Option<Status>,
    pub variant: Option<Variant>,
    pub preset: Option<&'static str>,
    pub clock: Option<ClockKind>,
    /// Who may, or could, take the second seat.
    pub open_to: Option<OpponentKind>,
    /// How the game ended: only of finished games.
    pub ended: Option<Ended>,
    /// Why the game ended: only of finished games.
    pub reason: Option<String>,
    /// From so many plies to so many.
    pub plies: (i32, i32),
    pub imported: Option<bool>,
    pub analysed: Option<bool>,
    /// Created (in order of finishing: finished) at this moment or later.
    pub since: Option<OffsetDateTime>,
    /// Created (or finished) before this moment.
    pub until: Option<OffsetDateTime>,
    pub order: Order,
    /// Who asks: only public games are listed, and those to which the viewer belongs when a player is given.
    pub viewer: Option<PlayerId>,
}

/// Whose games.
#[derive(Clone, Copy, Debug)]
pub enum Whose {
    /// Everybody's public ones.
    Everybodys,
    /// Those in which this player sits.
    Players(Of),
    /// Those that this player imported.
    ImportedBy(PlayerId),
    /// Everybody's public ones that came to this position and ended with a result.
    At(PositionKey),
}

/// Which games of a player.
#[derive(Clone, Copy, Debug)]
pub struct Of {
    pub player: PlayerId,
    /// Only those in which this player sits as well.
    pub opponent: Option<PlayerId>,
    pub visibility: Option<Visibility>,
    /// Only those in which it is the player's turn.
    pub to_move: bool,
}

/// How a game ended. Won and lost by the player whose games are listed; against oneself one does neither.
#[derive(Clone, Copy, Debug)]
pub enum Ended {
    WonBy(Side),
    Drawn,
    Won,
    Lost,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Last created first.
    Created,
    /// Last finished first; only finished games.
    Finished,
    /// Last changed first; only of a player's active games.
    Updated,
    /// By deadline, the nearest first, and at last those without one; only of a player's active games.
    Deadline,
    /// First those in which the player is to move, then the others; each by deadline.
    Turn,
}

impl Order {
    /// Whether it begins with the earliest moment.
    pub(crate) const fn is_ascending(self) -> bool {
        matches!(self, Order::Deadline | Order::Turn)
    }
}

impl Filter {
    /// The statuses whose ranges are merged.
    pub(crate) fn statuses(&self) -> Vec<&'static str> {
        match self.status {
            Some(status) => vec![status.as_str()],
            None => Status::ALL.map(Status::as_str).to_vec(),
        }
    }

    /// The variants whose ranges are merged.
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

    pub(crate) fn viewer(&self) -> Option<Uuid> {
        self.viewer.map(|viewer| viewer.0)
    }
}
