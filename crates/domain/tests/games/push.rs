//! What a player's devices show, by the public interface.

use mancala_domain::{
    Action, Clock, Command, DeviceKind, Event, Game, GameId, Level, NoticeKind, OfferKind, Opponent, PlayerId,
    Previous, Seat, Start, Subject, Terms, Visibility, is_current, is_pushed, pushes,
};
use mancala_rules::{AnyOptions, AnyPosition, Variant};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::asks::{JOIN, offer, play};

const ANA: PlayerId = PlayerId(Uuid::from_u128(1));
const BO: PlayerId = PlayerId(Uuid::from_u128(2));
const EVE: PlayerId = PlayerId(Uuid::from_u128(3));
const START: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

/// A player, and the kind of what its devices show.
type Shown = (PlayerId, NoticeKind);

/// A game, and the last ply of it.
struct Course {
    game: Game,
    previous: Previous,
}

impl Course {
    /// A game of Ana's, and what its creation shows.
    fn begin(opponent: Opponent) -> (Self, Vec<Shown>) {
        Self::begin_with(opponent, None)
    }

    fn begin_with(opponent: Opponent, position: Option<&str>) -> (Self, Vec<Shown>) {
        let options = AnyOptions::parse(Variant::Kalah, "standard", "").expect("the options are valid");
        let position = position.map(|text| AnyPosition::parse(&options, text).expect("it is a position"));
        let start = position.map(|position| Start { position, from: None });
        let terms = Terms {
            options,
            rules_version: 1,
            opponent,
            clock: Clock::PerMove { allowance: Duration::hours(1) },
            visibility: Visibility::Public,
            creator: Seat::First,
            start,
            is_practice: false,
        };
        let (game, created) = Game::create(GameId(Uuid::from_u128(7)), terms, ANA, Duration::days(14), START);
        let previous = Previous::opening(&game);
        let shown = shown(&game, &previous, &[created]);
        (Self { game, previous }, shown)
    }

    /// A game between Ana, who is to move, and Bo.
    fn begun() -> Self {
        let (mut course, _) = Self::begin(Opponent::Player { player: BO });
        assert_eq!(course.act(BO, JOIN), [(ANA, NoticeKind::YourTurn)]);
        course
    }

    /// What an action shows.
    fn act(&mut self, player: PlayerId, action: Action<'_>) -> Vec<Shown> {
        self.act_all(&[(player, action)])
    }

