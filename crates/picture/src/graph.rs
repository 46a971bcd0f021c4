//! The graph of a game: by how many seeds one store is ahead of the other, ply by ply. Knows nothing of boards.

use askama::Template;
use mancala_rules::{AnyPosition, BySide, Side, Variant};

use crate::{
    scene::PlayerLabel,
    svg::render,
    view::{Theme, View},
    words,
};

/// The most points of a graph: several times the longest game that people play. Of more points, the last ones are
/// drawn. So a picture has at most 90 KiB.
pub const POINTS_MAX: usize = 2000;

/// The size of the picture, and the area of the graph in it, in units.
const WIDTH: i32 = 640;
const HEIGHT: i32 = 380;
const LEFT: i32 = 58;
const RIGHT: i32 = 622;
const TOP: i32 = 52;
const BOTTOM: i32 = 316;

/// The most letters of a name that are shown beside the line.
const NAME_LETTERS: usize = 36;

/// The same if the key of the marks stands beside the name.
const NAME_LETTERS_BESIDE_KEY: usize = 18;

/// The most faults of a kind and a player that the description lists one by one.
const FAULTS_LISTED_MAX: usize = 10;

/// The most lines of the grid on one side of zero, and the most labels along the plies.
const LEVELS_MAX: i32 = 3;
const TICKS_MAX: u32 = 8;

/// The least height of the graph, as a lead in seeds: a lead of one seed must not look like a won game.
const LEAD_LEAST: i32 = 6;

/// The course of a game.
#[derive(Clone, Debug)]
pub struct Course<'a> {
    /// The variant of the game, which the title names.
    pub variant: Variant,
    /// The player at each side in the end; `None` for a free seat.
    pub names: BySide<Option<PlayerLabel<'a>>>,
    /// The points in the order of plies; the last [`POINTS_MAX`] are drawn. Not empty.
    pub points: Vec<Point>,
}

/// The stores after a ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    ply: u32,
    stores: BySide<i32>,
    /// The round, in a match.
    round: Option<u32>,
    /// The fault of the ply, and the side at which its player sits in the end.
    fault: Option<(Fault, Side)>,
}

/// The fault of a ply, as an analysis classifies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A smaller fault, marked by a dot.
    Mistake,
    /// A larger fault, marked by a square.
    Blunder,
}

impl Fault {
    const ALL: [Self; 2] = [Self::Mistake, Self::Blunder];

    const fn word(self) -> &'static str {
        match self {
            Self::Mistake => "mistake",
            Self::Blunder => "blunder",
        }
    }
}

impl Point {
    /// The point after a ply, by the stores of the position.
    #[must_use]
    pub fn of(ply: u32, position: &AnyPosition) -> Self {
        let board = position.board();
        let store = |side| i32::from(board.store(side));
        let stores = BySide { south: store(Side::South), north: store(Side::North) };
        Self { ply, stores, round: position.round().map(|round| round.number), fault: None }
    }

    /// The point with a fault of the ply. `by` is the side at which its player sits in the end.
    #[must_use]
    pub const fn with_fault(self, fault: Fault, by: Side) -> Self {
        Self { fault: Some((fault, by)), ..self }
    }

    /// By how many seeds a side is ahead; negative if it is behind.
    fn lead(self, side: Side) -> i32 {
        self.stores[side] - self.stores[side.other()]
    }
}

/// Draws the graph of a game as SVG. Above zero is the lead of the side at the bottom of the view.
///
/// ```
/// use mancala_picture::{Course, Fault, Handedness, PlayerLabel, Point, Theme, View, draw_graph};
/// use mancala_rules::{AnyOptions, AnyPosition, BySide, Side, Variant};
///
/// let opening = AnyPosition::opening(&AnyOptions::parse(Variant::Kalah, "standard", "")?);
/// let (next, _) = opening.play("C".parse()?)?;
/// let points = vec![Point::of(0, &opening), Point::of(1, &next).with_fault(Fault::Mistake, Side::South)];
/// let label = |name| Some(PlayerLabel { name, mark: None });
/// let names = BySide { south: label("Ana"), north: label("Bo") };
/// let course = Course { variant: Variant::Kalah, names, points };
/// let view = View { bottom: Side::South, handedness: Handedness::Plain, theme: Theme::Auto };
/// let svg = draw_graph(&course, view);
/// assert!(svg.contains("Ana made a mistake: ply 1."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn draw_graph(course: &Course, view: View) -> String {
    let points = &course.points[course.points.len().saturating_sub(POINTS_MAX)..];
    let scale = Scale::of(points, view.bottom);
    let place = |point: &Point| (scale.x(point.ply), scale.y(point.lead(view.bottom)));
    let line = points.iter().map(place).map(|(x, y)| format!("{x} {y}")).collect::<Vec<_>>().join("L");
    let (first, last) =
        (points.first().map_or(LEFT, |first| place(first).0), points.last().map_or(LEFT, |last| place(last).0));
    // A line of no length: only its caps are drawn.
    let marks = |wanted| {
        let at = points.iter().filter(|point| point.fault.is_some_and(|(fault, _)| fault == wanted)).map(place);
        at.map(|(x, y)| format!("M{x} {y}h0")).collect::<Vec<_>>().concat()
    };
    let [mistakes, blunders] = Fault::ALL.map(marks);
    let has_marks = points.iter().any(|point| point.fault.is_some());
    let letters = if has_marks { NAME_LETTERS_BESIDE_KEY } else { NAME_LETTERS };
    let ahead = |side| format!("{} ahead", words::short_name(&course.names, side, letters));
    let picture = GraphSvg {
        title: format!("{}, seeds ahead by ply", words::players(course.variant, &course.names)),
        description: description(course, points),
        theme: view.theme,
        zero: scale.y(0),
        levels: scale.levels(),
        ticks: scale.ticks(),
        rounds: points
            .windows(2)
            .filter(|pair| pair[0].round != pair[1].round)
            .map(|pair| scale.x(pair[1].ply))
            .collect(),
        area: format!("M{first} {zero}L{line}L{last} {zero}z", zero = scale.y(0)),
        line: format!("M{line}"),
        end: points.last().map(place),
        mistakes,
        blunders,
        has_marks,
        ahead: [ahead(view.bottom), ahead(view.bottom.other())],
    };
    render(&picture)
}

