//! What may happen next in a game: its answer to commands, and to the passing of time.

use mancala_rules::{BySide, Move, Side};
use time::OffsetDateTime;

use crate::{
    Action, Command, Event, Fact, Game, GameResult, Moved, Offer, OfferKind, Opponent, Played, PlayerId, Ply,
    RUNNING_GAMES_MAX, Reason, Refusal, Seat, Status, game::in_microseconds,
};

impl Game {
    /// The events that a command leads to: none if what it asks for is already so (a repeated request). Nothing else
    /// decides what may happen to a game; the order of the checks is the contract's.
    pub fn decide(&self, command: &Command<'_>, now: OffsetDateTime) -> Result<Vec<Event>, Refusal> {
        let facts = match command.action {
            Action::Join { join_code, running } => self.join(command, join_code, running)?,
            Action::RenewCode { join_code } => self.renew_code(command, join_code)?,
            Action::Decline => self.decline(command)?,
            Action::Play { ply, word, recorded } => self.play(command, ply, word, recorded)?,
            Action::Offer { kind, circumstances } => self.make_offer(command, kind, &circumstances)?,
            Action::Answer { kind, answer, circumstances } => {
                self.answer_offer(command, kind, answer, &circumstances)?
            }
            Action::Resign => self.resign(command)?,
            Action::Abort => self.abort(command)?,
            Action::Leave => match self.status {
                Status::Open if !self.seats(command.player) => self.decline(command)?,
                Status::Open => self.abort(command)?,
                Status::Active => self.resign(command)?,
                Status::Finished | Status::Aborted => vec![],
            },
        };
        Ok(self.events(facts, in_microseconds(now)))
    }

    /// The events that the passing of time has led to: who is to move has no time left, or nobody has joined. Nothing else may
    /// be decided before they are taken into the fold. They happened when they were due, whoever notices, and whenever.
    pub fn due(&self, now: OffsetDateTime) -> Vec<Event> {
        let Some(wakes_at) = self.wakes_at().filter(|wakes_at| *wakes_at < now) else { return vec![] };
        let facts = match self.seat_to_move() {
            None => vec![Fact::Expired],
            Some(seat) if !self.moved[seat] => vec![Fact::TimedOut { seat }, Fact::Aborted { seat }],
            Some(seat) => {
                let winner = Some(self.position.turn().other());
                let lost = GameResult { winner, reason: Reason::Timeout, score: self.score() };
                vec![Fact::TimedOut { seat }, Fact::Finished(lost)]
            }
        };
        self.events(facts, wakes_at)
    }

    /// The event that the game's analysis is there.
    pub fn analysed(&self, at: OffsetDateTime) -> Vec<Event> {
        self.events(vec![Fact::Analysed], in_microseconds(at))
    }

    /// Time never runs backwards within a game, whatever the machine's clock does.
    fn events(&self, facts: Vec<Fact>, at: OffsetDateTime) -> Vec<Event> {
        let at = at.max(self.updated_at);
        (self.version + 1..).zip(facts).map(|(seq, fact)| Event { seq, at, fact }).collect()
    }

    fn join(&self, command: &Command<'_>, join_code: Option<&str>, running: u32) -> Result<Vec<Fact>, Refusal> {
        if self.seats(command.player) {
            return Ok(vec![]);
        }
        let right_code = match &self.terms.opponent {
            Opponent::Open | Opponent::Player { .. } => true,
            Opponent::Link { join_code: expected } => join_code.is_some_and(|given| same_secret(given, expected)),
            Opponent::Oneself | Opponent::Computer { .. } | Opponent::Imported { .. } => false,
        };
        let free = self.status == Status::Open;
        // A private game exists only for its people, and for whoever holds the code of one by link while a seat is free.
        let by_link = matches!(self.terms.opponent, Opponent::Link { .. });
        if !(self.is_visible_to(Some(command.player)) || by_link && free && right_code) {
            return Err(Refusal::Unknown);
        }
        if self.invited().is_some_and(|invited| invited != command.player) {
            return Err(Refusal::NotInvited);
        }
        self.check_version(command)?;
        if self.status == Status::Aborted {
            return Err(Refusal::Over);
        }
        if !free {
            return Err(Refusal::SeatTaken);
        }
        if !right_code {
            return Err(Refusal::WrongJoinCode);
        }
        if running >= RUNNING_GAMES_MAX {
            return Err(Refusal::TooManyGames);
        }
        Ok(vec![Fact::Joined { seat: self.terms.creator.other(), player: command.player }])
    }

