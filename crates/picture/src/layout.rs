//! The positions of pits, stores and seeds in the picture of a board. Knows how many there are, and not how they look.
//!
//! A picture is 640 units wide for every board: shown at 320 pixels, a unit is half a pixel. Counts are drawn beside the pits, on the wood.
//! So they are readable for any number of seeds and any width of pits.

use std::{f64::consts::TAU, sync::LazyLock};

use mancala_rules::{AnyPosition, Pit, Place, Side};
use serde::Deserialize;

use crate::{
    font::{Font, Room},
    view::{Caption, Handedness, View},
};

/// The size of the picture, in units.
const WIDTH: i32 = 640;
const HEIGHT: i32 = 424;

/// The page around a board without captions.
const MARGIN: i32 = 12;

/// The upper and the lower edge of the board.
pub const BOARD_TOP: i32 = 46;
pub const BOARD_BOTTOM: i32 = 356;

/// The measures of boards. The web page reads the same file.
static FORMS: LazyLock<Forms> =
    LazyLock::new(|| serde_json::from_str(include_str!("../boards.json")).expect("boards.json is well-formed"));

#[derive(Deserialize)]
struct Forms {
    picture: Form,
    picture_deep: Form,
}

/// The measures of a board across its rows. The README says what the numbers mean.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Form {
    margin: i32,
    band: i32,
    across: i32,
    middle: i32,
}

/// With four rows: the pits of a row.
const PITS_OF_FOUR_ROWS: i32 = 8;

/// The widest column of a pit: on a board of few pits they stay round.
const COLUMN_MAX: i32 = 98;

/// The width of the columns of all pits and of the two stores, inside the board's edge.
const INNER_WIDTH: i32 = 596;

/// The width of a pit's column. A store is as wide as 1.2 pits.
fn column_width(pits: i32) -> i32 {
    (INNER_WIDTH * 10 / (10 * pits + 24)).min(COLUMN_MAX)
}

/// The width between the board's edge and the stores.
const EDGE: i32 = 14;

/// The most seeds that are drawn in a pit, and in a store: it looks full, and only the count says more.
pub const PIT_SEEDS_MAX: u16 = 24;
pub const STORE_SEEDS_MAX: u16 = 60;

/// Where the line of a player begins and ends: the left edge of the name, and the right edge of the label beside it.
pub const NAME_LEFT: i16 = 42;
pub const ROLE_RIGHT: i16 = 626;

/// The least width between a name and the text to its right.
pub const NAME_GAP: f32 = 12.0;

/// The font of the labels beside the names. The sizes are those of `shared.css`.
pub const ROLE_FONT: Font = Font { size: 23, is_bold: false };

/// The room of a name beside a label. It is the same for all boards, and bold for a player with a badge.
pub fn name_room(role: &str, is_bold: bool) -> Room {
    let right = if role.is_empty() { 0.0 } else { ROLE_FONT.width(role) + NAME_GAP };
    Room { font: Font { size: 26, is_bold }, width: f32::from(ROLE_RIGHT - NAME_LEFT) - right }
}

/// The visible part of the drawing: all of it, or only the board if there are no captions.
pub const fn frame(caption: Caption) -> Area {
    match caption {
        Caption::Shown => Area { x: 0, y: 0, width: WIDTH, height: HEIGHT },
        Caption::Hidden => {
            Area { x: 0, y: BOARD_TOP - MARGIN, width: WIDTH, height: BOARD_BOTTOM - BOARD_TOP + 2 * MARGIN }
        }
    }
}

/// The measures of a board.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    form: Form,
    /// Whether each side has two rows, and a reserve where others have the store.
    is_deep: bool,
    /// Whether a side has its pit A at its own right end.
    is_from_the_right: bool,
    /// The pits of a row.
    pits: i32,
    /// The width of a pit with the wood around it.
    column: i32,
    view: View,
}

/// A rounded rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    pub x: i32,
    pub y: i32,
    pub width: i32,
    pub height: i32,
}

/// A point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    pub x: i32,
    pub y: i32,
}

impl Layout {
    /// The layout of the board of a position.
    pub fn of(position: &AnyPosition, view: View) -> Self {
        let variant = position.options().variant();
        match variant.rows_per_side() {
            1 => Self::new(position.board().pits_per_side(), view),
            _ => Self::of_four_rows(variant.is_drawn_from_the_right(), view),
        }
    }

