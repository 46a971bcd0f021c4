//! The picture of a board. Knows its parts. `layout` knows where they lie, and `words` knows the text.

use askama::Template;
use mancala_rules::{Effect, House, Pit, Place, Side};

use crate::{
    layout::{self, Area, Layout, Spot},
    scene::{Scene, SceneStatus},
    svg::render,
    view::{Background, Caption, Theme, View},
    words::{self, Speaker},
};

/// Draws a board as SVG.
///
/// ```
/// use mancala_picture::{PlayerLabel, PlayerMark, Scene, SceneStatus, View, draw_board};
/// use mancala_rules::{AnyOptions, AnyPosition, BySide, Variant};
///
/// let options = AnyOptions::parse(Variant::Oware, "standard", "")?;
/// let position = AnyPosition::opening(&options);
/// let ana = PlayerLabel { name: "Ana", mark: None };
/// let names = BySide { south: Some(ana), north: Some(PlayerLabel { name: "Bo", mark: Some(PlayerMark::Guest) }) };
/// let scene = Scene { position: &position, names, ply: 0, last: None, status: SceneStatus::of(&position) };
/// let svg = draw_board(&scene, View::PLAIN);
/// assert!(svg.starts_with("<svg ") && svg.contains("Oware: Ana against Bo (guest), the opening</title>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn draw_board(scene: &Scene, view: View) -> String {
    let pits = scene.position.board().pits_per_side();
    let layout = Layout::of(scene.position, view);
    let sides = [view.bottom.other(), view.bottom];
    let row = |side| (0..pits).map(move |index| Place::Pit(Pit { side, index })).chain([Place::Store(side)]);
    let picture = BoardSvg {
        language: view.language.tag(),
        title: words::title(scene, view.language),
        description: words::description(scene, view.bottom, view.language),
        caption: (view.caption == Caption::Shown).then(|| words::caption(scene, view.language)),
        theme: view.theme,
        background: view.background,
        frame: layout::frame(view.caption),
        wood: layout.board(),
        seed: layout.seed_radius(),
        players: match view.caption {
            Caption::Shown => sides.map(|side| PlayerLine::of(scene, side, view)).into(),
            Caption::Hidden => vec![],
        },
        hollows: sides.into_iter().flat_map(row).map(|place| Hollow::of(scene, &layout, place)).collect(),
    };
    render(&picture)
}

/// The values of the template `board.svg`.
#[derive(Template)]
#[template(path = "board.svg")]
struct BoardSvg {
    language: &'static str,
    title: String,
    description: String,
    /// The line below the board.
    caption: Option<String>,
    theme: Theme,
    background: Background,
    /// The visible part of the drawing.
    frame: Area,
    wood: Area,
    /// The radius of a seed.
    seed: i32,
    players: Vec<PlayerLine>,
    hollows: Vec<Hollow>,
}

/// The line above or below the board that names the player at that side.
struct PlayerLine {
    /// The baseline of the text.
    y: i32,
    name: String,
    role: &'static str,
    badge: Badge,
}

/// The sign before a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Badge {
    None,
    Turn,
    Winner,
}

impl PlayerLine {
    fn of(scene: &Scene, side: Side, view: View) -> Self {
        let badge = match scene.status {
            SceneStatus::Turn(turn) if turn == side => Badge::Turn,
            SceneStatus::Over { winner: Some(winner), .. } if winner == side => Badge::Winner,
            _ => Badge::None,
        };
        let role = words::role(scene, side, view.language);
        let room = layout::name_room(role, badge != Badge::None);
        Self {
            y: if side == view.bottom { layout::BOARD_BOTTOM + 33 } else { layout::BOARD_TOP - 15 },
            name: Speaker::new(&scene.names, view.language).short_player(side, room),
            role,
            badge,
        }
    }
}

/// The distance of a house's square from its hollow.
const HOUSE_DISTANCE: i32 = 3;

/// A pit, a store or a reserve.
struct Hollow {
    /// The place by the rules: `A`, `a`, `south_store`, or with four rows `south_reserve`.
    name: String,
    area: Area,
    /// Whether the pit is out of play, and drawn with a lid.
    is_burnt: bool,
    /// Around the hollow of a house that its side still owns.
    house: Option<(House, Area)>,
    /// Whether the pit is blocked, and crossed out.
    is_blocked: bool,
    /// Whether the other side has won the pit, which then has two circles in it.
    is_tuzdyk: bool,
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
        let area = layout.hollow(place);
        let (count, is_burnt, letter) = match place {
            Place::Pit(pit) => (board.seeds(pit), scene.position.is_burnt(pit), Some(layout.letter(pit))),
            Place::Store(side) => (board.reserve(side).unwrap_or(board.store(side)), false, None),
        };
        let (house, is_blocked) = match place {
            Place::Pit(pit) => (
                words::house_at(scene.position, pit).map(|house| (house, area.around(HOUSE_DISTANCE))),
                scene.position.blocked() == Some(pit),
            ),
            Place::Store(_) => (None, false),
        };
        Self {
            name: match place {
                Place::Store(side) if board.reserve(side).is_some() => format!("{side}_reserve"),
                place => place.to_string(),
            },
            area,
            is_burnt,
            house,
            is_blocked,
            is_tuzdyk: matches!(place, Place::Pit(pit) if scene.position.tuzdyk(!pit.side) == Some(pit)),
            ring: Mark::of(place, scene).map(|mark| (mark, area.around(layout.ring_distance()))),
            letter,
            count,
            count_at: layout.count(place),
            count_size: layout.count_size(place, count),
            seeds: layout.seeds(place, count),
        }
    }
}

