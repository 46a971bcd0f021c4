//! A game is the fold of its log, and the log has an end.

use mancala_domain::{
    Action, Clock, Command, Decision, Event, Fact, Flaw, Game, GameResult, GameState, NothingToOffer, OfferAnswer,
    OfferKind, Opponent, PLIES_MAX, Reason, Refusal, ReplayError, Seat, Status, Terms, audit,
};
use mancala_rules::{AnyOptions, OptionKind, Variant};
use proptest::prelude::*;
use time::Duration;

use crate::{
    asks::{JOIN, play},
    table::{CLOCKS, PEOPLE, START, Table, terms},
};

/// Options with something particular: a swap, a history, rounds, choices inside a turn.
const OPTIONS: [(Variant, &str); 9] = [
    (Variant::Kalah, "seeds=2"),
    (Variant::Kalah, "pie=true;seeds=2"),
    (Variant::Oware, "pits=3;seeds=2;repetition=3"),
    (Variant::Congkak, "pits=3;seeds=2;rounds=multi"),
    (Variant::Bao, "max_plies=100"),
    (Variant::Omweso, "setup=even"),
    (Variant::Omweso, "setup=arrange;akakyala=true"),
    (Variant::ToguzKumalak, "pits=4;seeds=3"),
    (Variant::Bestemshe, "pits=3;seeds=2;repetition=2;repetition_award=draw"),
];

proptest! {
    /// Random commands of random players, with a random clock. A game is the fold of its log, and the log has no gap
    /// and no step back in time. A game that is over stays over.
    #[test]
    fn a_game_is_the_fold_of_its_log(
        opponent in 0_usize..3,
        (variant, options) in prop::sample::select(&OPTIONS[..]),
        clock in prop::sample::select(&CLOCKS[..]),
        steps in prop::collection::vec((0_usize..3, 0_u8..60, 0_usize..8, -50_i64..60), 0..150),
    ) {
        let opponent = [Opponent::Open, Opponent::Oneself, Opponent::Player { player: PEOPLE[1] }][opponent].clone();
        let mut table = Table::new(terms(opponent, variant, options, clock));
        let mut now = START;
        for (person, what, which, tick) in steps {
            now += Duration::seconds(tick);
            let due = table.game.due(now);
            prop_assert!(due.is_empty() || table.game.wakes_at().is_some_and(|at| at < now));
            table.apply(&due);
            let legal = table.game.position().legal_moves();
            let word = legal.get(which % legal.len().max(1)).map(ToString::to_string).unwrap_or_default();
            let kind = OfferKind::ALL[which % OfferKind::ALL.len()];
            let (before, player) = (table.game.clone(), PEOPLE[person]);
            let executed = match what {
                0 => table.execute(player, Action::Abort, now),
                1 => table.execute(player, Action::Resign, now),
                2..=6 => table.execute(player, JOIN, now),
                7 => table.execute(player, Action::Decline, now),
                8..=15 => table.offer_at(player, kind, now),
                16 => table.answer_at(player, kind, OfferAnswer::Decline, now),
                17 => table.answer_at(player, kind, OfferAnswer::Withdraw, now),
                18..=21 => table.answer_at(player, kind, OfferAnswer::Accept, now),
                _ => table.execute(player, play(table.game.ply() + 1, &word), now),
            };
            let Ok(events) = executed else {
                prop_assert_eq!(&table.game, &before);
                continue;
            };
            let game = &table.game;
            prop_assert!(events.is_empty() || !before.status().is_over() || kind == OfferKind::Rematch);
            prop_assert!(game.ply() >= before.ply());
            prop_assert_eq!(game.result().is_some(), game.status() == Status::Finished);
            prop_assert_eq!(game.finished_at().is_some(), game.status().is_over());
            prop_assert_eq!(game.turn().is_some(), game.status() == Status::Active);
            let runs = game.status() == Status::Active && clock != Clock::Unlimited && game.time().pause.is_none();
            prop_assert_eq!(game.time().deadline.is_some(), runs);
            if game.status() == Status::Active {
                prop_assert!(!game.position().legal_moves().is_empty());
            }
        }
        prop_assert_eq!(table.game.version() as usize, table.log.len());
        prop_assert_eq!(Game::replay(table.game.id(), &table.log), Ok(table.game));
    }
}

#[test]
fn a_move_that_the_log_has_already_is_not_played_twice() {
    let mut table = Table::of_two(Variant::Oware, Clock::Unlimited);
    let (mover, other) = table.to_move();
    table.play(START);
    let word = table.plies[0].mv.to_string();
    let decide = |player, word: &str, recorded| {
        let command = Command { player, if_version: Some(&[2]), action: Action::Play { ply: 1, word, recorded } };
        table.game.decide(&command, START)
    };
    assert_eq!(decide(mover, &word, &table.plies), Ok(Decision::default()));
    for (player, word, recorded) in [(mover, "F", &table.plies[..]), (other, &word, &table.plies), (mover, &word, &[])]
    {
        assert_eq!(decide(player, word, recorded), Err(Refusal::OtherVersion { version: 3 }));
    }
}