    fn renew_code(&self, command: &Command<'_>, join_code: &str) -> Result<Vec<Fact>, Refusal> {
        self.check_seated(command.player)?;
        let is_by_link = matches!(self.terms.opponent, Opponent::Link { .. });
        if !is_by_link || self.players[self.terms.creator] != Some(command.player) {
            return Err(Refusal::NoCode);
        }
        self.check_version(command)?;
        match self.status {
            Status::Open => Ok(vec![Fact::CodeRenewed { join_code: join_code.to_owned() }]),
            Status::Active => Err(Refusal::SeatTaken),
            Status::Finished | Status::Aborted => Err(Refusal::Over),
        }
    }

    fn decline(&self, command: &Command<'_>) -> Result<Vec<Fact>, Refusal> {
        if !self.is_visible_to(Some(command.player)) {
            return Err(Refusal::Unknown);
        }
        if self.invited() != Some(command.player) {
            return Err(Refusal::NotInvited);
        }
        if self.status == Status::Aborted {
            return Ok(vec![]);
        }
        self.check_version(command)?;
        match self.status {
            Status::Open => Ok(vec![Fact::Declined]),
            Status::Active => Err(Refusal::SeatTaken),
            Status::Finished | Status::Aborted => Err(Refusal::Over),
        }
    }

    fn play(&self, command: &Command<'_>, ply: u32, word: &str, recorded: Option<&Ply>) -> Result<Vec<Fact>, Refusal> {
        self.check_seated(command.player)?;
        let mv = word.parse::<Move>();
        if let (Some(recorded), Ok(mv)) = (recorded, mv)
            && recorded.number == ply
            && recorded.mv == Played::Move(mv)
            && recorded.player == command.player
        {
            return Ok(vec![]);
        }
        self.check_version(command)?;
        self.check_active()?;
        if ply != self.ply + 1 {
            return Err(Refusal::StalePly { next: self.ply + 1 });
        }
        let side = self.position.turn();
        let seat = self.seat_at(side);
        if self.players[seat] != Some(command.player) {
            return Err(Refusal::NotYourTurn);
        }
        // An agreed end takes both people; a ply that one of them sends is no agreement.
        let mv = mv.ok().filter(|&mv| mv != Move::Agree).ok_or(Refusal::NotAMove)?;
        let mut facts = self.moved_to(seat, mv)?;
        // Who plays on does not want the game to end as the other offered, and changes what could be taken back.
        let is_over = facts.len() > 1;
        facts.extend(self.offers.iter().filter(|_| !is_over).filter_map(|&Offer { kind, seat: by, .. }| match kind {
            OfferKind::Draw | OfferKind::End | OfferKind::Takeback if by != seat => {
                Some(Fact::OfferDeclined { seat, kind })
            }
            OfferKind::Takeback => Some(Fact::OfferWithdrawn { seat, kind }),
            _ => None,
        }));
        Ok(facts)
    }

    /// A move by the rules, and the end of the game if it leads there.
    pub(super) fn moved_to(&self, seat: Seat, mv: Move) -> Result<Vec<Fact>, Refusal> {
        let position = self.position.play(mv)?.0;
        let outcome = position.outcome();
        let mut facts = vec![Fact::Moved(Moved { ply: self.ply + 1, seat, mv: Played::Move(mv), position })];
        // A position that play leads to and that is over says why.
        if let Some(outcome) = outcome
            && let Some(reason) = outcome.reason
        {
            let result = GameResult { winner: outcome.winner, reason: reason.into(), score: outcome.score };
            facts.push(Fact::Finished(result));
        }
        Ok(facts)
    }

    fn resign(&self, command: &Command<'_>) -> Result<Vec<Fact>, Refusal> {
        self.check_seated(command.player)?;
        let side = self.side_resigned_by(command.player);
        let lost = GameResult { winner: Some(side.other()), reason: Reason::Resignation, score: self.score() };
        if self.result.as_ref() == Some(&lost) {
            return Ok(vec![]);
        }
        self.check_version(command)?;
        self.check_active()?;
        Ok(vec![Fact::Resigned { seat: self.seat_at(side) }, Fact::Finished(lost)])
    }