/// The values of the template `graph.svg`.
#[derive(Template)]
#[template(path = "graph.svg")]
struct GraphSvg {
    title: String,
    description: String,
    theme: Theme,
    zero: i32,
    levels: Vec<Label>,
    ticks: Vec<Label>,
    /// The x of each ply that begins a round.
    rounds: Vec<i32>,
    area: String,
    line: String,
    end: Option<(i32, i32)>,
    mistakes: String,
    blunders: String,
    has_marks: bool,
    /// The labels above and below the graph.
    ahead: [String; 2],
}

/// A number along an edge, and its coordinate there.
struct Label {
    at: i32,
    text: String,
}

/// The scale of plies and leads.
struct Scale {
    first: u32,
    last: u32,
    /// The seeds between two lines of the grid.
    step: i32,
    /// The lead at the upper edge.
    most: i32,
}

impl Scale {
    fn of(points: &[Point], side: Side) -> Self {
        let most = points.iter().map(|point| point.lead(side).abs()).max().unwrap_or(0).max(LEAD_LEAST);
        let steps = [2, 5, 10, 20, 50, 100];
        let step = steps.into_iter().find(|step| most <= step * LEVELS_MAX).unwrap_or(100);
        let ply = |point: Option<&Point>| point.map_or(0, |point| point.ply);
        Self { first: ply(points.first()), last: ply(points.last()), step, most: (most + step - 1) / step * step }
    }

    fn x(&self, ply: u32) -> i32 {
        let plies = i64::from(self.last.saturating_sub(self.first)).max(1);
        let along = i64::from(ply.saturating_sub(self.first)) * i64::from(RIGHT - LEFT) / plies;
        LEFT + i32::try_from(along).unwrap_or(0)
    }

    fn y(&self, lead: i32) -> i32 {
        i32::midpoint(TOP, BOTTOM) - lead * (BOTTOM - TOP) / 2 / self.most
    }

    fn levels(&self) -> Vec<Label> {
        let highest = self.most / self.step;
        let level = |n: i32| Label { at: self.y(n * self.step), text: (n * self.step).abs().to_string() };
        (-highest..=highest).map(level).collect()
    }

    fn ticks(&self) -> Vec<Label> {
        let plies = self.last.saturating_sub(self.first);
        let steps = [1, 2, 5, 10, 20, 50, 100, 200];
        let step = steps.into_iter().find(|step| plies <= step * TICKS_MAX).unwrap_or(500);
        let tick = |ply: u32| Label { at: self.x(ply), text: ply.to_string() };
        (self.first.div_ceil(step)..=self.last / step).map(|n| tick(n * step)).collect()
    }
}

fn description(course: &Course, points: &[Point]) -> String {
    let Some(last) = points.last() else { return String::new() };
    let name = |side| words::player_name(&course.names, side);
    let (south, north) = (name(Side::South), name(Side::North));
    let mut sentences = vec![format!(
        "After ply {}: {south} has {} seeds, {north} {}.",
        last.ply, last.stores.south, last.stores.north
    )];
    for side in Side::ALL {
        // `max_by_key` takes the last of equal ones, which is the first ply in reverse.
        let most = points.iter().rev().max_by_key(|point| point.lead(side)).filter(|point| point.lead(side) > 0);
        sentences.push(match most {
            Some(point) => {
                format!("{} was ahead by {} at most, after ply {}.", name(side), point.lead(side), point.ply)
            }
            None => format!("{} was never ahead.", name(side)),
        });
    }
    for side in Side::ALL {
        sentences.extend(Fault::ALL.into_iter().filter_map(|fault| faults(points, fault, side, &name(side))));
    }
    sentences.join(" ")
}

/// "Ana made 2 mistakes: ply 5, ply 9."
fn faults(points: &[Point], fault: Fault, by: Side, name: &str) -> Option<String> {
    let plies: Vec<u32> =
        points.iter().filter(|point| point.fault == Some((fault, by))).map(|point| point.ply).collect();
    let word = fault.word();
    let count = match plies.len() {
        0 => return None,
        1 => format!("a {word}"),
        more => format!("{more} {word}s"),
    };
    let listed: Vec<_> = plies.iter().take(FAULTS_LISTED_MAX).map(|ply| format!("ply {ply}")).collect();
    let more = if plies.len() > FAULTS_LISTED_MAX { ", and more" } else { "" };
    Some(format!("{name} made {count}: {}{more}.", listed.join(", ")))
}
