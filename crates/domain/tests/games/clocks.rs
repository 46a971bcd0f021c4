//! What time alone does to a game.

use mancala_domain::{
    Action, Clock, Fact, Game, NothingToOffer, OfferAnswer, OfferKind, Opponent, Permitted, PlayerId, Reason, Refusal,
    Seat, Status, audit,
};
use mancala_rules::Variant;
use time::Duration;
use uuid::Uuid;

use crate::table::{CLOCKS, FIRST_GAME, PEOPLE, START, Table, terms};

#[test]
fn a_game_without_a_clock_is_aborted_if_a_player_never_moves() {
    for clock in CLOCKS {
        let mut table = Table::of_two(Variant::Oware, clock);
        let (mover, other) = table.to_move();
        table.play(START + Duration::hours(2));
        let abort = |table: &Table, at| {
            let decided = table.decide(mover, Action::Abort, START + at);
            let is_listed = table.game.permitted(mover, false, START + at).contains(&Permitted::Abort);
            assert_eq!(is_listed, decided.is_ok());
            decided.map(|decision| decision.events)
        };
        let day = Duration::days(1);
        assert_eq!(abort(&table, day - Duration::milliseconds(1)), Err(Refusal::AlreadyMoved));
        if clock != Clock::Unlimited {
            assert_eq!(abort(&table, day), Err(Refusal::AlreadyMoved), "the clock ends the game");
            continue;
        }
        let seat = Seat::ALL.into_iter().find(|seat| table.game.players()[*seat] == Some(mover)).expect("a seat");
        let events = abort(&table, day).expect("the other player has not moved");
        assert_eq!(events.iter().map(|event| &event.fact).collect::<Vec<_>>(), [&Fact::Aborted { seat }]);
        // A late first move keeps the game.
        assert_eq!(table.to_move().0, other);
        table.play(START + day * 2);
        assert_eq!(abort(&table, day * 9), Err(Refusal::AlreadyMoved));
    }
}

#[test]
fn a_timeout_loses_a_game_or_aborts_it_before_the_first_move() {
    let Clock::PerMove { allowance } = CLOCKS[1] else { panic!("another clock") };
    for (plies, reason) in [(0, None), (1, None), (2, Some(Reason::Timeout)), (3, Some(Reason::Timeout))] {
        let mut table = Table::of_two(Variant::Oware, CLOCKS[1]);
        for ply in 0..plies {
            table.play(START + allowance * ply);
        }
        let (_, other) = table.to_move();
        let winner = Some(other);
        let deadline = table.game.time().deadline.expect("time runs");
        assert_eq!(table.game.due(deadline), vec![]);
        let due = table.game.due(deadline + Duration::hours(5));
        table.apply(&due);
        let game = &table.game;
        assert_eq!(game.result().map(|result| result.reason), reason);
        let won = game.result().and_then(|result| game.player_at(result.winner?));
        assert_eq!(won, winner.filter(|_| reason.is_some()));
        assert_eq!((game.status().is_over(), game.finished_at(), game.time().deadline), (true, Some(deadline), None));
    }
}

#[test]
fn an_open_game_expires_unless_a_player_joins_in_time() {
    let mut table = Table::new(terms(Opponent::Open, Variant::Kalah, "", CLOCKS[1]));
    let expires_at = START + Duration::days(14);
    assert_eq!((table.game.expires_at(), table.game.due(expires_at)), (Some(expires_at), vec![]));
    let due = table.game.due(expires_at + Duration::SECOND);
    table.apply(&due);
    assert_eq!((table.game.status(), table.game.finished_at()), (Status::Aborted, Some(expires_at)));
}

#[test]
fn a_held_clock_stands_until_it_is_released() {
    for clock in [Clock::PerMove { allowance: Duration::seconds(200) }, CLOCKS[2]] {
        let mut table = Table::of_two(Variant::Kalah, clock);
        let (mover, _) = table.to_move();
        table.offer(mover, OfferKind::Pause).expect("time runs");
        let left = table.game.time().deadline.expect("time runs") - START;
        assert_eq!(table.game.release_clock(START), []);
        let held = table.game.hold_clock(mover, START + Duration::seconds(50));
        table.apply(&held);
        let pause = table.game.time().pause.expect("it is paused");
        assert_eq!((pause.left, pause.is_held, table.game.offers()), (left - Duration::seconds(50), true, &[][..]));
        assert_eq!(table.game.hold_clock(mover, START), []);
        for player in [PEOPLE[0], PEOPLE[1]] {
            let refused = table.answer(player, OfferKind::Pause, OfferAnswer::Withdraw);
            assert_eq!(refused, Err(NothingToOffer::ClockHeld.into()));
            let withdraws = Permitted::Answer(OfferKind::Pause, OfferAnswer::Withdraw);
            assert!(!table.game.permitted(player, false, START).contains(&withdraws));
        }
        // Moves pass meanwhile.
        table.play(START + Duration::seconds(9000));
        assert_eq!(table.game.due(START + Duration::days(900)), []);
        let released = table.game.release_clock(START + Duration::days(1));
        table.apply(&released);
        assert!(table.game.time().pause.is_none() && table.game.time().deadline > Some(START + Duration::days(1)));
        assert_eq!(Game::replay(FIRST_GAME, &table.log).expect("a log"), table.game);
        assert_eq!(audit(FIRST_GAME, &table.log, Some(&table.game)), vec![]);
    }
    // No clock runs.
    assert_eq!(Table::of_two(Variant::Kalah, Clock::Unlimited).game.hold_clock(PEOPLE[0], START), []);
    assert_eq!(Table::of_two(Variant::Kalah, CLOCKS[1]).game.hold_clock(PlayerId(Uuid::from_u128(77)), START), []);
}