    fn abort(&self, command: &Command<'_>) -> Result<Vec<Fact>, Refusal> {
        self.check_seated(command.player)?;
        if self.status == Status::Aborted {
            return Ok(vec![]);
        }
        self.check_version(command)?;
        if self.status.is_over() {
            return Err(Refusal::Over);
        }
        let mut seats = Seat::ALL.into_iter().filter(|seat| self.players[*seat] == Some(command.player));
        match seats.clone().find(|seat| self.moved[*seat]) {
            Some(_) => Err(Refusal::AlreadyMoved),
            None => Ok(seats.next().map(|seat| Fact::Aborted { seat }).into_iter().collect()),
        }
    }

    /// The side that a player gives up: their own; of a game against oneself, the one to move.
    fn side_resigned_by(&self, player: PlayerId) -> Side {
        let turn = self.position.turn();
        if self.player_at(turn) == Some(player) { turn } else { turn.other() }
    }

    pub(super) fn score(&self) -> BySide<u16> {
        let board = self.position.board();
        BySide { south: board.store(Side::South), north: board.store(Side::North) }
    }

    /// A private game is unknown to those who do not sit in it, unless they are invited to.
    pub(super) fn check_seated(&self, player: PlayerId) -> Result<(), Refusal> {
        if self.seats(player) {
            Ok(())
        } else if self.is_visible_to(Some(player)) {
            Err(Refusal::NotSeated)
        } else {
            Err(Refusal::Unknown)
        }
    }

    pub(super) fn check_version(&self, command: &Command<'_>) -> Result<(), Refusal> {
        match command.if_version {
            Some(versions) if !versions.contains(&self.version) => Err(Refusal::OtherVersion { version: self.version }),
            _ => Ok(()),
        }
    }

    pub(super) fn check_active(&self) -> Result<(), Refusal> {
        match self.status {
            Status::Active => Ok(()),
            Status::Open => Err(Refusal::NotStarted),
            Status::Finished | Status::Aborted => Err(Refusal::Over),
        }
    }
}

