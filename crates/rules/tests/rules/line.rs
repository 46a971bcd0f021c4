//! A line of play with one history for all its positions: it is the same as a history in each position.

use mancala_rules::{AnyOptions, AnyPosition, HISTORY_MAX, History, Line, Variant};

/// The history of a position, counted.
fn earlier(position: &AnyPosition) -> usize {
    position.history().map_or(0, History::len)
}

/// Plays all moves to a depth in both ways. Returns how many positions had a history.
fn compare(line: &mut Line, position: &AnyPosition, depth: u32) -> u32 {
    let bare = position.afresh();
    assert_eq!(line.has_history(&bare), earlier(position) > 0, "{position}");
    let mut with_history = u32::from(earlier(position) > 0);
    for m in position.legal_moves() {
        let mut next = position.clone();
        next.play_unchecked(m);
        assert_eq!(line.play(&bare, m), next.afresh(), "{m} in {position}");
        if depth > 0 {
            line.enter(&bare);
            with_history += compare(line, &next, depth - 1);
            line.leave();
        }
    }
    with_history
}

/// A position after so many plies without a change of the stores, found by going back from dead ends.
fn quiet_game(options: &str, start: &str, plies: usize) -> AnyPosition {
    let options = AnyOptions::parse(Variant::Bestemshe, "standard", options).unwrap();
    let start = AnyPosition::parse(&options, start).unwrap();
    let quiet = |position: &AnyPosition| -> Vec<AnyPosition> {
        let next = position.legal_moves().into_iter().map(|m| position.play(m).unwrap().0);
        next.filter(|next| next.outcome().is_none() && earlier(next) > 0).collect()
    };
    let mut line = vec![(start.clone(), quiet(&start))];
    while line.len() <= plies {
        match line.last_mut().and_then(|(_, open)| open.pop()) {
            Some(next) => line.push((next.clone(), quiet(&next))),
            None => drop(line.pop().expect("there is a line that is long enough")),
        }
    }
    line.pop().unwrap().0
}

#[test]
fn a_line_plays_as_positions_that_hold_their_own_history() {
    for (variant, overrides) in [
        (Variant::Oware, "pits=3;seeds=2;repetition=3"),
        (Variant::ToguzKumalak, "pits=4;seeds=2;repetition=2"),
        (Variant::Bestemshe, "pits=3;seeds=2;repetition=2"),
        (Variant::Kalah, "pits=3;seeds=2;pie=true"),
    ] {
        let options = AnyOptions::parse(variant, "standard", overrides).unwrap();
        let opening = AnyPosition::opening(&options);
        let has_history = variant != Variant::Kalah;
        assert_eq!(compare(&mut Line::to(&opening), &opening, 7) > 100, has_history, "{variant}");
    }
}

#[test]
fn a_line_goes_on_from_the_history_of_a_game() {
    let start = "1,0,0,0,1,0,0,0,1,0,0,0/1,0,0,0,1,0,0,0,1,0,0,0 9-9 S - 0 1S";
    for plies in [30, 300, HISTORY_MAX - 3] {
        let position = quiet_game("pits=12;seeds=1;repetition=5", start, plies);
        assert_eq!(earlier(&position), plies);
        assert!(compare(&mut Line::to(&position), &position, 4) > 10);
    }
}

/// The oldest position has to make room, and comes back on the way up.
#[test]
fn a_line_keeps_what_a_full_history_drops() {
    let options = AnyOptions::parse(Variant::Oware, "standard", "pits=12;seeds=12;repetition=5").unwrap();
    let mut position = AnyPosition::opening(&options);
    for ply in 1..=HISTORY_MAX + 20 {
        let moves = position.legal_moves();
        let tried = (0..moves.len()).map(|n| position.play(moves[(ply * ply + n) % moves.len()]).unwrap().0);
        position = tried.into_iter().find(|next| earlier(next) > 0).unwrap();
    }
    let mut line = Line::to(&position);
    assert!(compare(&mut line, &position, 1) > 10);
    assert_eq!(format!("{line:?}"), format!("{:?}", Line::to(&position)));
}