    /// The layout of a board of two rows with `pits` pits per side.
    fn new(pits: u8, view: View) -> Self {
        let (form, pits) = (FORMS.picture, pits.into());
        Self { form, is_deep: false, is_from_the_right: false, pits, column: column_width(pits), view }
    }

    /// The layout of a board of four rows.
    fn of_four_rows(is_from_the_right: bool, view: View) -> Self {
        let (form, pits) = (FORMS.picture_deep, PITS_OF_FOUR_ROWS);
        Self { form, is_deep: true, is_from_the_right, pits, column: column_width(pits), view }
    }

    /// The area of the wood.
    pub fn board(&self) -> Area {
        let width = self.pits * self.column + 2 * self.store_column() + 2 * EDGE;
        Area { x: (WIDTH - width) / 2, y: BOARD_TOP, width, height: BOARD_BOTTOM - BOARD_TOP }
    }

    /// The hollow of a pit or a store.
    pub fn hollow(&self, place: Place) -> Area {
        let Form { margin, band, across, middle } = self.form;
        let width = self.column_of(place) - self.gap();
        let (y, height) = match place {
            Place::Store(_) => (BOARD_TOP + margin + band, BOARD_BOTTOM - BOARD_TOP - 2 * (margin + band)),
            Place::Pit(pit) => {
                let row = i32::from(i32::from(pit.index) >= self.pits);
                let from_middle = middle / 2 + across + row * (2 * across + band);
                let away = if self.is_bottom(pit.side) { from_middle } else { -from_middle };
                (i32::midpoint(BOARD_TOP, BOARD_BOTTOM) + away - across, 2 * across)
            }
        };
        Area { x: self.center(place) - width / 2, y, width, height }
    }

    /// The position of the count of a place: at the edge of its side.
    pub fn count(&self, place: Place) -> Spot {
        let area = self.hollow(place);
        let (aside, below, above) = match (self.is_deep, place) {
            (false, _) => (0, 33, 12),
            (true, Place::Pit(_)) => (9, 20, 6),
            (true, Place::Store(_)) => (0, 23, 6),
        };
        let y = if self.is_bottom(side_of(place)) { area.y + area.height + below } else { area.y - above };
        Spot { x: self.center(place) + aside, y }
    }

    /// Where the letter of a pit stands: further out than its count, or with four rows left of it.
    pub fn letter(&self, pit: Pit) -> Spot {
        let x = self.center(Place::Pit(pit));
        if self.is_deep {
            return Spot { x: x - 15, y: self.count(Place::Pit(pit)).y };
        }
        Spot { x, y: if self.is_bottom(pit.side) { BOARD_BOTTOM - 9 } else { BOARD_TOP + 22 } }
    }

    /// The font size of a count: as large as its column allows, and the same for all counts up to 99.
    pub fn count_size(&self, place: Place, count: u16) -> i32 {
        let digits = if count < 100 { 2 } else { 3 };
        let most = match (self.is_deep, place) {
            (false, Place::Store(_)) => 34,
            (false, Place::Pit(_)) => 30,
            (true, _) => 22,
        };
        // A bold digit is at most 0.7 as wide as it is high, and must not touch the next count.
        most.min((self.column_of(place) - 8) * 10 / (digits * 7))
    }

    /// The radius of a seed.
    pub fn seed_radius(&self) -> i32 {
        if self.is_deep { 6 } else { (self.column / 7).clamp(6, 11) }
    }

    /// The distance of a ring from its hollow: half-way to the ring of the next one.
    pub fn ring_distance(&self) -> i32 {
        self.gap() / 4
    }