/// Compares two secrets in a time that does not depend on where they differ.
fn same_secret(given: &str, expected: &str) -> bool {
    given.len() == expected.len() && given.bytes().zip(expected.bytes()).fold(0, |diff, (a, b)| diff | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use time::Duration;
    use uuid::Uuid;

    use super::*;
    use crate::{
        Answer, BySeat, Circumstances, Clock, GameId, NothingToOffer, Previous, ReplayError, Terms, Visibility,
    };
    use mancala_rules::{AnyOptions, Variant};

    const PEOPLE: [PlayerId; 3] =
        [PlayerId(Uuid::from_u128(1)), PlayerId(Uuid::from_u128(2)), PlayerId(Uuid::from_u128(3))];

    const START: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    const CLOCKS: [Clock; 3] = [
        Clock::Unlimited,
        Clock::PerMove { allowance: Duration::seconds(200) },
        Clock::Bank { initial: Duration::seconds(400), increment: Duration::seconds(20), max: Duration::seconds(500) },
    ];

    fn terms(opponent: Opponent, variant: Variant, options: &str, clock: Clock) -> Terms {
        Terms {
            options: AnyOptions::parse(variant, "standard", options).expect("the options are valid"),
            rules_version: 1,
            opponent,
            clock,
            visibility: Visibility::Public,
            creator: Seat::Second,
            start: None,
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
            let (game, created) = Game::create(GameId(Uuid::nil()), terms, PEOPLE[0], Duration::days(14), START);
            Self { game, log: vec![created], plies: vec![] }
        }

        /// A game of two in which nothing was played.
        fn of_two(variant: Variant, clock: Clock) -> Self {
            let mut table = Self::new(terms(Opponent::Open, variant, "", clock));
            table.take(PEOPLE[1], Action::Join { join_code: None, running: 0 }, START).expect("the seat is free");
            table
        }

        fn take(&mut self, player: PlayerId, action: Action<'_>, now: OffsetDateTime) -> Result<Vec<Event>, Refusal> {
            let events = self.game.decide(&Command { player, if_version: None, action }, now)?;
            self.apply(&events);
            Ok(events)
        }

        fn apply(&mut self, events: &[Event]) {
            for event in events {
                assert!(event.at >= self.game.updated_at);
                let previous = Previous {
                    at: self.plies.last().map_or_else(|| Previous::opening(&self.game).at, |last| last.at),
                    position: self.game.position.clone(),
                };
                self.game.apply(event).expect("an event that was decided applies");
                if let Fact::Moved(moved) = &event.fact {
                    self.plies.push(Ply::replay(&self.game, &previous, moved, event.at).expect("a ply is a ply"));
                }
                self.log.push(event.clone());
            }
        }

        fn play(&mut self, now: OffsetDateTime) {
            let player = self.game.player_at(self.game.position.turn()).expect("somebody is to move");
            let word = self.game.position.legal_moves()[0].to_string();
            let action = Action::Play { ply: self.game.ply + 1, word: &word, recorded: None };
            self.take(player, action, now).expect("a legal move");
        }

        fn offer(&mut self, player: PlayerId, kind: OfferKind) -> Result<Vec<Event>, Refusal> {
            let plies = self.plies.clone();
            self.take(player, Action::Offer { kind, circumstances: with(&plies) }, self.game.updated_at)
        }

        fn answer(&mut self, player: PlayerId, kind: OfferKind, answer: Answer) -> Result<Vec<Event>, Refusal> {
            let plies = self.plies.clone();
            self.take(player, Action::Answer { kind, answer, circumstances: with(&plies) }, self.game.updated_at)
        }

        fn to_move(&self) -> (PlayerId, PlayerId) {
            let player = self.game.player_at(self.game.position.turn()).expect("somebody is to move");
            (player, if player == PEOPLE[0] { PEOPLE[1] } else { PEOPLE[0] })
        }
    }

    fn with(plies: &[Ply]) -> Circumstances<'_> {
        Circumstances { plies, rematch: GameId(Uuid::from_u128(9)) }
    }

    /// What is particular to a game: a swap, a history, rounds.
    const OPTIONS: [(Variant, &str); 4] = [
        (Variant::Kalah, "seeds=2"),
        (Variant::Kalah, "pie=true;seeds=2"),
        (Variant::Oware, "pits=3;seeds=2;repetition=3"),
        (Variant::Congkak, "pits=3;seeds=2;rounds=multi"),
    ];

    proptest! {
        /// Whoever asks for whatever, in whatever order and by whatever clock: a game is the fold of its log, the log
        /// has no gap and no step back in time, and what is over stays over.
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
                let legal = table.game.position.legal_moves();
                let word = legal.get(which % legal.len().max(1)).map(ToString::to_string).unwrap_or_default();
                let (plies, kind) = (table.plies.clone(), OfferKind::ALL[which % OfferKind::ALL.len()]);
                let circumstances = with(&plies);
                let action = match what {
                    0 => Action::Abort,
                    1 => Action::Resign,
                    2..=6 => Action::Join { join_code: None, running: 0 },
                    7 => Action::Decline,
                    8..=15 => Action::Offer { kind, circumstances },
                    16 => Action::Answer { kind, answer: Answer::Decline, circumstances },
                    17 => Action::Answer { kind, answer: Answer::Withdraw, circumstances },
                    18..=21 => Action::Answer { kind, answer: Answer::Accept, circumstances },
                    _ => Action::Play { ply: table.game.ply + 1, word: &word, recorded: None },
                };
                let before = table.game.clone();
                let Ok(events) = table.take(PEOPLE[person], action, now) else {
                    prop_assert_eq!(&table.game, &before);
                    continue;
                };
                let game = &table.game;
                prop_assert!(events.is_empty() || !before.status.is_over() || kind == OfferKind::Rematch);
                prop_assert!(game.ply >= before.ply);
                prop_assert_eq!(game.result.is_some(), game.status == Status::Finished);
                prop_assert_eq!(game.finished_at.is_some(), game.status.is_over());
                prop_assert_eq!(game.turn().is_some(), game.status == Status::Active);
                let runs = game.status == Status::Active && clock != Clock::Unlimited && game.time.pause.is_none();
                prop_assert_eq!(game.time.deadline.is_some(), runs);
                if game.status == Status::Active {
                    prop_assert!(!game.position.legal_moves().is_empty());
                }
            }
            prop_assert_eq!(table.game.version as usize, table.log.len());
            prop_assert_eq!(Game::replay(table.game.id, &table.log), Ok(table.game));
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
                let waiting: Vec<_> = table.game.offers.iter().map(|offer| (offer.kind, offer.seat)).collect();
                let reason = table.game.result.as_ref().map(|result| result.reason);
                let (mine, yours) = ((first, Seat::Second), (second, Seat::First));
                match (first, second) {
                    (Draw, Draw) | (End, End) => assert_eq!((reason, waiting), (agreed, vec![])),
                    (Pause, Pause) => assert_eq!((table.game.time.pause.is_some(), waiting), (true, vec![])),
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
    fn a_move_by_the_other_side_declines_an_offer_to_end_the_game_and_any_move_one_to_take_back() {
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
    fn a_turn_is_taken_back_with_what_was_played_since_and_the_ply_counts_on() {
        // E is an extra turn at the opening of 4 seeds with C before it: South plays both in one turn.
        let mut table = Table::of_two(Variant::Kalah, CLOCKS[2]);
        let opening = table.game.position.clone();
        let play = |table: &mut Table, word: &str| {
            let (player, _) = table.to_move();
            let action = Action::Play { ply: table.game.ply + 1, word, recorded: None };
            table.take(player, action, table.game.updated_at + Duration::seconds(10)).expect("a legal move");
        };
        for word in ["C", "F", "a"] {
            play(&mut table, word);
        }
        let south = table.game.player_at(Side::South).expect("somebody plays South");
        let north = table.game.player_at(Side::North).expect("somebody plays North");
        assert_eq!(table.plies.iter().filter(|ply| ply.player == south).count(), 2);
        table.offer(south, OfferKind::Takeback).expect("South has played a turn");
        assert_eq!(table.game.offer(OfferKind::Takeback).and_then(|offer| offer.to_ply), Some(0));
        assert_eq!(table.answer(south, OfferKind::Takeback, Answer::Accept), Err(Refusal::NoSuchOffer));
        table.answer(north, OfferKind::Takeback, Answer::Accept).expect("North may accept");
        assert_eq!(table.answer(north, OfferKind::Takeback, Answer::Accept), Ok(vec![]));
        assert_eq!((table.game.ply, &table.game.position), (4, &opening));
        let last = table.plies.last().expect("four plies");
        assert_eq!((last.mv, last.player, last.side), (Played::Takeback { to_ply: 0 }, south, Side::South));
        // Nothing is left that South could take back, and what was is not played any more.
        assert_eq!(table.offer(south, OfferKind::Takeback), Err(NothingToOffer::NoTurn.into()));
        assert_eq!(table.offer(north, OfferKind::Takeback), Err(NothingToOffer::NoTurn.into()));
        play(&mut table, "D");
        assert_eq!(table.plies.last().map(|ply| ply.number), Some(5));
        assert_eq!(Game::replay(table.game.id, &table.log), Ok(table.game));
    }

    #[test]
    fn whoever_has_moved_loses_by_time_and_whoever_has_not_ends_the_game_without_a_result() {
        let Clock::PerMove { allowance } = CLOCKS[1] else { panic!("another clock") };
        for (plies, reason) in [(0, None), (1, None), (2, Some(Reason::Timeout)), (3, Some(Reason::Timeout))] {
            let mut table = Table::of_two(Variant::Oware, CLOCKS[1]);
            for ply in 0..plies {
                table.play(START + allowance * ply);
            }
            let (_, other) = table.to_move();
            let winner = Some(other);
            let deadline = table.game.time.deadline.expect("time runs");
            assert_eq!(table.game.due(deadline), vec![]);
            let due = table.game.due(deadline + Duration::hours(5));
            table.apply(&due);
            let game = &table.game;
            assert_eq!(game.result.as_ref().map(|result| result.reason), reason);
            let won = game.result.as_ref().and_then(|result| game.player_at(result.winner?));
            assert_eq!(won, winner.filter(|_| reason.is_some()));
            assert_eq!((game.status.is_over(), game.finished_at, game.time.deadline), (true, Some(deadline), None));
        }
    }

    #[test]
    fn a_rematch_exchanges_the_sides_and_begins_at_once() {
        let mut table = Table::of_two(Variant::Kalah, CLOCKS[2]);
        let (first, second) = table.to_move();
        assert_eq!(table.offer(first, OfferKind::Rematch), Err(NothingToOffer::NotOver.into()));
        table.take(first, Action::Resign, START).expect("the game is active");
        table.offer(second, OfferKind::Rematch).expect("the game is over");
        let events = table.answer(first, OfferKind::Rematch, Answer::Accept).expect("it was offered");
        let Fact::Rematched { game: id, .. } = events[0].fact else { panic!("{events:?}") };
        assert_eq!(table.answer(first, OfferKind::Rematch, Answer::Accept), Ok(vec![]));
        assert_eq!(table.offer(second, OfferKind::Rematch), Ok(vec![]));
        let players = BySeat { first, second };
        let (again, log) = table.game.rematch(id, Seat::Second, players, START + Duration::HOUR);
        assert_eq!((again.player_at(Side::South), again.player_at(Side::North)), (Some(second), Some(first)));
        assert_eq!((again.status, again.players[again.terms.creator]), (Status::Active, Some(second)));
        assert_eq!(Game::replay(id, &log), Ok(again));
    }

    #[test]
    fn nothing_is_offered_where_nothing_can_be() {
        let mut alone = Table::new(terms(Opponent::Oneself, Variant::Kalah, "", CLOCKS[1]));
        assert_eq!(alone.offer(PEOPLE[0], OfferKind::Draw), Err(NothingToOffer::Alone.into()));
        let mut table = Table::of_two(Variant::Kalah, Clock::Unlimited);
        assert_eq!(table.offer(PEOPLE[0], OfferKind::Pause), Err(NothingToOffer::NoClock.into()));
        assert_eq!(table.offer(PEOPLE[0], OfferKind::End), Err(NothingToOffer::NoAgreedEnd.into()));
        assert_eq!(table.offer(PEOPLE[2], OfferKind::Draw), Err(Refusal::NotSeated));
        for answer in [Answer::Accept, Answer::Decline, Answer::Withdraw] {
            assert_eq!(table.answer(PEOPLE[0], OfferKind::Draw, answer), Err(Refusal::NoSuchOffer));
        }
        table.offer(PEOPLE[0], OfferKind::Draw).expect("a draw can be offered");
        assert_eq!(table.offer(PEOPLE[0], OfferKind::Draw), Ok(vec![]));
        assert_eq!(table.answer(PEOPLE[0], OfferKind::Draw, Answer::Decline), Err(Refusal::NoSuchOffer));
        assert_eq!(table.answer(PEOPLE[1], OfferKind::Draw, Answer::Withdraw), Err(Refusal::NoSuchOffer));
        table.answer(PEOPLE[1], OfferKind::Draw, Answer::Decline).expect("it may be declined");
        assert_eq!(table.game.offers, vec![]);
    }

    #[test]
    fn an_open_game_ends_when_nobody_joins_in_time() {
        let mut table = Table::new(terms(Opponent::Open, Variant::Kalah, "", CLOCKS[1]));
        let expires_at = START + Duration::days(14);
        assert_eq!((table.game.expires_at, table.game.due(expires_at)), (Some(expires_at), vec![]));
        let due = table.game.due(expires_at + Duration::SECOND);
        table.apply(&due);
        assert_eq!((table.game.status, table.game.finished_at), (Status::Aborted, Some(expires_at)));
    }

    #[test]
    fn an_agreed_end_is_no_move_of_one_player() {
        let table = Table::new(terms(Opponent::Oneself, Variant::Oware, "", Clock::Unlimited));
        let action = Action::Play { ply: 1, word: "agree", recorded: None };
        let command = Command { player: PEOPLE[0], if_version: None, action };
        assert_eq!(table.game.decide(&command, START), Err(Refusal::NotAMove));
    }

    #[test]
    fn a_log_with_a_gap_or_a_second_beginning_is_no_log() {
        let Table { game, log, .. } = Table::new(terms(Opponent::Open, Variant::Kalah, "", Clock::Unlimited));
        let created = &log[0];
        let joined = |seq| Event { seq, at: START, fact: Fact::Joined { seat: Seat::First, player: PEOPLE[1] } };
        assert_eq!(Game::replay(game.id, []), Err(ReplayError::NotCreated));
        assert_eq!(Game::replay(game.id, [&joined(1)]), Err(ReplayError::NotCreated));
        assert_eq!(Game::replay(game.id, [created, &joined(3)]), Err(ReplayError::Gap { after: 1, found: 3 }));
        let again = Event { seq: 2, ..created.clone() };
        assert_eq!(Game::replay(game.id, [created, &again]), Err(ReplayError::CreatedTwice { seq: 2 }));
    }
}
