//! The graph of a game: how many seeds one store is ahead of the other, ply by ply.

use askama::Template;
use mancala_rules::{AnyPosition, BySide, Side, Variant};

use crate::{ALWAYS_TEXT, Theme, View, words};

/// The most points of a graph, several times the longest game that people play: of more, the last ones are drawn. So a picture has
/// 90 KiB at most.
pub const POINTS_MAX: usize = 2000;

/// The picture, in units, and in it what the line is drawn on.
const WIDTH: i32 = 640;
const HEIGHT: i32 = 380;
const LEFT: i32 = 58;
const RIGHT: i32 = 622;
const TOP: i32 = 52;
const BOTTOM: i32 = 316;

/// How much of a name is shown beside the line, in letters.
const NAME_LETTERS: usize = 36;

/// The same where it says beside the name what marks mean.
const NAME_LETTERS_BESIDE_KEY: usize = 18;

/// Faults of somebody that are told one by one.
const FAULTS_TOLD_MAX: usize = 10;

/// The lines of the grid on one side of zero, and its labels along the plies, at most.
const LEVELS_MAX: i32 = 3;
const TICKS_MAX: u32 = 8;

/// The least lead that the graph is high: a lead of one seed does not look like a game that is won.
const LEAD_LEAST: i32 = 6;

/// How a game went.
#[derive(Clone, Debug)]
pub struct Course<'a> {
    pub variant: Variant,
    pub names: BySide<Option<&'a str>>,
    /// In the order of plies; never none.
    pub points: Vec<Point>,
}

/// How the stores stand after a ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    ply: u32,
    stores: BySide<i32>,
    /// Of a match.
    round: Option<u32>,
    /// What was wrong with the ply, and who played it, by the side at which they sit in the end.
    fault: Option<(Fault, Side)>,
}

/// What was wrong with a ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Mistake,
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
    /// After a ply.
    pub fn of(ply: u32, position: &AnyPosition) -> Self {
        let board = position.board();
        let store = |side| i32::from(board.store(side));
        let stores = BySide { south: store(Side::South), north: store(Side::North) };
        Self { ply, stores, round: position.round().map(|round| round.number), fault: None }
    }

    /// The same where something was wrong with the ply, which was played by whoever sits at that side in the end.
    #[must_use]
    pub const fn with_fault(self, fault: Fault, by: Side) -> Self {
        Self { fault: Some((fault, by)), ..self }
    }

    /// By how many seeds a side is ahead.
    fn lead(self, side: Side) -> i32 {
        self.stores[side] - self.stores[side.other()]
    }
}

/// Draws a graph: up is the lead of whoever sits at the bottom, as they look at it.
#[must_use]
pub fn draw_graph(course: &Course, view: View) -> String {
    let points = &course.points[course.points.len().saturating_sub(POINTS_MAX)..];
    let scale = Scale::of(points, view.bottom);
    let place = |point: &Point| (scale.x(point.ply), scale.y(point.lead(view.bottom)));
    let line = points.iter().map(place).map(|(x, y)| format!("{x} {y}")).collect::<Vec<_>>().join("L");
    let (first, last) =
        (points.first().map_or(LEFT, |first| place(first).0), points.last().map_or(LEFT, |last| place(last).0));
    // A line of no length: what is seen of it are its ends.
    let marks = |wanted| {
        let at = points.iter().filter(|point| point.fault.is_some_and(|(fault, _)| fault == wanted)).map(place);
        at.map(|(x, y)| format!("M{x} {y}h0")).collect::<Vec<_>>().concat()
    };
    let [mistakes, blunders] = Fault::ALL.map(marks);
    let has_marks = points.iter().any(|point| point.fault.is_some());
    let letters = if has_marks { NAME_LETTERS_BESIDE_KEY } else { NAME_LETTERS };
    let ahead = |side| format!("{} ahead", words::cut(&words::person(&course.names, side), letters));
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
    picture.render().expect(ALWAYS_TEXT)
}

/// The values of the template.
#[derive(Template)]
#[template(path = "graph.svg")]
struct GraphSvg {
    title: String,
    description: String,
    theme: Theme,
    zero: i32,
    levels: Vec<Label>,
    ticks: Vec<Label>,
    /// Where a new round begins.
    rounds: Vec<i32>,
    area: String,
    line: String,
    end: Option<(i32, i32)>,
    mistakes: String,
    blunders: String,
    has_marks: bool,
    /// Above and below.
    ahead: [String; 2],
}

/// A number along an edge.
struct Label {
    at: i32,
    text: String,
}

/// Where plies and leads are drawn.
struct Scale {
    first: u32,
    last: u32,
    /// Between two lines of the grid.
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
    let name = |side| words::person(&course.names, side);
    let (south, north) = (name(Side::South), name(Side::North));
    let mut sentences = vec![format!(
        "After ply {}: {south} has {} seeds, {north} {}.",
        last.ply, last.stores.south, last.stores.north
    )];
    for side in Side::ALL {
        // Of several, the first.
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
    let told: Vec<_> = plies.iter().take(FAULTS_TOLD_MAX).map(|ply| format!("ply {ply}")).collect();
    let more = if plies.len() > FAULTS_TOLD_MAX { ", and more" } else { "" };
    Some(format!("{name} made {count}: {}{more}.", told.join(", ")))
}