    /// Where the seeds of a hollow lie: a heap, rotated so that the hollows differ. More seeds lie closer, never
    /// outside.
    pub fn seeds(&self, place: Place, count: u16) -> Vec<Spot> {
        let (area, radius) = (self.hollow(place), self.seed_radius());
        let most = if matches!(place, Place::Store(_)) { STORE_SEEDS_MAX } else { PIT_SEEDS_MAX };
        let count = count.min(most);
        let room = |length: i32| f64::from((length / 2 - radius - 2).max(1));
        let (half_width, half_height) = (room(area.width), room(area.height));
        // Vogel's spiral: each seed is rotated by the golden angle, so that none covers another until the hollow is
        // full.
        let reach = 1.15 * f64::from(radius) * f64::from(count).sqrt();
        let narrowed = (half_width / reach).min(1.0);
        let stretched = (half_height / reach).min(1.0 / narrowed);
        let turned = f64::from(number_of(place)) * 0.8;
        let (x, y) =
            (f64::from(area.x) + f64::from(area.width) / 2.0, f64::from(area.y) + f64::from(area.height) / 2.0);
        let seed = |n: u16| {
            let from_middle = if count == 1 { 0.0 } else { reach * ((f64::from(n) + 0.5) / f64::from(count)).sqrt() };
            let angle = turned + TAU * 0.618_034 * f64::from(n);
            Spot {
                x: rounded(x + from_middle * narrowed * angle.cos()),
                y: rounded(y + from_middle * stretched * angle.sin()),
            }
        };
        (0..count).map(seed).collect()
    }

    /// How far a pit is from the end of its row where pit A lies. The back row runs back behind the front row.
    fn steps(&self, pit: Pit) -> i32 {
        let index = i32::from(pit.index);
        if index < self.pits { index } else { 2 * self.pits - 1 - index }
    }

    fn is_bottom(&self, side: Side) -> bool {
        side == self.view.bottom
    }

    fn store_column(&self) -> i32 {
        self.column * 6 / 5
    }

    fn column_of(&self, place: Place) -> i32 {
        if matches!(place, Place::Store(_)) { self.store_column() } else { self.column }
    }

    /// The wood between two hollows.
    fn gap(&self) -> i32 {
        self.column / 7 + 3
    }

    /// The middle of a place's column. The bottom row runs to the right, and ends with the store.
    fn center(&self, place: Place) -> i32 {
        let board = self.board();
        let column = |index: i32| EDGE + self.store_column() + index * self.column + self.column / 2;
        let from_left = match place {
            Place::Pit(pit) if self.is_bottom(pit.side) != self.is_from_the_right => column(self.steps(pit)),
            Place::Pit(pit) => column(self.pits - 1 - self.steps(pit)),
            Place::Store(side) if self.is_bottom(side) => board.width - EDGE - self.store_column() / 2,
            Place::Store(_) => EDGE + self.store_column() / 2,
        };
        match self.view.handedness {
            Handedness::Plain => board.x + from_left,
            Handedness::Mirrored => board.x + board.width - from_left,
        }
    }
}

impl Area {
    /// The radius of its corners, which makes its ends half circles.
    pub fn corner(self) -> i32 {
        self.width.min(self.height) / 2
    }

    /// The area that surrounds it at a distance.
    pub fn around(self, distance: i32) -> Self {
        let Self { x, y, width, height } = self;
        Self { x: x - distance, y: y - distance, width: width + 2 * distance, height: height + 2 * distance }
    }
}

const fn side_of(place: Place) -> Side {
    match place {
        Place::Pit(Pit { side, .. }) | Place::Store(side) => side,
    }
}

/// A different number for each place.
fn number_of(place: Place) -> u8 {
    let of_side = |side| if side == Side::South { 0 } else { 13 };
    match place {
        Place::Pit(Pit { side, index }) => of_side(side) + index,
        Place::Store(side) => of_side(side) + 12,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "units of a picture are small")]