    /// What several actions show, whose events are appended together.
    fn act_all(&mut self, actions: &[(PlayerId, Action<'_>)]) -> Vec<Shown> {
        let mut events = vec![];
        for &(player, action) in actions {
            events.extend(self.applied(player, action));
        }
        self.show(&events)
    }

    /// What the passing of time shows, with a ply in the same append if there is one.
    fn wait(&mut self, duration: Duration, ply: Option<(PlayerId, Action<'_>)>) -> Vec<Shown> {
        let mut events = ply.map_or(vec![], |(player, action)| self.applied(player, action));
        let due = self.game.due(START + duration);
        for event in &due {
            self.game.apply(event).expect("it follows");
        }
        events.extend(due);
        self.show(&events)
    }

    /// The events of an action.
    fn applied(&mut self, player: PlayerId, action: Action<'_>) -> Vec<Event> {
        let command = Command { player, if_version: None, action };
        let events = self.game.decide(&command, START).expect("it is allowed").events;
        for event in &events {
            self.game.apply(event).expect("it follows");
        }
        events
    }

    fn show(&mut self, events: &[Event]) -> Vec<Shown> {
        let shown = shown(&self.game, &self.previous, events);
        for event in events {
            self.previous = self.previous.clone().after(event);
        }
        shown
    }
}

fn shown(game: &Game, previous: &Previous, events: &[Event]) -> Vec<Shown> {
    pushes(game, previous, events).into_iter().map(|notice| (notice.player, notice.kind)).collect()
}

#[test]
fn a_device_shows_invitations_turns_and_ends_and_nothing_else() {
    let (mut course, invited) = Course::begin(Opponent::Player { player: BO });
    assert_eq!(invited, [(BO, NoticeKind::Invited)]);
    assert_eq!(course.act(BO, JOIN), [(ANA, NoticeKind::YourTurn)]);
    // The last seed falls into the store, so the turn goes on.
    assert_eq!(course.act(ANA, play(1, "C")), []);
    assert_eq!(course.act(ANA, play(2, "A")), [(BO, NoticeKind::YourTurn)]);
    assert_eq!(course.act(ANA, offer(Subject::Draw)), []);
    assert_eq!(course.act(BO, Action::DeclineOffer(OfferKind::Draw)), []);
    assert_eq!(course.act(BO, Action::Resign), [(ANA, NoticeKind::Finished)]);
}

#[test]
fn the_player_that_ends_a_game_is_not_told_of_it() {
    let invitation = || Course::begin(Opponent::Player { player: BO }).0;
    let both = [(ANA, NoticeKind::Finished), (BO, NoticeKind::Finished)];
    assert_eq!(invitation().act(ANA, Action::Abort), [both[1]]);
    assert_eq!(invitation().act(BO, Action::Decline), [both[0]]);
    assert_eq!(Course::begun().act(ANA, Action::Abort), [both[1]]);
    assert_eq!(Course::begun().act(ANA, Action::Resign), [both[1]]);
    // Time, and an agreement, are of neither.
    assert_eq!(invitation().wait(Duration::days(15), None), both);
    let mut begun = Course::begun();
    begun.act(ANA, play(1, "A"));
    begun.act(BO, play(2, "a"));
    assert_eq!(begun.wait(Duration::hours(2), Some((ANA, play(3, "D")))), both);
    // The last ply is of its player.
    let (mut last, _) =
        Course::begin_with(Opponent::Player { player: BO }, Some("0,0,0,0,0,1/1,0,0,0,0,0 30-16 S e 1 1S"));
    last.act(BO, JOIN);
    assert_eq!(last.act(ANA, play(1, "F")), [both[1]]);
    let mut agreed = Course::begun();
    agreed.act(ANA, offer(Subject::Draw));
    let accept = Action::Accept(Subject::Draw);
    assert_eq!(agreed.act(BO, accept), both);
}

#[test]
fn of_each_player_the_last_notice_is_shown_if_it_is_still_true() {
    let (mut course, _) = Course::begin(Opponent::Open);
    // Ana's turn is over, and Bo's has begun.
    assert_eq!(course.act_all(&[(BO, JOIN), (ANA, play(1, "A"))]), [(BO, NoticeKind::YourTurn)]);
    let mut begun = Course::begun();
    let turns = [(ANA, play(1, "A")), (BO, play(2, "a")), (ANA, play(3, "D")), (BO, play(4, "d"))];
    assert_eq!(begun.act_all(&turns), [(ANA, NoticeKind::YourTurn)]);
    // An end makes all before it untrue.
    let mut ended = Course::begun();
    assert_eq!(ended.act_all(&[(ANA, play(1, "A")), (ANA, Action::Resign)]), [(BO, NoticeKind::Finished)]);
}

#[test]
fn a_game_that_is_played_alone_shows_nothing() {
    let level = Level::try_from(3).expect("a level");
    for (opponent, is_shown) in [
        (Opponent::Oneself, false),
        (Opponent::Computer { level }, false),
        (Opponent::Open, true),
        (Opponent::Link { join_code: "code".to_owned() }, true),
        (Opponent::Player { player: BO }, true),
    ] {
        let (mut course, created) = Course::begin(opponent.clone());
        assert_eq!(is_pushed(&course.game), is_shown, "{opponent:?}");
        if !is_shown {
            assert_eq!((created, course.act(ANA, play(1, "A"))), (vec![], vec![]), "{opponent:?}");
        }
    }
}

#[test]
fn a_notice_is_current_while_it_is_true() {
    let current = |game: &Game, player| {
        let kinds = NoticeKind::ALL.into_iter();
        kinds.filter(|kind| is_current(game, player, *kind)).collect::<Vec<_>>()
    };
    let turn = vec![NoticeKind::YourTurn, NoticeKind::Finished, NoticeKind::DeadlineSoon];
    let rest = vec![NoticeKind::Finished];
    let (mut course, _) = Course::begin(Opponent::Player { player: BO });
    assert_eq!(current(&course.game, BO), [NoticeKind::Finished, NoticeKind::Invited]);
    assert_eq!(current(&course.game, ANA), rest);
    course.act(BO, JOIN);
    assert_eq!((current(&course.game, ANA), current(&course.game, BO)), (turn.clone(), rest.clone()));
    course.act(ANA, play(1, "A"));
    assert_eq!((current(&course.game, ANA), current(&course.game, BO)), (rest.clone(), turn));
    course.act(BO, Action::Resign);
    for player in [ANA, BO, EVE] {
        assert_eq!(current(&course.game, player), rest);
    }
}

#[test]
fn each_kind_of_device_has_a_word_of_its_own() {
    for kind in DeviceKind::ALL {
        assert_eq!(DeviceKind::of(kind.as_str()), Some(kind));
    }
    assert_eq!(DeviceKind::of("Web"), None);
}
