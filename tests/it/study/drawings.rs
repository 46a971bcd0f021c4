//! Pictures as a whole, drawn without a server: what an edit changes in them is seen in the snapshots.

use std::fmt::Write;

use mancala_server::{
    picture::{
        Caption, Course, Fault, Language, LastMove, Measure, PNG_WIDTHS, PlayerLabel, PlayerMark, Point, Scene,
        SceneStatus, Theme, View, draw_board, draw_graph, render_png,
    },
    rules::{AnyOptions, AnyPosition, BySide, Effect, Side, Variant},
};

const NAMES: BySide<Option<PlayerLabel<'static>>> = BySide {
    south: Some(PlayerLabel { name: "Ana", mark: Some(PlayerMark::Guest) }),
    north: Some(PlayerLabel { name: "Bo", mark: Some(PlayerMark::Imported) }),
};

/// The positions of a short game, and the effects of its last move.
fn positions() -> (Vec<AnyPosition>, Vec<Effect>) {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").expect("options");
    let mut positions = vec![AnyPosition::opening(&options)];
    let mut last = vec![];
    for word in ["E", "c", "a", "A"] {
        let (next, effects) = positions[positions.len() - 1].play(word.parse().expect("a move")).expect("it is legal");
        positions.push(next);
        last = effects;
    }
    (positions, last)
}

/// A graph of an analysed game, in which both players have made faults of both kinds.
fn analysed(view: View) -> String {
    let (positions, _) = positions();
    let values = [1000, 650, -150, 225, -800];
    let faults = [
        None,
        Some((Fault::Mistake, Side::South)),
        Some((Fault::Blunder, Side::North)),
        Some((Fault::Mistake, Side::North)),
        Some((Fault::Blunder, Side::South)),
    ];
    let mut points = vec![];
    for ((ply, position), (value, fault)) in (0..).zip(&positions).zip(values.into_iter().zip(faults)) {
        let point = Point::of(ply, position).with_value(value);
        points.push(fault.map_or(point, |(fault, by)| point.with_fault(fault, by)));
    }
    draw_graph(&Course { variant: Variant::Kalah, names: NAMES, measure: Measure::Value, points }, view)
}

/// The texts that are read or seen in a picture.
fn texts(svg: &str) -> String {
    let document = roxmltree::Document::parse(svg).expect("well-formed XML");
    let is_text = |node: &roxmltree::Node| ["title", "desc", "text"].contains(&node.tag_name().name());
    let mut texts = String::new();
    for node in document.descendants().filter(is_text) {
        let words: String =
            node.descendants().filter(roxmltree::Node::is_text).filter_map(|text| text.text()).collect();
        if words.chars().any(char::is_alphabetic) && words.chars().count() > 1 {
            writeln!(texts, "{words}").expect("a String takes everything");
        }
    }
    texts
}

#[test]
fn a_graph_of_values_marks_the_faults_of_both_players() {
    insta::assert_snapshot!(analysed(View { theme: Theme::Light, ..View::PLAIN }));
}

#[test]
fn each_language_has_words_for_a_whole_picture() {
    let (positions, last) = positions();
    let mut said = String::new();
    for language in Language::ALL {
        let view = View { language, ..View::PLAIN };
        let mut scene = Scene {
            position: &positions[4],
            names: NAMES,
            ply: 4,
            last: Some(LastMove { word: "A".to_owned(), side: Side::South, name: NAMES.south, effects: &last }),
            status: SceneStatus::Turn(Side::North),
        };
        said += &texts(&draw_board(&scene, view));
        let reasons = [
            "side_empty",
            "no_move",
            "no_feeding_move",
            "majority",
            "repetition",
            "agreement",
            "grand_slam_forfeit",
            "resignation",
            "timeout",
            "ply_limit",
            "unknown",
        ];
        let over = |reason: &str| SceneStatus::Over { winner: Some(Side::South), reason: Some(reason.to_owned()) };
        let draw = SceneStatus::Over { winner: None, reason: Some("agreement".to_owned()) };
        for status in reasons.map(over).into_iter().chain([draw, SceneStatus::Open, SceneStatus::Aborted]) {
            scene.status = status;
            said += &mancala_server::picture::describe_status(&scene, language);
            said.push('\n');
        }
        said += &texts(&analysed(view));
        let points = (0..).zip(&positions).map(|(ply, position)| Point::of(ply, position)).collect();
        said += &texts(&draw_graph(
            &Course { variant: Variant::Kalah, names: NAMES, measure: Measure::Stores, points },
            view,
        ));
        said.push('\n');
    }
    insta::assert_snapshot!(said);
}

#[test]
fn every_drawing_can_be_made_into_pixels() {
    let position = &positions().0[0];
    for theme in [Theme::Light, Theme::Dark, Theme::Auto] {
        for caption in [Caption::Shown, Caption::Hidden] {
            let view = View { theme, caption, ..View::PLAIN };
            let status = SceneStatus::Turn(Side::South);
            let scene = Scene { position, names: NAMES, ply: 0, last: None, status };
            for svg in [draw_board(&scene, view), analysed(view)] {
                assert!(render_png(&svg, *PNG_WIDTHS.start()).is_ok(), "{svg}");
            }
        }
    }
}