fn rounded(units: f64) -> i32 {
    units.round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use mancala_rules::ROW_MAX;

    fn places(pits: u8) -> Vec<Place> {
        let row = |side| (0..pits).map(move |index| Place::Pit(Pit { side, index })).chain([Place::Store(side)]);
        row(Side::South).chain(row(Side::North)).collect()
    }

    fn views() -> impl Iterator<Item = View> {
        let view = |bottom, handedness| View { bottom, handedness, ..View::PLAIN };
        [Side::South, Side::North]
            .into_iter()
            .flat_map(move |side| [Handedness::Plain, Handedness::Mirrored].map(|handedness| view(side, handedness)))
    }

    #[test]
    fn every_board_fits_and_no_hollow_touches_another() {
        for view in views() {
            for pits in 1..=u8::try_from(ROW_MAX).expect("few") {
                let layout = Layout::new(pits, view);
                let board = layout.board();
                assert!(board.x >= 4 && board.x + board.width <= WIDTH - 4, "{pits}: {board:?}");
                let areas: Vec<_> = places(pits).into_iter().map(|place| layout.hollow(place)).collect();
                for (n, area) in areas.iter().enumerate() {
                    assert!(area.x >= board.x + 8 && area.x + area.width <= board.x + board.width - 8, "{pits}");
                    for other in &areas[n + 1..] {
                        let apart = area.x + area.width < other.x
                            || other.x + other.width < area.x
                            || area.y + area.height < other.y
                            || other.y + other.height < area.y;
                        assert!(apart, "{pits}: {area:?} {other:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn no_hollow_of_four_rows_touches_another_and_pits_face_as_by_the_rules() {
        let pit = |side, index| Place::Pit(Pit { side, index });
        for view in views() {
            for is_from_the_right in [false, true] {
                let layout = Layout::of_four_rows(is_from_the_right, view);
                let board = layout.board();
                let areas: Vec<_> = places(16).into_iter().map(|place| layout.hollow(place)).collect();
                for (n, area) in areas.iter().enumerate() {
                    assert!(area.x >= board.x + 8 && area.x + area.width <= board.x + board.width - 8);
                    assert!(area.y >= board.y + 8 && area.y + area.height <= board.y + board.height - 8);
                    for other in &areas[n + 1..] {
                        let is_beside = area.x + area.width < other.x || other.x + other.width < area.x;
                        assert!(is_beside || area.y + area.height < other.y || other.y + other.height < area.y);
                    }
                }
                let (bottom, top) = (view.bottom, view.bottom.other());
                let at = |side, index| layout.hollow(pit(side, index));
                for index in 0..8 {
                    assert_eq!(at(bottom, index).x, at(top, 7 - index).x, "front pits face each other");
                    assert_eq!(at(bottom, index).x, at(bottom, 15 - index).x, "a back pit lies behind");
                    assert!(at(top, 15 - index).y < at(top, index).y && at(top, index).y < at(bottom, index).y);
                    assert!(at(bottom, index).y < at(bottom, 15 - index).y);
                }
                let ascends = at(bottom, 0).x < at(bottom, 7).x;
                assert_eq!(ascends, (view.handedness == Handedness::Plain) != is_from_the_right);
            }
        }
    }

    #[test]
    fn any_number_of_seeds_lies_inside_its_hollow() {
        let view = views().next().expect("one");
        for pits in [1, 6, 7, 12] {
            let layout = Layout::new(pits, view);
            for place in places(pits) {
                for count in [0, 1, 2, 4, 12, 24, 25, 60, 288] {
                    let (area, seeds) = (layout.hollow(place), layout.seeds(place, count));
                    let most = if matches!(place, Place::Store(_)) { STORE_SEEDS_MAX } else { PIT_SEEDS_MAX };
                    assert_eq!(seeds.len(), usize::from(count.min(most)));
                    for seed in seeds {
                        assert!(seed.x > area.x && seed.x < area.x + area.width, "{pits} {place} {count}");
                        assert!(seed.y > area.y && seed.y < area.y + area.height, "{pits} {place} {count}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_bottom_row_runs_right_and_in_a_mirror_left() {
        for view in views() {
            let layout = Layout::new(6, view);
            let x = |side, index| layout.hollow(Place::Pit(Pit { side, index })).x;
            let store = layout.hollow(Place::Store(view.bottom)).x;
            let ascends = x(view.bottom, 0) < x(view.bottom, 5) && x(view.bottom, 5) < store;
            assert_eq!(ascends, view.handedness == Handedness::Plain);
            // A faces the last small letter.
            assert_eq!(x(Side::South, 0), x(Side::North, 5));
            let letter = |side| layout.letter(Pit { side, index: 0 }).y;
            assert!(letter(view.bottom) > letter(view.bottom.other()));
        }
    }

    #[test]
    fn counts_are_legible_in_a_picture_320_pixels_wide() {
        let view = views().next().expect("one");
        for pits in 1..=12 {
            let layout = Layout::new(pits, view);
            let pit = Place::Pit(Pit { side: Side::South, index: 0 });
            // At least eleven pixels. In practice no pit has more than 99 seeds.
            for (count, least) in [(4, 23), (24, 23), (288, 15)] {
                assert!(layout.count_size(pit, count) >= least, "{pits} {count}");
            }
            assert!(layout.count_size(Place::Store(Side::North), 288) >= 19);
        }
    }
}
