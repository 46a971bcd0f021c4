//! The graph of a game, ply by ply. It shows by how many seeds one store is ahead of the other, or what the position is
//! worth by an analysis. Knows nothing of boards.

use askama::Template;
use mancala_rules::{AnyPosition, BySide, Side, Variant};

use crate::{
    font::{Font, Room},
    language::{Words, fill},
    layout::NAME_GAP,
    scale::{BOTTOM, LEFT, Label, RIGHT, Scale, TOP},
    scene::PlayerLabel,
    svg::render,
    view::{Background, Caption, Theme, View},
    words::Speaker,
};

/// The most points of a graph: several times the longest game that people play. If there are more, the last ones are drawn. So
/// a picture has at most 120 KiB.
pub const POINTS_MAX: usize = 2000;

/// The hundredths of a seed, which is the unit of values.
const SEED: i32 = 100;

/// The size of the picture, in units.
const WIDTH: i32 = 640;
const HEIGHT: i32 = 380;

/// The page above and below a graph without captions.
const MARGIN: i32 = 18;

/// The font of all text that names a player; the size is that of `graph.svg`.
const FONT: Font = Font { size: 22, is_bold: false };

/// The width of the lines above and below the graph, which is that of the graph.
#[expect(clippy::cast_precision_loss, reason = "some hundred units")]
const LINE_WIDTH: f32 = (RIGHT - LEFT) as f32;

/// The least room for a name that is cut, beside its mark. If there is less, the words around the name are left out.
const NAME_LEAST: f32 = 60.0;

/// The most faults of a kind and a player that the description lists one by one.
const FAULTS_LISTED_MAX: usize = 10;

/// The course of a game.
#[derive(Clone, Debug)]
pub struct Course<'a> {
    /// The variant of the game, which the title names.
    pub variant: Variant,
    /// The player at each side in the end; `None` for a free seat.
    pub names: BySide<Option<PlayerLabel<'a>>>,
    /// The measure that the graph shows.
    pub measure: Measure,
    /// The points in the order of plies; the last [`POINTS_MAX`] are drawn. Not empty.
    pub points: Vec<Point>,
}

/// The measures of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The lead of one store over the other.
    Stores,
    /// The value of the position, as an analysis judges it. Points without a value are left out.
    Value,
}

/// The position after a ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    ply: u32,
    stores: BySide<i32>,
    /// The value for the player who sits South in the end, in hundredths of a seed.
    value: Option<i32>,
    /// The round, in a match.
    round: Option<u32>,
    /// The fault of the ply, and the side at which its player sits in the end.
    fault: Option<(Fault, Side)>,
}

/// The fault of a ply, as an analysis classifies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A smaller fault; its mark is hollow.
    Mistake,
    /// A larger fault; its mark is filled.
    Blunder,
}

impl Fault {
    const ALL: [Self; 2] = [Self::Mistake, Self::Blunder];
}

impl Point {
    /// The point after a ply, by the stores of the position.
    #[must_use]
    pub fn of(ply: u32, position: &AnyPosition) -> Self {
        let stores = position.board().score().map(i32::from);
        Self { ply, stores, value: None, round: position.round().map(|round| round.number), fault: None }
    }

    /// The point with a value: the margin at the end by best play in hundredths of a seed. The margin is that of the
    /// player who sits South in the end.
    #[must_use]
    pub const fn with_value(self, hundredths: i32) -> Self {
        Self { value: Some(hundredths), ..self }
    }

    /// The point with a fault of the ply. `by` is the side at which its player sits in the end.
    #[must_use]
    pub const fn with_fault(self, fault: Fault, by: Side) -> Self {
        Self { fault: Some((fault, by)), ..self }
    }

    /// What the graph shows for a side, in hundredths of a seed; `None` if the point has no value.
    fn height(&self, measure: Measure, side: Side) -> Option<i32> {
        let of_south = match measure {
            Measure::Stores => Some((self.stores.south - self.stores.north) * SEED),
            Measure::Value => self.value,
        };
        of_south.map(|height| if side == Side::South { height } else { -height })
    }
}