#[test]
fn a_log_with_a_gap_or_a_second_beginning_is_refused() {
    let Table { game, log, .. } = Table::new(terms(Opponent::Open, Variant::Kalah, "", Clock::Unlimited));
    let created = &log[0];
    let joined = |seq| Event { seq, at: START, fact: Fact::Joined { seat: Seat::First, player: PEOPLE[1] } };
    assert_eq!(Game::replay(game.id(), []), Err(ReplayError::NotCreated));
    assert_eq!(Game::replay(game.id(), [&joined(1)]), Err(ReplayError::NotCreated));
    assert_eq!(Game::replay(game.id(), [created, &joined(3)]), Err(ReplayError::Gap { after: 1, found: 3 }));
    let again = Event { seq: 2, ..created.clone() };
    assert_eq!(Game::replay(game.id(), [created, &again]), Err(ReplayError::CreatedTwice { seq: 2 }));
}

#[test]
fn a_game_ends_with_a_draw_at_its_greatest_length() {
    let mut table = Table::of_two(Variant::Kalah, Clock::Unlimited);
    let refused = loop {
        let (mover, other) = table.to_move();
        table.play(START);
        if let Err(refused) = table.offer(mover, OfferKind::Takeback) {
            break refused;
        }
        table.answer(other, OfferKind::Takeback, OfferAnswer::Accept).expect("a takeback was offered");
    };
    // A takeback as the last ply would leave the game without an end.
    assert_eq!((refused, table.game.ply()), (Refusal::NothingToOffer(NothingToOffer::LogFull), PLIES_MAX - 1));
    table.play(START);
    let score = table.game.score();
    let drawn = GameResult { winner: None, reason: Reason::PlyLimit, score };
    assert_eq!((table.game.ply(), table.game.result()), (PLIES_MAX, Some(&drawn)));
    assert_eq!(audit(table.game.id(), &table.log, Some(&table.game)), vec![]);
    // The same end of a shorter game is a flaw.
    let last = table.log.pop().expect("the end");
    let shorter: Vec<_> = table.log[..table.log.len() - 1].to_vec();
    let end = Event { seq: last.seq - 1, ..last };
    let log = [shorter.as_slice(), std::slice::from_ref(&end)].concat();
    assert_eq!(audit(table.game.id(), &log, None), [Flaw::Result { seq: end.seq }]);
}

#[test]
fn no_new_game_may_be_longer_than_a_stored_one() {
    for variant in Variant::ALL {
        let Some(spec) = variant.options().iter().find(|spec| spec.name == "max_plies") else { continue };
        assert_eq!(spec.kind, OptionKind::Integer { min: 100, max: u16::try_from(PLIES_MAX).expect("a small number") });
        // A game that was created with more ends as before.
        let options = AnyOptions::parse_recorded(variant, "standard", "max_plies=10000").expect("a text of a game");
        let mut table = Table::new(Terms { options, ..terms(Opponent::Open, variant, "", Clock::Unlimited) });
        table.execute(PEOPLE[1], JOIN, START).expect("the seat is free");
        table.game = Game::from_stored(GameState { ply: PLIES_MAX - 1, ..table.game.state().clone() });
        let mv = table.game.position().legal_moves()[0].to_string();
        let decided = table.decide(table.to_move().0, play(PLIES_MAX, &mv), START);
        let events = decided.expect("a legal move").events;
        let Fact::Finished(result) = &events[1].fact else { panic!("{events:?}") };
        assert_eq!((result.winner, result.reason), (None, Reason::PlyLimit));
    }
}

#[test]
fn offers_and_join_codes_do_not_lengthen_a_log_without_end() {
    let mut table = Table::of_two(Variant::Kalah, Clock::Unlimited);
    let refused = loop {
        if let Err(refused) = table.offer(PEOPLE[0], OfferKind::Draw) {
            break refused;
        }
        table.answer(PEOPLE[0], OfferKind::Draw, OfferAnswer::Withdraw).expect("it was offered");
    };
    assert_eq!(refused, Refusal::NothingToOffer(NothingToOffer::LogFull));
    assert!(table.log.len() <= 4 * PLIES_MAX as usize + 1);
    table.play(START);
    let by_link = Opponent::Link { join_code: "a".to_owned() };
    let mut table = Table::new(terms(by_link, Variant::Kalah, "", Clock::Unlimited));
    let refused = loop {
        if let Err(refused) = table.execute(PEOPLE[0], Action::RenewCode { join_code: "b" }, START) {
            break refused;
        }
    };
    assert_eq!(refused, Refusal::NoCode);
}