impl BoardSvg {
    /// The amplitude of a line of the wood's grain: varied, so that the lines differ.
    fn grain(&self, line: i32) -> i32 {
        (line * 7 + self.wood.width) % 12
    }
}

/// The mark of a place after the last move. If several apply, the first of these is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// The move lifted the seeds of this pit, or South has chosen it and not yet sown.
    Lifted,
    /// The move captured the seeds of this pit.
    Captured,
    /// The move sowed seeds here, or captured seeds into this store.
    Sown,
}

impl Mark {
    fn of(place: Place, scene: &Scene) -> Option<Self> {
        let effects = scene.last.as_ref().map_or(&[][..], |last| last.effects);
        let is_chosen = words::chosen_pit(scene.position).is_some_and(|pit| Place::Pit(pit) == place);
        let is_lifted = |effect: &Effect| match effect {
            Effect::Lift { pit, .. } | Effect::Tax { pit, .. } => Place::Pit(*pit) == place,
            _ => false,
        };
        let is_captured = |effect: &Effect| match effect {
            Effect::Capture { from, .. } => from.iter().any(|pit| Place::Pit(*pit) == place),
            Effect::Take { from, .. } => from.iter().any(|pit| Place::Pit(*pit) == place),
            _ => false,
        };
        let is_sown = |effect: &Effect| match effect {
            Effect::Sow { to } => *to == place,
            Effect::Place { pit, .. } => Place::Pit(*pit) == place,
            Effect::Capture { to, .. } => Place::Store(*to) == place,
            _ => false,
        };
        if is_chosen || effects.iter().any(is_lifted) {
            Some(Self::Lifted)
        } else if effects.iter().any(is_captured) {
            Some(Self::Captured)
        } else {
            effects.iter().any(is_sown).then_some(Self::Sown)
        }
    }

    /// The class in the styles.
    const fn class(self) -> &'static str {
        match self {
            Self::Lifted => "lifted",
            Self::Captured => "captured",
            Self::Sown => "sown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mancala_rules::{AnyOptions, AnyPosition, BySide, Variant};

    /// The places of a position's picture, each with its part of the drawing.
    fn places(variant: Variant, options: &str, text: &str) -> Vec<(String, String)> {
        let options = AnyOptions::parse(variant, "standard", options).unwrap();
        let position = AnyPosition::parse(&options, text).unwrap();
        let status = SceneStatus::of(&position);
        let scene = Scene { position: &position, names: BySide::default(), ply: 0, last: None, status };
        let svg = draw_board(&scene, View::PLAIN);
        let places = svg.split("data-place=\"").skip(1).filter_map(|rest| rest.split_once('"'));
        places.map(|(place, drawn)| (place.to_owned(), drawn.to_owned())).collect()
    }

    fn marked(places: &[(String, String)], class: &str) -> Vec<String> {
        let class = format!("class=\"{class}\"");
        places.iter().filter(|(_, drawn)| drawn.contains(&class)).map(|(place, _)| place.clone()).collect()
    }

    #[test]
    fn the_chosen_pit_of_a_lockstep_opening_is_marked_without_a_move() {
        let lockstep = |text| places(Variant::Congkak, "pits=3;seeds=2;opening=lockstep", text);
        assert_eq!(marked(&lockstep("2,2,2/2,2,2 0-0 N lB 1 1S"), "lifted"), ["B"]);
        assert!(marked(&lockstep("2,2,2/2,2,2 0-0 S l 0 1S"), "lifted").is_empty());
    }

    #[test]
    fn houses_that_work_idle_ones_and_lost_ones_look_different() {
        let bao = |text| places(Variant::Bao, "", text);
        let shown = bao("0,0,0,0,6n,2,2,0,0,0,0,0,0,0,0,0/0,0,0,0,5n,3,2,0,0,0,0,0,0,0,0,0 22-22 S - 0 1S");
        assert_eq!((marked(&shown, "house"), marked(&shown, "idle")), (vec!["E".to_owned()], vec!["e".to_owned()]));
        let shown = bao("0,0,0,0,6,2,2,0,0,0,0,0,0,0,0,0/0,0,0,0,5n,3,2,0,0,0,0,0,0,0,0,0 22-22 S - 0 1S");
        assert!(marked(&shown, "house").is_empty());
    }
}
