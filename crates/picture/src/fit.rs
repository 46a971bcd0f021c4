//! Tests of names in whole pictures: none reaches the edge or the text beside it, and marks are whole.

use mancala_rules::{AnyOptions, AnyPosition, BySide, Side, Variant};

use crate::{
    Course, Fault, Language, Measure, PlayerLabel, PlayerMark, Point, Scene, SceneStatus, View, draw_board, draw_graph,
    font::Font, language,
};

const MARKS: [PlayerMark; 3] = [PlayerMark::Guest, PlayerMark::Imported, PlayerMark::Hotseat];

fn mark(mark: PlayerMark, language: Language) -> String {
    let words = language::words(language);
    let word = match mark {
        PlayerMark::Guest => words.guest,
        PlayerMark::Imported => words.imported,
        PlayerMark::Hotseat => words.hotseat,
    };
    format!(" ({word})")
}

/// The names that are shown: long ones of wide letters, and the words that stand there for a language.
fn pictures(mut check: impl FnMut(Language, PlayerMark, &AnyPosition, BySide<Option<PlayerLabel>>)) {
    let names = ["W".repeat(32), "m".repeat(32), "漢".repeat(32), "Maximilian Mustermann-Schmidt".to_owned()];
    for options in ["pits=1", "", "pits=12"] {
        let options = Variant::ALL
            .into_iter()
            .find_map(|variant| AnyOptions::parse(variant, "standard", options).ok())
            .expect("a variant with such a board");
        let position = AnyPosition::opening(&options);
        for (language, name) in
            Language::ALL.into_iter().flat_map(|language| names.each_ref().map(|name| (language, name)))
        {
            for mark in MARKS {
                let label = Some(PlayerLabel { name, mark: Some(mark) });
                check(language, mark, &position, BySide { south: label, north: label });
            }
        }
    }
}

/// The contents of the texts whose elements begin so.
fn texts<'a>(svg: &'a str, class: &str) -> Vec<(&'a str, String)> {
    let begin = format!("<text class=\"{class}");
    let after = svg.split(&begin).skip(1).map(|rest| rest.split("</text>").next().expect("it ends"));
    after
        .map(|text| {
            let mut plain = String::new();
            let (tag, content) = text.split_once('>').expect("a tag");
            for part in content.split('<') {
                plain += part.split_once('>').map_or(part, |(_, text)| text);
            }
            (tag, plain)
        })
        .collect()
}

#[test]
fn names_beside_a_board_end_before_the_status_and_the_edge() {
    let won = |winner| SceneStatus::Over { winner, reason: None };
    let statuses = [SceneStatus::Turn(Side::South), won(Some(Side::South)), won(None), SceneStatus::Aborted];
    pictures(|language, of, position, names| {
        for (status, bottom) in statuses.iter().flat_map(|status| Side::ALL.map(|bottom| (status, bottom))) {
            let scene = Scene { position, names, ply: 0, last: None, status: status.clone() };
            let svg = draw_board(&scene, View { bottom, language, ..View::PLAIN });
            let people: Vec<_> = svg
                .split("<g class=\"person\">")
                .skip(1)
                .map(|rest| rest.split("</g>").next().expect("it ends"))
                .collect();
            assert_eq!(people.len(), 2);
            for person in people {
                let (tag, name) = texts(person, "name").remove(0);
                assert!(tag.contains("x=\"42\"") && name.ends_with(&mark(of, language)), "{person}");
                let right = 42.0 + Font { size: 26, is_bold: tag.starts_with(" on") }.width(&name);
                let role =
                    texts(person, "role").pop().map(|(_, role)| Font { size: 23, is_bold: false }.width(&role) + 8.0);
                assert!(right <= 626.5 - role.unwrap_or(0.0), "{right} {role:?} {person}");
                assert!(name.chars().count() > mark(of, language).chars().count() + 1, "{name}");
            }
        }
    });
}

#[test]
fn names_beside_a_graph_end_before_the_key_and_the_edge() {
    let font = Font { size: 22, is_bold: false };
    pictures(|language, of, position, names| {
        for (measure, is_faulty) in [(Measure::Stores, false), (Measure::Value, false), (Measure::Value, true)] {
            let mut points = vec![Point::of(0, position).with_value(0), Point::of(1, position).with_value(0)];
            if is_faulty {
                points[1] = points[1].with_fault(Fault::Mistake, Side::South);
            }
            let svg = draw_graph(
                &Course { variant: position.options().variant(), names, measure, points },
                View { language, ..View::PLAIN },
            );
            let keys: Vec<_> = texts(&svg, "level")
                .into_iter()
                .filter(|(_, text)| text.contains(language::words(language).mistake))
                .collect();
            assert_eq!(keys.len(), if is_faulty { 2 } else { 0 });
            let names = texts(&svg, "ahead");
            assert_eq!(names.len(), 2);
            for (n, (_, name)) in names.iter().enumerate() {
                assert!(name.contains(&mark(of, language)), "{name}");
                let right = 58.0 + font.width(name);
                let key = keys.get(n).map_or(0.0, |(_, key)| font.width(key) + 8.0);
                assert!(right <= 622.5 - key, "{right} {key} {name}");
            }
        }
    });
}
