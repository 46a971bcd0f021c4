//! Which games a list shows, and in which order.

use mancala_domain::{PlayerId, PositionKey, Status, Visibility};
use mancala_rules::{Side, Variant};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::kinds::{ClockKind, OpponentKind};

/// Which games a list shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Filter {
    /// The scope: public games, or those of a player or a position.
    pub whose: GameScope,
    /// Only games of these statuses.
    pub status: Statuses,
    /// Only games of this variant.
    pub variant: Option<Variant>,
    /// Only games of this preset.
    pub preset: Option<&'static str>,
    /// Only games with this kind of clock.
    pub clock: Option<ClockKind>,
    /// The kind of opponent that may take the second seat, or that took it.
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
    /// Only practice, or only other games.
    pub practice: Option<bool>,
    /// Created (in order of finishing: finished) at this moment or later.
    pub since: Option<OffsetDateTime>,
    /// Created (or finished) before this moment.
    pub until: Option<OffsetDateTime>,
    /// The order of the list.
    pub order: Order,
    /// The caller. The list has public games. A player's list also has private games in which the viewer takes part.
    pub viewer: Option<PlayerId>,
}

/// The statuses of a list's games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Statuses {
    /// All of them.
    Any,
    /// A single status.
    One(Status),
    /// The marked ones of [`Status::ALL`].
    Marked([bool; Status::ALL.len()]),
}

impl Statuses {
    /// Whether only games of this status are listed.
    pub fn is_only(self, status: Status) -> bool {
        self == Self::One(status)
    }

    /// Whether games of this status are listed.
    pub fn has(self, status: Status) -> bool {
        match self {
            Self::Any => true,
            Self::One(one) => one == status,
            Self::Marked(marked) => Status::ALL.into_iter().zip(marked).any(|(one, is_in)| is_in && one == status),
        }
    }
}

impl FromIterator<Status> for Statuses {
    /// An empty iterator means any status.
    fn from_iter<I: IntoIterator<Item = Status>>(statuses: I) -> Self {
        let mut marked = [false; Status::ALL.len()];
        for status in statuses {
            Status::ALL.into_iter().zip(&mut marked).for_each(|(one, mark)| *mark |= one == status);
        }
        let mut named = Status::ALL.into_iter().zip(marked).filter_map(|(status, is_in)| is_in.then_some(status));
        match (named.next(), named.next()) {
            (None, _) => Self::Any,
            (Some(status), None) => Self::One(status),
            (Some(_), Some(_)) if marked == [true; Status::ALL.len()] => Self::Any,
            (Some(_), Some(_)) => Self::Marked(marked),
        }
    }
}

/// The scope of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameScope {
    /// All public games.
    Public,
    /// Games in which this player sits.
    Players(PlayerGames),
    /// Games that this player imported.
    ImportedBy(PlayerId),
    /// Public games that came to this position and ended with a result.
    At(PositionKey),
}

/// The games of one player, with the conditions of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlayerGames {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// The filter without its viewer, where every viewer is shown the same games.
    #[must_use]
    pub fn of_any_viewer(self) -> Self {
        let viewer = match self.whose {
            GameScope::Public if self.left_out().is_none() => None,
            GameScope::At(_) => None,
            GameScope::Public | GameScope::Players(_) | GameScope::ImportedBy(_) => self.viewer,
        };
        Self { viewer, ..self }
    }

    /// The statuses whose index ranges are merged.
    pub(crate) fn statuses(&self) -> Vec<&'static str> {
        Status::ALL.into_iter().filter(|status| self.status.has(*status)).map(Status::as_str).collect()
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
        let is_lobby = self.status.is_only(Status::Open) && matches!(self.open_to, Some(OpponentKind::Open));
        self.viewer().filter(|_| is_lobby)
    }

    pub(crate) fn viewer(&self) -> Option<Uuid> {
        self.viewer.map(|viewer| viewer.0)
    }
}