/// Draws the graph of a game as SVG. Above zero is what is good for the side at the bottom of the view.
///
/// ```
/// use mancala_picture::{Course, Fault, Measure, PlayerLabel, Point, View, draw_graph};
/// use mancala_rules::{AnyOptions, AnyPosition, BySide, Side, Variant};
///
/// let opening = AnyPosition::opening(&AnyOptions::parse(Variant::Kalah, "standard", "")?);
/// let (next, _) = opening.play("C".parse()?)?;
/// let points = vec![
///     Point::of(0, &opening).with_value(1000),
///     Point::of(1, &next).with_value(450).with_fault(Fault::Mistake, Side::South),
/// ];
/// let label = |name| Some(PlayerLabel { name, mark: None });
/// let names = BySide { south: label("Ana"), north: label("Bo") };
/// let course = Course { variant: Variant::Kalah, names, measure: Measure::Value, points };
/// let svg = draw_graph(&course, View::PLAIN);
/// assert!(svg.contains("Ana made a mistake: ply 1."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn draw_graph(course: &Course, view: View) -> String {
    let points = &course.points[course.points.len().saturating_sub(POINTS_MAX)..];
    let curve = Curve::of(course.measure, points, view.bottom);
    let speaker = Speaker::new(&course.names, view.language);
    let words = speaker.words();
    let marks = curve.marks(view.bottom);
    let has_key = view.caption == Caption::Shown && points.iter().any(|point| point.fault.is_some());
    let line = |(is_over, side, y)| SideLine { y, is_over, good_for: good_for(speaker, side, course.measure, has_key) };
    let sides = [(true, view.bottom, TOP - 20), (false, view.bottom.other(), HEIGHT - 12)];
    let title = if course.measure == Measure::Value { words.values } else { words.leads };
    let picture = GraphSvg {
        language: view.language.tag(),
        words,
        title: fill(title, &[&speaker.players(course.variant)]),
        description: description(course.measure, points, view.bottom, speaker),
        theme: view.theme,
        background: view.background,
        frame: frame(view.caption),
        zero: curve.scale.y(0),
        levels: curve.scale.levels(),
        ticks: curve.scale.ticks(),
        rounds: curve.rounds(),
        area: curve.area(),
        line: curve.line(),
        end: curve.places.last().map(|(_, x, y)| (*x, *y)),
        marks,
        has_key,
        sides: if view.caption == Caption::Shown { sides.map(line).into() } else { vec![] },
    };
    render(&picture)
}

/// "better for Ana (guest)", as far as it fits beside the key of the marks. A name is cut, a mark never.
fn good_for(speaker: Speaker, side: Side, measure: Measure, has_key: bool) -> String {
    let words = speaker.words();
    let text = if measure == Measure::Value { words.better } else { words.ahead };
    let key = if has_key { FONT.width(&key(words)) + NAME_GAP } else { 0.0 };
    let room = Room { font: FONT, width: LINE_WIDTH - key }.beside("▲ ");
    let beside_words = room.beside(&fill(text, &[""]));
    let is_whole = FONT.width(&speaker.player(side)) <= beside_words.width;
    if is_whole || beside_words.beside(&speaker.mark(side)).width >= NAME_LEAST {
        fill(text, &[&speaker.short_player(side, beside_words)])
    } else {
        speaker.short_player(side, room)
    }
}

/// The key of the marks as it is wide: circles are wider than diamonds.
fn key(words: &Words) -> String {
    format!("○ {} ● {}", words.mistake, words.blunder)
}

/// The visible part of the drawing, as y and height.
const fn frame(caption: Caption) -> (i32, i32) {
    match caption {
        Caption::Shown => (0, HEIGHT),
        // The numbers of plies stand below the graph.
        Caption::Hidden => (TOP - MARGIN, BOTTOM - TOP + 2 * MARGIN + 22),
    }
}

/// The values of the template `graph.svg`.
#[derive(Template)]
#[template(path = "graph.svg")]
struct GraphSvg {
    /// The tag of the language.
    language: &'static str,
    words: &'static Words,
    title: String,
    description: String,
    theme: Theme,
    background: Background,
    /// The y and the height of the visible part.
    frame: (i32, i32),
    zero: i32,
    levels: Vec<Label>,
    ticks: Vec<Label>,
    /// The x of each ply that begins a round.
    rounds: Vec<i32>,
    area: String,
    line: String,
    end: Option<(i32, i32)>,
    /// The mistakes and blunders of the player above the line, and of the one below it.
    marks: [[String; 2]; 2],
    /// Whether the key of the marks is shown beside the names.
    has_key: bool,
    /// The lines above and below the graph, if there are any.
    sides: Vec<SideLine>,
}

/// The line above or below the graph, which says for which player that is good.
struct SideLine {
    y: i32,
    is_over: bool,
    good_for: String,
}

/// The points that are drawn, and where.
struct Curve<'a> {
    scale: Scale,
    places: Vec<(&'a Point, i32, i32)>,
}

