//! Offers: who may make and accept which, and what becomes of them.

use mancala_domain::{
    BySeat, Clock, Game, NothingToOffer, OfferAnswer, OfferKind, Opponent, PlyAction, Reason, Refusal, Seat,
};
use mancala_rules::{ParseMoveError, Side, Variant};
use time::Duration;

use crate::{
    asks::play,
    table::{CLOCKS, PEOPLE, START, Table, terms},
};

/// Each kind is offered by one and then by the other: what follows.
#[test]
fn offers_that_cross_have_one_outcome() {
    use OfferKind::{Draw, End, Pause, Rematch, Takeback};
    let agreed = Some(Reason::Agreement);
    for first in OfferKind::ALL {
        for second in OfferKind::ALL {
            let mut table = Table::of_two(Variant::Oware, CLOCKS[1]);
            table.play(START);
            table.play(START);
            let offered = table.offer(PEOPLE[0], first);
            assert_eq!(offered.is_ok(), first != Rematch, "{first:?}");
            let crossed = table.offer(PEOPLE[1], second);
            let waiting: Vec<_> = table.game.offers().iter().map(|offer| (offer.kind, offer.seat)).collect();
            let reason = table.game.result().map(|result| result.reason);
            let (mine, yours) = ((first, Seat::Second), (second, Seat::First));
            match (first, second) {
                (Draw, Draw) | (End, End) => assert_eq!((reason, waiting), (agreed, vec![])),
                (Pause, Pause) => assert_eq!((table.game.time().pause.is_some(), waiting), (true, vec![])),
                (Takeback, Takeback) => assert_eq!((crossed, waiting), (Err(Refusal::OfferPending), vec![mine])),
                (Rematch, Rematch) => assert_eq!((crossed.is_err(), waiting), (true, vec![])),
                (Rematch, _) => assert_eq!(waiting, [yours]),
                (_, Rematch) => assert_eq!((crossed.is_err(), waiting), (true, vec![mine])),
                _ => assert_eq!((reason, waiting), (None, vec![mine, yours])),
            }
        }
    }
}

/// What becomes of an offer when one of the two moves.
#[test]
fn a_move_of_the_other_side_drops_offers_to_end_or_to_take_back() {
    for kind in [OfferKind::Draw, OfferKind::End, OfferKind::Takeback, OfferKind::Pause] {
        for by_mover in [true, false] {
            let mut table = Table::of_two(Variant::Oware, CLOCKS[2]);
            table.play(START);
            table.play(START);
            let (mover, other) = table.to_move();
            table.offer(if by_mover { mover } else { other }, kind).expect("it can be offered");
            table.play(START);
            let stays = kind == OfferKind::Pause || by_mover && kind != OfferKind::Takeback;
            assert_eq!(table.game.offer(kind).is_some(), stays, "{kind:?} {by_mover}");
        }
    }
}

#[test]
fn a_takeback_undoes_a_turn_and_all_since_and_plies_count_on() {
    // E is an extra turn at the opening of 4 seeds with C before it: South plays both in one turn.
    let mut table = Table::of_two(Variant::Kalah, CLOCKS[2]);
    let opening = table.game.position().clone();
    let play = |table: &mut Table, word: &str| {
        table.play_word(word, table.game.updated_at() + Duration::seconds(10));
    };
    for word in ["C", "F", "a"] {
        play(&mut table, word);
    }
    let south = table.game.player_at(Side::South).expect("both seats are taken");
    let north = table.game.player_at(Side::North).expect("both seats are taken");
    assert_eq!(table.plies.iter().filter(|ply| ply.player == south).count(), 2);
    table.offer(south, OfferKind::Takeback).expect("South has played a turn");
    assert_eq!(table.game.offer(OfferKind::Takeback).and_then(|offer| offer.to_ply), Some(0));
    assert_eq!(table.answer(south, OfferKind::Takeback, OfferAnswer::Accept), Err(Refusal::NoSuchOffer));
    table.answer(north, OfferKind::Takeback, OfferAnswer::Accept).expect("North may accept");
    assert_eq!(table.answer(north, OfferKind::Takeback, OfferAnswer::Accept), Ok(vec![]));
    assert_eq!((table.game.ply(), table.game.position()), (4, &opening));
    let last = table.plies.last().expect("four plies");
    assert_eq!(
        (last.mv, last.player, last.side),
        (PlyAction::Takeback { to_ply: 0, increments: BySeat::default() }, south, Side::South)
    );
    // Nothing is left that South could take back, and what was is not played any more.
    assert_eq!(table.offer(south, OfferKind::Takeback), Err(NothingToOffer::NoTurn.into()));
    assert_eq!(table.offer(north, OfferKind::Takeback), Err(NothingToOffer::NoTurn.into()));
    play(&mut table, "D");
    assert_eq!(table.plies.last().map(|ply| ply.number), Some(5));
    assert_eq!(Game::replay(table.game.id(), &table.log), Ok(table.game));
}

