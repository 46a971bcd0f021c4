//! Increments of turns that are taken back, by the public interface. They go out of the banks again, but not in games of
//! releases that kept them.

use mancala_domain::{
    Action, BySeat, Clock, Command, Decision, Event, Fact, Flaw, Game, GameId, NothingToOffer, Opponent, PlayerId, Ply,
    PlyAction, Previous, Refusal, Seat, Subject, TakebackContext, Terms, Visibility, audit,
};
use mancala_rules::{AnyOptions, Variant};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::asks::{JOIN, offer, play};

const PEOPLE: [PlayerId; 2] = [PlayerId(Uuid::from_u128(1)), PlayerId(Uuid::from_u128(2))];
const GAME: GameId = GameId(Uuid::from_u128(7));

fn at(seconds: i64) -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + Duration::seconds(seconds)
}

/// A game of two with a bank of time, its log and its plies.
struct Table {
    game: Game,
    log: Vec<Event>,
    plies: Vec<Ply>,
}

impl Table {
    /// A bank of 100 seconds, 20 more after each turn, and 110 at most. South is `PEOPLE[0]`.
    fn new(returns_increments: bool) -> Self {
        let [initial, increment, max] = [100, 20, 110].map(Duration::seconds);
        let terms = Terms {
            options: AnyOptions::parse(Variant::Oware, "standard", "").expect("the options are valid"),
            rules_version: 1,
            opponent: Opponent::Open,
            clock: Clock::Bank { initial, increment, max },
            visibility: Visibility::Public,
            creator: Seat::First,
            start: None,
            is_practice: false,
        };
        let (game, created) = Game::create(GAME, terms, PEOPLE[0], Duration::days(14), at(0));
        let created = if returns_increments { created.returning_increments() } else { created };
        let mut table = Self { game, log: vec![created], plies: vec![] };
        table.execute(PEOPLE[1], JOIN, 0).expect("the seat is free");
        table
    }

    fn execute(&mut self, player: PlayerId, action: Action<'_>, seconds: i64) -> Result<(), Refusal> {
        let command = Command { player, if_version: None, action };
        let Decision { events, .. } = self.game.decide(&command, at(seconds))?;
        for event in events {
            if let Fact::Moved(moved) = &event.fact {
                let previous = Previous { position: self.game.position().clone(), at: self.game.updated_at() };
                self.plies.push(Ply::replay(&self.game, &previous, moved, event.at).expect("a ply"));
            }
            self.game.apply(&event).expect("it follows");
            self.log.push(event);
        }
        Ok(())
    }

    /// The player to move plays a turn.
    fn play(&mut self, seconds: i64) {
        let seat = self.game.seat_to_move().expect("the game runs");
        let word = self.game.position().legal_moves()[0].to_string();
        let (ply, player) = (self.game.ply() + 1, self.game.players()[seat].expect("two play"));
        self.execute(player, play(ply, &word), seconds).expect("a legal move");
    }

    /// A player's last turn is taken back, as the other one agrees.
    fn take_back(&mut self, by: usize, seconds: i64) -> Result<(), Refusal> {
        let (plies, log) = (self.plies.clone(), self.log.clone());
        let subject = Subject::Takeback(TakebackContext { newest_plies: &plies, log: &log });
        self.execute(PEOPLE[by], offer(subject), seconds)?;
        self.execute(PEOPLE[1 - by], Action::Accept(subject), seconds)
    }

    fn banks(&self) -> (i64, i64) {
        let BySeat { first, second } = self.game.time().banks;
        (first.whole_seconds(), second.whole_seconds())
    }

    fn has_no_flaw(&self) {
        assert_eq!(audit(GAME, &self.log, Some(&self.game)), vec![]);
        assert_eq!(Game::replay(GAME, &self.log).expect("a log"), self.game);
    }
}

#[test]
fn a_takeback_takes_increments_back_and_no_thought() {
    let mut table = Table::new(true);
    // South thinks for 40 seconds, North for 5: its bank is full after 10 more.
    table.play(40);
    table.play(45);
    assert_eq!(table.banks(), (80, 110));
    // South has thought for 3 more when both turns are undone.
    table.take_back(0, 48).expect("both agree");
    assert_eq!(table.banks(), (57, 95));
    assert_eq!(table.game.time().deadline, Some(at(48 + 57)));
    // However often that is done, no time is won.
    for round in 1..4 {
        table.play(48 + 2 * round);
        table.take_back(0, 48 + 2 * round).expect("both agree");
        assert_eq!(table.banks(), (57 - 2 * i64::from(i32::try_from(round).expect("small")), 95));
    }
    table.has_no_flaw();
}

#[test]
fn older_turns_are_undone_one_after_another() {
    let mut table = Table::new(true);
    for seconds in [10, 20, 30, 40] {
        table.play(seconds);
    }
    assert_eq!(table.banks(), (110, 110));
    // Both turns of North, and South's after the first of them.
    table.take_back(1, 40).expect("both agree");
    assert_eq!(table.banks(), (110, 100));
    table.take_back(1, 40).expect("both agree");
    // Each has thought for 20 seconds, and South's first turn stands: 100 - 10 + 20, less 10 more.
    assert_eq!(table.banks(), (100, 80));
    table.has_no_flaw();
}

#[test]
fn a_game_of_a_release_before_keeps_its_increments() {
    let mut table = Table::new(false);
    table.play(40);
    table.play(45);
    table.take_back(0, 48).expect("both agree");
    assert_eq!((table.banks(), table.game.time().deadline), ((77, 110), Some(at(48 + 77))));
    assert!(
        matches!(table.plies[2].mv, PlyAction::Takeback { to_ply: 0, increments } if increments == BySeat::default())
    );
    table.has_no_flaw();
}

#[test]
fn a_takeback_that_leaves_no_time_is_refused() {
    let mut table = Table::new(true);
    // 95 seconds of the 100, and then 10 of the 20 that the turn brought.
    table.play(95);
    table.play(96);
    assert_eq!(table.take_back(0, 106), Err(Refusal::NothingToOffer(NothingToOffer::NoTime)));
    assert_eq!(table.banks(), (25, 110));
    table.has_no_flaw();
}

#[test]
fn other_increments_than_those_of_the_turns_are_a_flaw() {
    for returns_increments in [true, false] {
        let mut table = Table::new(returns_increments);
        table.play(40);
        table.take_back(0, 40).expect("both agree");
        let last = table.log.len() - 1;
        let seq = table.log[last].seq;
        let Fact::Moved(moved) = &mut table.log[last].fact else { panic!("a takeback is a ply") };
        let first = Duration::seconds(7);
        moved.mv = PlyAction::Takeback { to_ply: 0, increments: BySeat { first, second: Duration::ZERO } };
        assert_eq!(audit(GAME, &table.log, None), [Flaw::Takeback { seq }]);
    }
}