impl<'a> Curve<'a> {
    fn of(measure: Measure, points: &'a [Point], side: Side) -> Self {
        let height = |point: &Point| point.height(measure, side);
        let most = points.iter().filter_map(height).map(i32::abs).max().unwrap_or(0);
        let ply = |point: Option<&Point>| point.map_or(0, |point| point.ply);
        let scale = Scale::new([ply(points.first()), ply(points.last())], (most + SEED - 1) / SEED);
        let place = |point: &'a Point| Some((point, scale.x(point.ply), scale.y(height(point)?)));
        let places = points.iter().filter_map(place).collect();
        Self { scale, places }
    }

    fn line(&self) -> String {
        let points: Vec<_> = self.places.iter().map(|(_, x, y)| format!("{x} {y}")).collect();
        format!("M{}", points.join("L"))
    }

    /// The area between the line and zero.
    fn area(&self) -> String {
        let x = |place: Option<&(_, i32, _)>| place.map_or(LEFT, |(_, x, _)| *x);
        let (first, last, zero) = (x(self.places.first()), x(self.places.last()), self.scale.y(0));
        format!("M{first} {zero}{}L{last} {zero}z", self.line().replacen('M', "L", 1))
    }

    fn rounds(&self) -> Vec<i32> {
        let begun = self.places.windows(2).filter(|pair| pair[0].0.round != pair[1].0.round);
        begun.map(|pair| pair[1].1).collect()
    }

    /// The mistakes and blunders of the player above the line, as circles, and of the one below it, as diamonds.
    fn marks(&self, bottom: Side) -> [[String; 2]; 2] {
        let of = |side, shape: fn(i32, i32) -> String| {
            Fault::ALL.map(|fault| {
                let places = self.places.iter().filter(|(point, ..)| point.fault == Some((fault, side)));
                places.map(|(_, x, y)| shape(*x, *y)).collect::<String>()
            })
        };
        [of(bottom, circle), of(bottom.other(), diamond)]
    }
}

fn circle(x: i32, y: i32) -> String {
    format!("M{} {y}a8 8 0 1 0 16 0 8 8 0 1 0-16 0z", x - 8)
}

fn diamond(x: i32, y: i32) -> String {
    format!("M{x} {}l10 10-10 10-10-10z", y - 10)
}

fn description(measure: Measure, points: &[Point], bottom: Side, speaker: Speaker) -> String {
    let Some(last) = points.last() else { return String::new() };
    let words = speaker.words();
    let [south, north] = Side::ALL.map(|side| speaker.player(side));
    let stores = last.stores;
    let values = [&last.ply.to_string(), &south, &stores.south.to_string(), &north, &stores.north.to_string()];
    let mut sentences = vec![fill(words.has_seeds, &values.map(String::as_str))];
    let (most, never) = match measure {
        Measure::Stores => (words.was_ahead, words.was_never_ahead),
        Measure::Value => {
            sentences.push(words.value_means.to_owned());
            (words.stood_better, words.never_stood_better)
        }
    };
    for (side, name) in [(Side::South, &south), (Side::North, &north)] {
        let height = |point: &Point| point.height(measure, side).unwrap_or(0);
        // `max_by_key` takes the last of equal ones, which is the first ply in reverse.
        let highest = points.iter().rev().max_by_key(|point| height(point)).filter(|point| height(point) > 0);
        sentences.push(match highest {
            Some(point) => fill(most, &[name, &seeds(height(point), words), &point.ply.to_string()]),
            None => fill(never, &[name]),
        });
    }
    let judged = points.iter().rev().find(|point| point.value.is_some());
    if let Some(judged) = judged.filter(|judged| measure == Measure::Value && judged.ply < last.ply) {
        sentences.push(fill(words.is_not_analysed, &[&judged.ply.to_string()]));
    }
    if points.iter().any(|point| point.fault.is_some()) {
        sentences.push(fill(words.marks_mean, &[&speaker.player(bottom), &speaker.player(bottom.other())]));
    }
    for (side, name) in [(Side::South, &south), (Side::North, &north)] {
        sentences.extend(Fault::ALL.into_iter().filter_map(|fault| faults(points, (fault, side), name, words)));
    }
    sentences.join(" ")
}

/// "6" or "4.5" seeds.
fn seeds(hundredths: i32, words: &Words) -> String {
    let (whole, part) = (hundredths / SEED, hundredths % SEED);
    match part {
        0 => whole.to_string(),
        part if part % 10 == 0 => format!("{whole}{}{}", words.decimal, part / 10),
        part => format!("{whole}{}{part:02}", words.decimal),
    }
}

