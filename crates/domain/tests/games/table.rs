//! A game at a table: people, terms, and commands whose events are applied and kept.

use mancala_domain::{
    Action, Clock, Command, Decision, Event, Fact, Game, GameId, OfferAnswer, OfferKind, Opponent, PlayerId, Ply,
    Previous, Refusal, Seat, Terms, Visibility,
};
use mancala_rules::{AnyOptions, Variant};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::asks::{self, JOIN};

pub const PEOPLE: [PlayerId; 3] =
    [PlayerId(Uuid::from_u128(1)), PlayerId(Uuid::from_u128(2)), PlayerId(Uuid::from_u128(3))];

pub const START: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

pub const CLOCKS: [Clock; 3] = [
    Clock::Unlimited,
    Clock::PerMove { allowance: Duration::seconds(200) },
    Clock::Bank { initial: Duration::seconds(400), increment: Duration::seconds(20), max: Duration::seconds(500) },
];

pub const FIRST_GAME: GameId = GameId(Uuid::from_u128(0x0199_0000_0000_7000_8000_0000_0000_0123));

pub fn terms(opponent: Opponent, variant: Variant, options: &str, clock: Clock) -> Terms {
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
pub struct Table {
    pub game: Game,
    pub log: Vec<Event>,
    pub plies: Vec<Ply>,
}

impl Table {
    pub fn new(terms: Terms) -> Self {
        let (game, created) = Game::create(FIRST_GAME, terms, PEOPLE[0], Duration::days(14), START);
        Self { game, log: vec![created], plies: vec![] }
    }

    /// A game of two in which nothing was played.
    pub fn of_two(variant: Variant, clock: Clock) -> Self {
        let mut table = Self::new(terms(Opponent::Open, variant, "", clock));
        table.execute(PEOPLE[1], JOIN, START).expect("the seat is free");
        table
    }

    pub fn decide(&self, player: PlayerId, action: Action<'_>, now: OffsetDateTime) -> Result<Decision, Refusal> {
        self.game.decide(&Command { player, if_version: None, action }, now)
    }

    /// Executes an action, if it is not refused.
    pub fn execute(
        &mut self,
        player: PlayerId,
        action: Action<'_>,
        now: OffsetDateTime,
    ) -> Result<Vec<Event>, Refusal> {
        let decision = self.decide(player, action, now)?;
        Ok(self.keep(decision))
    }

    /// Applies what was decided.
    fn keep(&mut self, Decision { events, effects }: Decision) -> Vec<Event> {
        let moves = events.iter().filter(|event| matches!(event.fact, Fact::Moved(_))).count();
        assert!(moves == 1 || moves == 0 && effects.is_empty());
        let plies = self.plies.len();
        self.apply(&events);
        if moves == 1 {
            assert_eq!(self.plies[plies].effects, effects);
        }
        events
    }

    pub fn apply(&mut self, events: &[Event]) {
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

    pub fn play(&mut self, now: OffsetDateTime) {
        let word = self.game.position().legal_moves()[0].to_string();
        self.play_word(&word, now);
    }

    pub fn play_word(&mut self, word: &str, now: OffsetDateTime) {
        let (player, _) = self.to_move();
        self.execute(player, asks::play(self.game.ply() + 1, word), now).expect("a legal move");
    }

    pub fn offer(&mut self, player: PlayerId, kind: OfferKind) -> Result<Vec<Event>, Refusal> {
        self.offer_at(player, kind, self.game.updated_at())
    }

    pub fn answer(&mut self, player: PlayerId, kind: OfferKind, answer: OfferAnswer) -> Result<Vec<Event>, Refusal> {
        self.answer_at(player, kind, answer, self.game.updated_at())
    }

    pub fn offer_at(&mut self, player: PlayerId, kind: OfferKind, now: OffsetDateTime) -> Result<Vec<Event>, Refusal> {
        let subject = asks::subject(kind, &self.game, &self.plies, &self.log);
        let decision = self.decide(player, asks::offer(subject), now)?;
        Ok(self.keep(decision))
    }

    pub fn answer_at(
        &mut self,
        player: PlayerId,
        kind: OfferKind,
        answer: OfferAnswer,
        now: OffsetDateTime,
    ) -> Result<Vec<Event>, Refusal> {
        let subject = asks::subject(kind, &self.game, &self.plies, &self.log);
        let decision = self.decide(player, asks::answer(subject, answer), now)?;
        Ok(self.keep(decision))
    }

    /// The player to move, and the other one.
    pub fn to_move(&self) -> (PlayerId, PlayerId) {
        let player = self.game.player_at(self.game.position().turn()).expect("both seats are taken");
        (player, if player == PEOPLE[0] { PEOPLE[1] } else { PEOPLE[0] })
    }
}
