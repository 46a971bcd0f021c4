//! Games by the public interface: what commands and time lead to, and that a game is the fold of its log.

use mancala_domain::{
    Action, BySeat, Clock, Command, Context, Decision, Event, Fact, Flaw, Game, GameId, GameResult, GameState, Level,
    NothingToOffer, OfferAnswer, OfferKind, Opponent, PLIES_MAX, Permitted, PlayerId, Ply, PlyAction, Previous,
    RUNNING_GAMES_MAX, Reason, Refusal, ReplayError, Seat, Start, Status, Terms, Visibility, audit,
};
use mancala_rules::{AnyOptions, OptionKind, ParseMoveError, Side, Variant};
use proptest::prelude::*;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

const PEOPLE: [PlayerId; 3] =
    [PlayerId(Uuid::from_u128(1)), PlayerId(Uuid::from_u128(2)), PlayerId(Uuid::from_u128(3))];

const START: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

const CLOCKS: [Clock; 3] = [
    Clock::Unlimited,
    Clock::PerMove { allowance: Duration::seconds(200) },
    Clock::Bank { initial: Duration::seconds(400), increment: Duration::seconds(20), max: Duration::seconds(500) },
];

const FIRST_GAME: GameId = GameId(Uuid::from_u128(0x0199_0000_0000_7000_8000_0000_0000_0123));

fn terms(opponent: Opponent, variant: Variant, options: &str, clock: Clock) -> Terms {
    Terms {
        options: AnyOptions::parse(variant, "standard", options).expect("the options are valid"),
        rules_version: 1,
        opponent,
        clock,
        visibility: Visibility::Public,
        creator: Seat::Second,
        start: None,
        is_practice: false,
    }
}

/// A game with its log and its plies.
struct Table {
    game: Game,
    log: Vec<Event>,
    plies: Vec<Ply>,
}

impl Table {
    fn new(terms: Terms) -> Self {
        let (game, created) = Game::create(FIRST_GAME, terms, PEOPLE[0], Duration::days(14), START);
        Self { game, log: vec![created], plies: vec![] }
    }

    /// A game of two in which nothing was played.
    fn of_two(variant: Variant, clock: Clock) -> Self {
        let mut table = Self::new(terms(Opponent::Open, variant, "", clock));
        table.execute(PEOPLE[1], Action::Join { join_code: None }, START).expect("the seat is free");
        table
    }

