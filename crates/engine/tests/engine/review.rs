//! Reviews of played games.

use std::sync::Arc;

use mancala_engine::{Engine, Limits, POINTS_PER_SEED, Review, ReviewError, Signal};
use mancala_rules::{AnyPosition, IllegalMove, Move, Side, Variant};

use crate::{GO_ON, opening};

/// Enough to solve the boards here.
const LIMITS: Limits = Limits { nodes: 500_000, depth: 100 };

/// Reviews a game from its last ply to its first, and returns it in the order of play.
fn review(opening: &AnyPosition, moves: &str, limits: Limits) -> Vec<Review> {
    let mut plies = Vec::new();
    let mut position = opening.clone();
    for m in moves.split(' ') {
        let m: Move = m.parse().expect("it is a move");
        let (next, _) = position.play(m).expect("it is legal");
        plies.push((std::mem::replace(&mut position, next), m));
    }
    let mut engine = Engine::new(1);
    let review = |(position, m): &(_, _)| engine.review(position, *m, limits, &GO_ON).expect("nothing stops it");
    let mut reviews: Vec<_> = plies.iter().rev().map(review).collect();
    reviews.reverse();
    reviews
}

#[test]
fn a_game_is_reviewed_ply_by_ply() {
    // By exact values B is worth 6 seeds for South, A -6, C 2, D -2.
    let opening = opening(Variant::Kalah, "standard", "pits=4;seeds=3");
    let of_first = |m| review(&opening, m, LIMITS).remove(0);
    for (m, value) in [("A", -6), ("B", 6), ("C", 2), ("D", -2)] {
        let review = of_first(m);
        assert_eq!((review.side, review.seat), (Side::South, Side::South));
        assert!(review.is_exact && review.before.is_exact && review.after.is_exact);
        assert_eq!(review.before.points, 6 * POINTS_PER_SEED);
        assert_eq!(review.after.points, value * POINTS_PER_SEED);
        assert_eq!(review.loss, (6 - value) * POINTS_PER_SEED);
        assert!(!review.is_forced);
        assert_eq!(review.line[0].to_string(), "B");
    }
}

#[test]
fn exact_values_follow_from_each_other() {
    let opening = opening(Variant::Kalah, "standard", "pits=3;seeds=3");
    for seed in 0..10_usize {
        let (mut position, mut plies) = (opening.clone(), Vec::new());
        while position.outcome().is_none() {
            let m = position.legal_moves()[seed % position.legal_moves().len()];
            plies.push(m.to_string());
            position.play_unchecked(m);
        }
        let reviews = review(&opening, &plies.join(" "), LIMITS);
        assert!(reviews.iter().all(|review| review.is_exact));
        for pair in reviews.windows(2) {
            assert_eq!(pair[0].after, pair[1].before);
        }
        for review in &reviews {
            let lost = review.before.points_for(review.side) - review.after.points_for(review.side);
            assert_eq!(review.loss, lost);
        }
        let outcome = position.outcome().unwrap();
        let margin = i32::from(outcome.score.south) - i32::from(outcome.score.north);
        assert_eq!(reviews.last().unwrap().after.points, margin * POINTS_PER_SEED);
    }
}

#[test]
fn a_depth_that_would_not_be_completed_is_not_begun() {
    let opening = opening(Variant::Kalah, "standard", "");
    let limits = Limits::nodes(50_000);
    let found = Engine::new(1).search(&opening, limits, &GO_ON).expect("there are moves");
    assert_eq!(found.nodes, limits.nodes, "the search is ended by its bound");
    let review = Engine::new(1).review(&opening, found.best(), limits, &GO_ON).expect("nothing stops it");
    assert_eq!((review.before, review.line[0]), (found.value, found.best()));
    assert!(review.nodes < 45_000, "{review:?}");
}

#[test]
fn a_review_visits_fewer_positions_with_known_endgames() {
    let knowing = Engine::new(1).with_endgames(Arc::default());
    for (variant, overrides, with, without) in [
        (Variant::Kalah, "", 100_000, 200_000),
        // A store can end the game, so that its value depends on more than the pits.
        (Variant::Kalah, "majority_end=true", 200_000, 200_000),
        (Variant::Oware, "", 70_000, 200_000),
        (Variant::Bao, "", 200_000, 200_000),
    ] {
        let opening = opening(variant, "standard", overrides);
        assert_eq!(knowing.review_nodes(&opening), with, "{variant} {overrides}");
        assert_eq!(Engine::new(1).review_nodes(&opening), without, "{variant} {overrides}");
    }
}

#[test]
fn a_forced_move_has_no_loss() {
    let opening = opening(Variant::Kalah, "standard", "pits=1;seeds=3");
    let reviews = review(&opening, "A", LIMITS);
    assert_eq!((reviews[0].is_forced, reviews[0].loss), (true, 0));
    assert_eq!(reviews[0].before, reviews[0].after);
}

#[test]
fn an_agreed_end_is_worth_its_score() {
    let opening = opening(Variant::Oware, "standard", "");
    let reviews = review(&opening, "A agree", Limits::nodes(1000));
    assert_eq!((reviews[1].is_forced, reviews[1].loss), (true, 0));
    assert_eq!((reviews[1].after.points, reviews[1].after.is_exact), (0, true));
}

#[test]
fn a_swap_is_reviewed_from_the_view_of_the_player_who_swaps() {
    let opening = opening(Variant::Kalah, "standard", "pits=4;seeds=2;pie=true");
    // Without the pie rule A is worth -12 for South, so that a swap would lose twice as much.
    let reviews = review(&opening, "A swap a", LIMITS);
    let swap = &reviews[1];
    assert_eq!((swap.side, swap.seat), (Side::North, Side::North));
    assert_eq!((swap.before.points, swap.after.points), (-12 * POINTS_PER_SEED, 12 * POINTS_PER_SEED));
    assert_eq!((swap.loss, swap.is_forced), (24 * POINTS_PER_SEED, false));
    let next = &reviews[2];
    assert_eq!((next.side, next.seat), (Side::North, Side::South));
    assert_eq!(next.before.points, -12 * POINTS_PER_SEED);
}

#[test]
fn estimates_never_show_a_negative_loss() {
    for variant in Variant::ALL {
        let mut position = opening(variant, "standard", "");
        let mut engine = Engine::new(1);
        for ply in 0..30 {
            let moves = position.legal_moves();
            let Some(&m) = moves.get(ply % moves.len().max(1)) else { break };
            let review = engine.review(&position, m, Limits::nodes(1500), &GO_ON).unwrap();
            assert!(review.loss >= 0 && (review.loss == 0 || !review.is_forced));
            position.play_unchecked(m);
        }
    }
}

#[test]
fn an_illegal_move_and_a_stop_are_errors() {
    let opening = opening(Variant::Kalah, "standard", "");
    let mut engine = Engine::new(1);
    let refused = engine.review(&opening, "a".parse().unwrap(), LIMITS, &GO_ON).unwrap_err();
    assert!(matches!(refused, ReviewError::Illegal(IllegalMove::NotYourPit(_))));
    let stop = Signal::new();
    stop.stop();
    let stopped = engine.review(&opening, "A".parse().unwrap(), LIMITS, &stop);
    assert_eq!(stopped, Err(ReviewError::Stopped));
}
