//! The picture of a board. Knows what is to be seen; where it lies, `layout` says, and in which words, `words`.

use askama::Template;
use mancala_rules::{AnyPosition, BySide, Effect, Pit, Place, Side};

use crate::{
    ALWAYS_TEXT, Theme, View,
    layout::{self, Area, Layout, Spot},
    words,
};

/// How much of a name is shown beside the board, in letters.
const NAME_LETTERS: usize = 34;

/// What a board's picture shows.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    pub position: &'a AnyPosition,
    /// Who sits where in this position; nobody of a seat that is free, or where there are no people.
    pub names: BySide<Option<&'a str>>,
    /// After which ply.
    pub ply: u32,
    pub last: Option<LastMove<'a>>,
    pub standing: Standing,
}

/// The move that led to a position.
#[derive(Clone, Debug)]
pub struct LastMove<'a> {
    pub word: String,
    pub side: Side,
    /// Who made it.
    pub name: Option<&'a str>,
    /// What it did.
    pub effects: &'a [Effect],
}

/// How a game stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    Turn(Side),
    Over {
        /// Nobody on a draw.
        winner: Option<Side>,
        /// In a word of the API.
        reason: Option<String>,
    },
    /// A seat is free.
    Open,
    /// Ended without a result.
    Aborted,
}

impl Standing {
    /// As the rules see a position.
    pub fn of(position: &AnyPosition) -> Self {
        match position.outcome() {
            None => Self::Turn(position.turn()),
            Some(outcome) => {
                Self::Over { winner: outcome.winner, reason: outcome.reason.map(|reason| reason.to_string()) }
            }
        }
    }
}

/// Draws a board.
///
/// ```
/// use mancala_picture::{Handedness, Scene, Standing, Theme, View, draw_board};
/// use mancala_rules::{AnyOptions, AnyPosition, BySide, Side, Variant};
///
/// let options = AnyOptions::parse(Variant::Oware, "standard", "")?;
/// let position = AnyPosition::opening(&options);
/// let names = BySide { south: Some("Ana"), north: Some("Bo") };
/// let scene = Scene { position: &position, names, ply: 0, last: None, standing: Standing::of(&position) };
/// let view = View { bottom: Side::South, handedness: Handedness::Plain, theme: Theme::Auto };
/// let svg = draw_board(&scene, view);
/// assert!(svg.starts_with("<svg ") && svg.contains("Oware: Ana against Bo, the opening</title>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn draw_board(scene: &Scene, view: View) -> String {
    let pits = scene.position.board().pits_per_side();
    let layout = Layout::new(pits, view);
    let sides = [view.bottom.other(), view.bottom];
    let row = |side| (0..pits).map(move |index| Place::Pit(Pit { side, index })).chain([Place::Store(side)]);
    let picture = BoardSvg {
        title: words::title(scene),
        description: words::description(scene, view.bottom),
        caption: words::caption(scene),
        theme: view.theme,
        height: layout::HEIGHT,
        wood: layout.board(),
        seed: layout.seed_radius(),
        people: sides.map(|side| PersonLine::of(scene, side, side == view.bottom)),
        hollows: sides.into_iter().flat_map(row).map(|place| Hollow::of(scene, &layout, place)).collect(),
    };
    picture.render().expect(ALWAYS_TEXT)
}

/// The values of the template.
#[derive(Template)]
#[template(path = "board.svg")]
struct BoardSvg {
    title: String,
    description: String,
    caption: String,
    theme: Theme,
    height: i32,
    wood: Area,
    /// The radius of a seed.
    seed: i32,
    people: [PersonLine; 2],
    hollows: Vec<Hollow>,
}

/// The line above or below the board that says who sits there.
struct PersonLine {
    /// Where the text stands.
    y: i32,
    name: String,
    role: &'static str,
    badge: Badge,
}

/// What stands before a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Badge {
    None,
    Turn,
    Winner,
}

impl PersonLine {
    fn of(scene: &Scene, side: Side, is_bottom: bool) -> Self {
        let badge = match scene.standing {
            Standing::Turn(turn) if turn == side => Badge::Turn,
            Standing::Over { winner: Some(winner), .. } if winner == side => Badge::Winner,
            _ => Badge::None,
        };
        Self {
            y: if is_bottom { layout::BOARD_BOTTOM + 33 } else { layout::BOARD_TOP - 15 },
            name: words::cut(&words::person(&scene.names, side), NAME_LETTERS),
            role: words::role(scene, side),
            badge,
        }
    }
}

/// A pit or a store.
struct Hollow {
    /// `A`, `a`, `south_store`.
    name: String,
    area: Area,
    /// Out of play: closed by a lid.
    is_burnt: bool,
    ring: Option<(Mark, Area)>,
    letter: Option<Spot>,
    count: u16,
    count_at: Spot,
    count_size: i32,
    seeds: Vec<Spot>,
}

impl Hollow {
    fn of(scene: &Scene, layout: &Layout, place: Place) -> Self {
        let board = scene.position.board();
        let (count, is_burnt, letter) = match place {
            Place::Pit(pit) => (board.seeds(pit), board.is_burnt(pit), Some(layout.letter(pit))),
            Place::Store(side) => (board.store(side), false, None),
        };
        let area = layout.hollow(place);
        let effects = scene.last.as_ref().map_or(&[][..], |last| last.effects);
        Self {
            name: place.to_string(),
            area,
            is_burnt,
            ring: Mark::of(place, effects).map(|mark| (mark, area.around(layout.ring_distance()))),
            letter,
            count,
            count_at: layout.count(place),
            count_size: layout.count_size(place, count),
            seeds: layout.seeds(place, count),
        }
    }
}

impl BoardSvg {
    /// How far a line of the wood's grain swings, so that no two look the same.
    fn grain(&self, line: i32) -> i32 {
        (line * 7 + self.wood.width) % 12
    }
}

/// What the last move did at a place; of several things, the one that tells most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// It began here.
    Lifted,
    /// What lay here was captured.
    Captured,
    /// Seeds came here.
    Sown,
}

impl Mark {
    fn of(place: Place, effects: &[Effect]) -> Option<Self> {
        let is_lifted = |effect: &Effect| matches!(effect, Effect::Lift { pit, .. } if Place::Pit(*pit) == place);
        let is_captured = |effect: &Effect| match effect {
            Effect::Capture { from, .. } => from.iter().any(|pit| Place::Pit(*pit) == place),
            _ => false,
        };
        let is_sown = |effect: &Effect| match effect {
            Effect::Sow { to } => *to == place,
            Effect::Capture { to, .. } => Place::Store(*to) == place,
            _ => false,
        };
        if effects.iter().any(is_lifted) {
            Some(Self::Lifted)
        } else if effects.iter().any(is_captured) {
            Some(Self::Captured)
        } else {
            effects.iter().any(is_sown).then_some(Self::Sown)
        }
    }

    /// How the styles call it.
    const fn class(self) -> &'static str {
        match self {
            Self::Lifted => "lifted",
            Self::Captured => "captured",
            Self::Sown => "sown",
        }
    }
}
