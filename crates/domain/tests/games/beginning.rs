//! How games begin: by a join, as a rematch, and as the continuation of another.

use mancala_domain::{
    Action, Clock, Fact, Game, GameId, JoinContext, NothingToOffer, OfferAnswer, OfferKind, Opponent,
    RUNNING_GAMES_MAX, Refusal, RematchOpponent, Start, Status, Subject, Terms,
};
use mancala_rules::{Side, Variant};
use uuid::Uuid;

use crate::{
    asks::{offer, rematch},
    table::{CLOCKS, FIRST_GAME, PEOPLE, START, Table, terms},
};

#[test]
fn a_rematch_exchanges_the_sides_and_begins_at_once() {
    let mut table = Table::of_two(Variant::Kalah, CLOCKS[2]);
    let (first, second) = table.to_move();
    assert_eq!(table.offer(first, OfferKind::Rematch), Err(NothingToOffer::NotOver.into()));
    table.execute(first, Action::Resign, START).expect("the game is active");
    table.offer(second, OfferKind::Rematch).expect("the game is over");
    let events = table.answer(first, OfferKind::Rematch, OfferAnswer::Accept).expect("it was offered");
    let Fact::Rematched { game: id, .. } = events[0].fact else { panic!("{events:?}") };
    // The id is as it was given, except for its slot.
    assert_eq!((id, table.game.id()), (GameId(Uuid::from_u128(9)).in_slot(FIRST_GAME.slot()), FIRST_GAME));
    assert_eq!(table.answer(first, OfferKind::Rematch, OfferAnswer::Accept), Ok(vec![]));
    assert_eq!(table.offer(second, OfferKind::Rematch), Ok(vec![]));
    let (again, log) = table.game.begin_rematch(&events).expect("it was agreed on");
    assert_eq!(table.game.begin_rematch(&[]), None);
    assert_eq!((again.player_at(Side::South), again.player_at(Side::North)), (Some(second), Some(first)));
    assert_eq!((again.status(), again.players()[again.terms().creator]), (Status::Active, Some(second)));
    assert_eq!(Game::replay(id, &log), Ok(again));
}

#[test]
fn a_game_that_continues_another_is_in_its_slot() {
    let opening = terms(Opponent::Open, Variant::Kalah, "", CLOCKS[0]);
    assert_eq!(opening.slot(PEOPLE[1]), PEOPLE[1].slot());
    let position = opening.opening();
    for (from, slot) in [(None, PEOPLE[1].slot()), (Some((FIRST_GAME, 3)), FIRST_GAME.slot())] {
        let continued = Terms { start: Some(Start { position: position.clone(), from }), ..opening.clone() };
        assert_eq!(continued.slot(PEOPLE[1]), slot);
    }
}

#[test]
fn a_rematch_needs_the_opponent_and_room_for_a_game_of_each() {
    let mut table = Table::of_two(Variant::Kalah, CLOCKS[2]);
    table.execute(PEOPLE[0], Action::Resign, START).expect("the game is active");
    let decide = |table: &Table, running_games, is_erased, action: fn(Subject<'static>) -> Action<'static>| {
        let subject = rematch(running_games, RematchOpponent::Person { is_erased, is_blocked: false });
        table.decide(PEOPLE[1], action(subject), START).map(drop)
    };
    for action in [offer as fn(_) -> _, Action::Accept] {
        let gone = Err(NothingToOffer::OpponentGone.into());
        assert_eq!(decide(&table, 0, true, action), gone);
        assert_eq!(decide(&table, RUNNING_GAMES_MAX, true, action), gone);
        assert_eq!(decide(&table, RUNNING_GAMES_MAX, false, action), Err(Refusal::TooManyGamesForRematch));
    }
    assert_eq!(decide(&table, RUNNING_GAMES_MAX - 1, false, offer), Ok(()));
    // A rematch that was agreed on stands.
    table.offer(PEOPLE[0], OfferKind::Rematch).expect("the game is over");
    table.answer(PEOPLE[1], OfferKind::Rematch, OfferAnswer::Accept).expect("it was offered");
    assert_eq!(decide(&table, RUNNING_GAMES_MAX, true, Action::Accept), Ok(()));
}

#[test]
fn a_player_with_too_many_games_does_not_join() {
    let table = Table::new(terms(Opponent::Open, Variant::Kalah, "", Clock::Unlimited));
    let join = |running_games| {
        let context = JoinContext { running_games, is_blocked: false };
        table.decide(PEOPLE[1], Action::Join { join_code: None, context }, START).map(drop)
    };
    assert_eq!(join(RUNNING_GAMES_MAX), Err(Refusal::TooManyGames));
    assert_eq!(join(RUNNING_GAMES_MAX - 1), Ok(()));
}