    fn context(&self, now: OffsetDateTime) -> Context<'_> {
        Context { newest_plies: &self.plies, ..Context::new(now, || GameId(Uuid::from_u128(9))) }
    }

    /// Executes an action, if it is not refused.
    fn execute(&mut self, player: PlayerId, action: Action<'_>, now: OffsetDateTime) -> Result<Vec<Event>, Refusal> {
        let command = Command { player, if_version: None, action };
        let Decision { events, effects } = self.game.decide(&command, &self.context(now))?;
        let moves = events.iter().filter(|event| matches!(event.fact, Fact::Moved(_))).count();
        assert!(moves == 1 || moves == 0 && effects.is_empty());
        let plies = self.plies.len();
        self.apply(&events);
        if moves == 1 {
            assert_eq!(self.plies[plies].effects, effects);
        }
        Ok(events)
    }

    fn apply(&mut self, events: &[Event]) {
        for event in events {
            assert!(event.at >= self.game.updated_at());
            let previous = Previous {
                at: self.plies.last().map_or_else(|| Previous::opening(&self.game).at, |last| last.at),
                position: self.game.position().clone(),
            };
            let before = self.game.clone();
            self.game.apply(event).expect("an event that was decided applies");
            if let Fact::Moved(moved) = &event.fact {
                let ply = Ply::replay(&self.game, &previous, moved, event.at).expect("the rules lead there again");
                let played = Ply::played(&before, previous.at, moved, event.at, ply.effects.clone());
                let played = played.expect("a player sits at the seat");
                assert_eq!(played.position.to_string(), ply.position.to_string());
                assert_eq!(Ply { position: ply.position.clone(), ..played }, ply);
                self.plies.push(ply);
            }
            self.log.push(event.clone());
        }
    }

    fn play(&mut self, now: OffsetDateTime) {
        let word = self.game.position().legal_moves()[0].to_string();
        self.play_word(&word, now);
    }

    fn play_word(&mut self, word: &str, now: OffsetDateTime) {
        let (player, _) = self.to_move();
        self.execute(player, Action::Play { ply: self.game.ply() + 1, word }, now).expect("a legal move");
    }

    fn offer(&mut self, player: PlayerId, kind: OfferKind) -> Result<Vec<Event>, Refusal> {
        self.execute(player, Action::Offer { kind }, self.game.updated_at())
    }

    fn answer(&mut self, player: PlayerId, kind: OfferKind, answer: OfferAnswer) -> Result<Vec<Event>, Refusal> {
        self.execute(player, Action::Answer { kind, answer }, self.game.updated_at())
    }

    /// The player to move, and the other one.
    fn to_move(&self) -> (PlayerId, PlayerId) {
        let player = self.game.player_at(self.game.position().turn()).expect("both seats are taken");
        (player, if player == PEOPLE[0] { PEOPLE[1] } else { PEOPLE[0] })
    }
}

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
            let action = match what {
                0 => Action::Abort,
                1 => Action::Resign,
                2..=6 => Action::Join { join_code: None },
                7 => Action::Decline,
                8..=15 => Action::Offer { kind },
                16 => Action::Answer { kind, answer: OfferAnswer::Decline },
                17 => Action::Answer { kind, answer: OfferAnswer::Withdraw },
                18..=21 => Action::Answer { kind, answer: OfferAnswer::Accept },
                _ => Action::Play { ply: table.game.ply() + 1, word: &word },
            };
            let before = table.game.clone();
            let Ok(events) = table.execute(PEOPLE[person], action, now) else {
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
fn a_game_without_a_clock_is_aborted_if_a_player_never_moves() {
    for clock in CLOCKS {
        let mut table = Table::of_two(Variant::Oware, clock);
        let (mover, other) = table.to_move();
        table.play(START + Duration::hours(2));
        let abort = |table: &Table, at| {
            let command = Command { player: mover, if_version: None, action: Action::Abort };
            let decided = table.game.decide(&command, &table.context(START + at));
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
fn a_rematch_exchanges_the_sides_and_begins_at_once() {
    let mut table = Table::of_two(Variant::Kalah, CLOCKS[2]);
    let (first, second) = table.to_move();
    assert_eq!(table.offer(first, OfferKind::Rematch), Err(NothingToOffer::NotOver.into()));
    table.execute(first, Action::Resign, START).expect("the game is active");
    table.offer(second, OfferKind::Rematch).expect("the game is over");
    let events = table.answer(first, OfferKind::Rematch, OfferAnswer::Accept).expect("it was offered");
    let Fact::Rematched { game: id, .. } = events[0].fact else { panic!("{events:?}") };
    // Of the id only the slot is not as it was given.
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
                table.execute(computer, Action::Play { ply: table.game.ply() + 1, word: "B" }, START).expect("a move");
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

#[test]
fn a_rematch_needs_the_opponent_and_room_for_a_game_of_each() {
    let mut table = Table::of_two(Variant::Kalah, CLOCKS[2]);
    table.execute(PEOPLE[0], Action::Resign, START).expect("the game is active");
    let decide = |table: &Table, running_games, is_opponent_erased, action| {
        let context = Context { running_games, is_opponent_erased, ..table.context(START) };
        table.game.decide(&Command { player: PEOPLE[1], if_version: None, action }, &context).map(drop)
    };
    let offer = Action::Offer { kind: OfferKind::Rematch };
    let accept = Action::Answer { kind: OfferKind::Rematch, answer: OfferAnswer::Accept };
    for action in [offer, accept] {
        let gone = Err(NothingToOffer::OpponentGone.into());
        assert_eq!(decide(&table, 0, true, action), gone);
        assert_eq!(decide(&table, RUNNING_GAMES_MAX, true, action), gone);
        assert_eq!(decide(&table, RUNNING_GAMES_MAX, false, action), Err(Refusal::TooManyGamesForRematch));
    }
    assert_eq!(decide(&table, RUNNING_GAMES_MAX - 1, false, offer), Ok(()));
    // A rematch that was agreed on stands.
    table.offer(PEOPLE[0], OfferKind::Rematch).expect("the game is over");
    table.answer(PEOPLE[1], OfferKind::Rematch, OfferAnswer::Accept).expect("it was offered");
    assert_eq!(decide(&table, RUNNING_GAMES_MAX, true, accept), Ok(()));
}

#[test]
fn a_player_with_too_many_games_does_not_join() {
    let table = Table::new(terms(Opponent::Open, Variant::Kalah, "", Clock::Unlimited));
    let join = |running_games| {
        let command = Command { player: PEOPLE[1], if_version: None, action: Action::Join { join_code: None } };
        table.game.decide(&command, &Context { running_games, ..table.context(START) }).map(drop)
    };
    assert_eq!(join(RUNNING_GAMES_MAX), Err(Refusal::TooManyGames));
    assert_eq!(join(RUNNING_GAMES_MAX - 1), Ok(()));
}

#[test]
fn a_move_that_the_log_has_already_is_not_played_twice() {
    let mut table = Table::of_two(Variant::Oware, Clock::Unlimited);
    let (mover, other) = table.to_move();
    table.play(START);
    let word = table.plies[0].mv.to_string();
    let decide = |player, word: &str, recorded| {
        let command = Command { player, if_version: Some(&[2]), action: Action::Play { ply: 1, word } };
        table.game.decide(&command, &Context { recorded, ..table.context(START) })
    };
    assert_eq!(decide(mover, &word, &table.plies), Ok(Decision::default()));
    for (player, word, recorded) in [(mover, "F", &table.plies[..]), (other, &word, &table.plies), (mover, &word, &[])]
    {
        assert_eq!(decide(player, word, recorded), Err(Refusal::OtherVersion { version: 3 }));
    }
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
fn an_open_game_expires_unless_a_player_joins_in_time() {
    let mut table = Table::new(terms(Opponent::Open, Variant::Kalah, "", CLOCKS[1]));
    let expires_at = START + Duration::days(14);
    assert_eq!((table.game.expires_at(), table.game.due(expires_at)), (Some(expires_at), vec![]));
    let due = table.game.due(expires_at + Duration::SECOND);
    table.apply(&due);
    assert_eq!((table.game.status(), table.game.finished_at()), (Status::Aborted, Some(expires_at)));
}

#[test]
fn an_agreed_end_is_not_a_move_of_one_player() {
    let table = Table::new(terms(Opponent::Oneself, Variant::Oware, "", Clock::Unlimited));
    let action = Action::Play { ply: 1, word: "agree" };
    let command = Command { player: PEOPLE[0], if_version: None, action };
    assert_eq!(table.game.decide(&command, &table.context(START)), Err(Refusal::NotAMove(ParseMoveError::OneRow)));
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
        // One that was created with more ends as before.
        let options = AnyOptions::parse_recorded(variant, "standard", "max_plies=10000").expect("a text of a game");
        let mut table = Table::new(Terms { options, ..terms(Opponent::Open, variant, "", Clock::Unlimited) });
        table.execute(PEOPLE[1], Action::Join { join_code: None }, START).expect("the seat is free");
        table.game = Game::from_stored(GameState { ply: PLIES_MAX - 1, ..table.game.state().clone() });
        let mv = table.game.position().legal_moves()[0].to_string();
        let command =
            Command { player: table.to_move().0, if_version: None, action: Action::Play { ply: PLIES_MAX, word: &mv } };
        let events = table.game.decide(&command, &table.context(START)).expect("a legal move").events;
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