#[test]
fn an_offer_that_the_game_does_not_allow_is_refused() {
    let mut alone = Table::new(terms(Opponent::Oneself, Variant::Kalah, "", CLOCKS[1]));
    assert_eq!(alone.offer(PEOPLE[0], OfferKind::Draw), Err(NothingToOffer::Alone.into()));
    let mut table = Table::of_two(Variant::Kalah, Clock::Unlimited);
    assert_eq!(table.offer(PEOPLE[0], OfferKind::Pause), Err(NothingToOffer::NoClock.into()));
    assert_eq!(table.offer(PEOPLE[0], OfferKind::End), Err(NothingToOffer::NoAgreedEnd.into()));
    assert_eq!(table.offer(PEOPLE[2], OfferKind::Draw), Err(Refusal::NotSeated));
    for answer in [OfferAnswer::Accept, OfferAnswer::Decline, OfferAnswer::Withdraw] {
        assert_eq!(table.answer(PEOPLE[0], OfferKind::Draw, answer), Err(Refusal::NoSuchOffer));
    }
    table.offer(PEOPLE[0], OfferKind::Draw).expect("a draw can be offered");
    assert_eq!(table.offer(PEOPLE[0], OfferKind::Draw), Ok(vec![]));
    assert_eq!(table.answer(PEOPLE[0], OfferKind::Draw, OfferAnswer::Decline), Err(Refusal::NoSuchOffer));
    assert_eq!(table.answer(PEOPLE[1], OfferKind::Draw, OfferAnswer::Withdraw), Err(Refusal::NoSuchOffer));
    table.answer(PEOPLE[1], OfferKind::Draw, OfferAnswer::Decline).expect("it may be declined");
    assert_eq!(table.game.offers(), vec![]);
}

#[test]
fn an_agreed_draw_is_no_agreed_end_and_the_other_way_round() {
    let pairs = [
        (Variant::Kalah, OfferKind::Draw, OfferKind::End),
        (Variant::Oware, OfferKind::Draw, OfferKind::End),
        (Variant::Oware, OfferKind::End, OfferKind::Draw),
    ];
    for (variant, agreed, other) in pairs {
        let mut table = Table::of_two(variant, Clock::Unlimited);
        table.offer(PEOPLE[0], agreed).expect("it can be offered");
        table.answer(PEOPLE[1], agreed, OfferAnswer::Accept).expect("it can be accepted");
        // A client that heard no answer repeats the request.
        assert_eq!(table.offer(PEOPLE[0], agreed), Ok(vec![]));
        assert_eq!(table.answer(PEOPLE[1], agreed, OfferAnswer::Accept), Ok(vec![]));
        assert_eq!(table.offer(PEOPLE[0], other), Err(Refusal::Over), "{variant} {other:?}");
        assert_eq!(table.answer(PEOPLE[1], other, OfferAnswer::Accept), Err(Refusal::NoSuchOffer));
    }
}

#[test]
fn an_agreed_end_is_not_a_move_of_one_player() {
    let table = Table::new(terms(Opponent::Oneself, Variant::Oware, "", Clock::Unlimited));
    let decided = table.decide(PEOPLE[0], play(1, "agree"), START);
    assert_eq!(decided, Err(Refusal::NotAMove(ParseMoveError::OneRow)));
}
