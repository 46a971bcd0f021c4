//! Practice against the computer.

use mancala_domain::{
    Action, Clock, Event, Fact, Game, Level, NothingToOffer, OfferKind, Opponent, Permitted, Refusal, RematchOpponent,
    Seat, Status, Terms, audit,
};
use mancala_rules::Variant;

use crate::{
    asks::{computer_games, offer, play, rematch},
    table::{CLOCKS, PEOPLE, START, Table, terms},
};

/// Practice against the computer, in which the player sits at the second seat.
fn practice(clock: Clock) -> Table {
    let level = Level::try_from(1).expect("a level");
    let terms = Terms { is_practice: true, ..terms(Opponent::Computer { level }, Variant::Kalah, "", clock) };
    Table::new(terms)
}

#[test]
fn practice_takes_a_turn_back_at_once_and_never_an_end() {
    for clock in CLOCKS {
        let mut table = practice(clock);
        let computer = table.game.players()[Seat::First].expect("the computer sits there");
        assert_eq!(table.offer(PEOPLE[0], OfferKind::Takeback), Err(NothingToOffer::NoTurn.into()));
        table.play_word("A", START);
        assert_eq!(table.game.permitted(PEOPLE[0], false, START)[..1], [Permitted::Move]);
        let before = table.game.position().to_string();
        table.play_word("a", START);
        let takes_back = |table: &Table| {
            table.game.permitted(PEOPLE[0], false, START).contains(&Permitted::Offer(OfferKind::Takeback))
        };
        assert!(takes_back(&table));
        // While the computer is to move, and after its reply.
        for reply in [false, true] {
            if reply {
                table.play_word("a", START);
                table.execute(computer, play(table.game.ply() + 1, "B"), START).expect("a move");
            }
            let events = table.offer(PEOPLE[0], OfferKind::Takeback).expect("a turn stands");
            assert!(matches!(events[..], [Event { fact: Fact::Moved(_), .. }]), "{events:?}");
            assert_eq!((table.game.position().to_string(), table.game.offers()), (before.clone(), &[][..]));
            assert!(!takes_back(&table), "the computer's turn alone stands");
        }
        assert_eq!(table.offer(PEOPLE[0], OfferKind::Takeback), Err(NothingToOffer::NoTurn.into()));
        for kind in [OfferKind::Draw, OfferKind::End, OfferKind::Pause] {
            assert_eq!(table.offer(PEOPLE[0], kind), Err(NothingToOffer::Alone.into()));
        }
        assert_eq!(table.offer(PEOPLE[1], OfferKind::Takeback), Err(Refusal::NotSeated));
        table.play_word("a", START);
        table.execute(PEOPLE[0], Action::Resign, START).expect("the game is active");
        assert_eq!(table.offer(PEOPLE[0], OfferKind::Takeback), Err(Refusal::Over));
        assert_eq!(Game::replay(table.game.id(), &table.log), Ok(table.game.clone()));
        assert_eq!(audit(table.game.id(), &table.log, Some(&table.game)), vec![]);
    }
}

#[test]
fn a_rematch_of_practice_needs_room_for_a_game_against_the_computer() {
    let mut table = practice(CLOCKS[0]);
    let decide = |table: &Table, own, shared| {
        let subject = rematch(0, RematchOpponent::Computer(computer_games(own, shared)));
        table.decide(PEOPLE[0], offer(subject), START).map(|decision| decision.events.len())
    };
    // A game that is not over is the first reason.
    assert_eq!(decide(&table, 3, 10), Err(NothingToOffer::NotOver.into()));
    table.execute(PEOPLE[0], Action::Resign, START).expect("the game is active");
    for (own, shared, refused) in [
        (2, 9, None),
        (3, 3, Some("a guest has at most 3 games against the computer that are not over")),
        (
            0,
            10,
            Some(
                "the guests and new accounts of one network have at most 10 games against the computer that are not over",
            ),
        ),
    ] {
        assert_eq!(decide(&table, own, shared).err().map(|refusal| refusal.to_string()).as_deref(), refused);
    }
    // A rematch that has begun stands.
    table.offer(PEOPLE[0], OfferKind::Rematch).expect("the game is over");
    assert_eq!(decide(&table, 3, 10), Ok(0));
}

#[test]
fn a_rematch_of_practice_is_practice_that_has_begun() {
    let mut table = practice(CLOCKS[1]);
    let computer = table.game.players()[Seat::First];
    assert_eq!(table.offer(PEOPLE[0], OfferKind::Rematch), Err(NothingToOffer::NotOver.into()));
    table.execute(PEOPLE[0], Action::Resign, START).expect("the game is active");
    let events = table.offer(PEOPLE[0], OfferKind::Rematch).expect("the game is over");
    assert_eq!(table.offer(PEOPLE[0], OfferKind::Rematch), Ok(vec![]));
    let (again, log) = table.game.begin_rematch(&events).expect("it was agreed on");
    assert_eq!((log.len(), again.status(), again.is_practice()), (1, Status::Active, true));
    assert_eq!((again.players().first, again.players().second), (Some(PEOPLE[0]), computer));
    assert_eq!(Game::replay(again.id(), &log), Ok(again));
}