/// "Ana made 2 mistakes: ply 5, ply 9."
fn faults(points: &[Point], fault: (Fault, Side), name: &str, words: &Words) -> Option<String> {
    let plies: Vec<u32> = points.iter().filter(|point| point.fault == Some(fault)).map(|point| point.ply).collect();
    let text = match (fault.0, plies.len()) {
        (_, 0) => return None,
        (Fault::Mistake, 1) => words.made_a_mistake,
        (Fault::Mistake, _) => words.made_mistakes,
        (Fault::Blunder, 1) => words.made_a_blunder,
        (Fault::Blunder, _) => words.made_blunders,
    };
    let listed: Vec<_> =
        plies.iter().take(FAULTS_LISTED_MAX).map(|ply| fill(words.at_ply, &[&ply.to_string()])).collect();
    let more = if plies.len() > FAULTS_LISTED_MAX { words.and_more } else { "" };
    Some(fill(text, &[name, &(listed.join(", ") + more), &plies.len().to_string()]))
}

#[cfg(test)]
mod tests {
    use mancala_rules::AnyOptions;

    use super::*;
    use mancala_texts::Language;

    fn course(points: Vec<Point>, measure: Measure) -> Course<'static> {
        Course { variant: Variant::Kalah, names: BySide::default(), measure, points }
    }

    fn point(ply: u32) -> Point {
        let options = AnyOptions::parse(Variant::Kalah, "standard", "").expect("options");
        Point::of(ply, &AnyPosition::opening(&options))
    }

    #[test]
    fn the_largest_graph_has_a_bounded_size() {
        let last = u32::try_from(POINTS_MAX).expect("some thousand");
        let height = |ply: u32| if ply.is_multiple_of(2) { -28_800 } else { 28_800 };
        let faulty = |ply| point(ply).with_value(height(ply)).with_fault(Fault::Blunder, Side::South);
        let svg = draw_graph(&course((0..2 * last).map(faulty).collect(), Measure::Value), View::PLAIN);
        assert!(svg.len() < 120 * 1024, "{}", svg.len());
        assert_eq!(svg.matches("a8 8 0").count(), POINTS_MAX);
    }

    #[test]
    fn points_without_a_value_are_left_out_and_told() {
        let points = vec![point(0).with_value(-650), point(1), point(2).with_value(25), point(3)];
        let svg = draw_graph(&course(points.clone(), Measure::Value), View::PLAIN);
        let line = svg.split("class=\"line\" d=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a line");
        assert_eq!(line.matches(['M', 'L']).count(), 2, "{line}");
        for text in
            ["South stood better by 0.25 at most, after ply 2.", "by 6.5 at most, after ply 0.", "Plies after 2"]
        {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        let german = draw_graph(&course(points, Measure::Value), View { language: Language::De, ..View::PLAIN });
        assert!(german.contains("Nord stand höchstens um 6,5 besser, nach Zug 0."), "{german}");
    }

    #[test]
    fn the_marks_of_both_players_differ_in_shape_and_class() {
        let faulty = |ply, fault, side| point(ply).with_value(0).with_fault(fault, side);
        let points = vec![
            point(0).with_value(0),
            faulty(1, Fault::Mistake, Side::South),
            faulty(2, Fault::Blunder, Side::North),
            faulty(3, Fault::Blunder, Side::South),
        ];
        for (bottom, circles, diamonds) in [(Side::South, 2, 1), (Side::North, 1, 2)] {
            let svg = draw_graph(&course(points.clone(), Measure::Value), View { bottom, ..View::PLAIN });
            assert_eq!((svg.matches("a8 8 0").count(), svg.matches("l10 10").count()), (circles, diamonds));
            let key = if bottom == Side::South {
                "Marks of South are circles, those of North diamonds"
            } else {
                "Marks of North are circles, those of South diamonds"
            };
            assert!(svg.contains(key), "{svg}");
        }
    }

    #[test]
    fn a_graph_without_captions_names_no_player_in_the_picture() {
        let view = View { caption: Caption::Hidden, ..View::PLAIN };
        let points = vec![point(0).with_value(0), point(1).with_value(0).with_fault(Fault::Mistake, Side::South)];
        let svg = draw_graph(&course(points, Measure::Value), view);
        assert!(!svg.contains("class=\"ahead\"") && !svg.contains("class=\"key") && svg.contains("class=\"tick\""));
    }
}
