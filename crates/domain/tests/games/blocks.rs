//! What a block between two players forbids, by the public interface.

use mancala_domain::{
    Action, Clock, Command, Context, Game, GameId, Level, NothingToOffer, OfferAnswer, OfferKind, Opponent, PlayerId,
    Refusal, Seat, Terms, Visibility,
};
use mancala_rules::{AnyOptions, Variant};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

const ANA: PlayerId = PlayerId(Uuid::from_u128(1));
const BO: PlayerId = PlayerId(Uuid::from_u128(2));
const EVE: PlayerId = PlayerId(Uuid::from_u128(3));

const START: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

fn created(opponent: Opponent, visibility: Visibility) -> Game {
    let terms = Terms {
        options: AnyOptions::parse(Variant::Kalah, "standard", "").expect("the options are valid"),
        rules_version: 1,
        opponent,
        clock: Clock::Unlimited,
        visibility,
        creator: Seat::First,
        start: None,
        is_practice: false,
    };
    Game::create(GameId(Uuid::from_u128(7)), terms, ANA, Duration::days(14), START).0
}

const fn command(player: PlayerId, action: Action<'_>) -> Command<'_> {
    Command { player, if_version: None, action }
}

fn decide(game: &Game, player: PlayerId, action: Action<'_>, is_blocked: bool) -> Result<usize, Refusal> {
    let context = Context { is_blocked, ..Context::new(START, || GameId(Uuid::from_u128(9))) };
    game.decide(&command(player, action), &context).map(|decision| decision.events.len())
}

fn played(game: &mut Game, player: PlayerId, action: Action<'_>) {
    let context = Context::new(START, || GameId(Uuid::from_u128(9)));
    let events = game.decide(&command(player, action), &context).expect("it is allowed").events;
    for event in &events {
        game.apply(event).expect("it follows");
    }
}

const JOIN: Action<'static> = Action::Join { join_code: Some("code") };

#[test]
fn a_blocked_player_is_told_what_others_are_told() {
    let by_link = || Opponent::Link { join_code: "code".to_owned() };
    for (opponent, visibility, expected) in [
        (Opponent::Open, Visibility::Public, Refusal::Unknown),
        (Opponent::Open, Visibility::Unlisted, Refusal::Unknown),
        (Opponent::Player { player: BO }, Visibility::Private, Refusal::Unknown),
        (by_link(), Visibility::Public, Refusal::WrongJoinCode),
        (by_link(), Visibility::Private, Refusal::Unknown),
    ] {
        let mut game = created(opponent, visibility);
        assert_eq!(game.approached_by(&command(BO, JOIN)), Some(ANA));
        assert_eq!(decide(&game, BO, JOIN, false), Ok(1));
        assert_eq!(decide(&game, BO, JOIN, true), Err(expected));
        // Once the seat is taken, a block makes no difference.
        played(&mut game, BO, JOIN);
        assert_eq!(game.approached_by(&command(EVE, JOIN)), None);
        assert_eq!(decide(&game, EVE, JOIN, true), decide(&game, EVE, JOIN, false));
        assert_eq!(decide(&game, BO, JOIN, true), Ok(0));
    }
}

#[test]
fn only_what_begins_something_asks_for_blocks() {
    let mut game = created(Opponent::Open, Visibility::Public);
    assert_eq!(game.approached_by(&command(ANA, JOIN)), None);
    assert_eq!(game.approached_by(&command(BO, Action::Leave)), None);
    played(&mut game, BO, JOIN);
    let accept = |kind| Action::Answer { kind, answer: OfferAnswer::Accept };
    let asks = [
        Action::Offer { kind: OfferKind::Draw },
        Action::Offer { kind: OfferKind::Rematch },
        accept(OfferKind::Rematch),
    ];
    let words = ["A".to_owned()];
    let others = [
        JOIN,
        Action::Play { ply: 1, word: "A" },
        Action::PlayTurn { ply: 1, words: &words },
        accept(OfferKind::Draw),
        Action::Answer { kind: OfferKind::Rematch, answer: OfferAnswer::Decline },
        Action::Resign,
        Action::Abort,
        Action::Leave,
    ];
    for (player, other) in [(ANA, BO), (BO, ANA)] {
        assert!(asks.iter().all(|action| game.approached_by(&command(player, *action)) == Some(other)));
        assert!(others.iter().all(|action| game.approached_by(&command(player, *action)).is_none()));
        assert!(asks.iter().all(|action| game.approached_by(&command(EVE, *action)).is_none()));
    }
    // The computer blocks no player, and is not blocked.
    let computer = created(Opponent::Computer { level: Level::try_from(1).expect("a level") }, Visibility::Public);
    let alone = created(Opponent::Oneself, Visibility::Public);
    for game in [computer, alone] {
        assert!(asks.iter().all(|action| game.approached_by(&command(ANA, *action)).is_none()));
    }
}

#[test]
fn a_block_refuses_new_offers_and_every_rematch() {
    let refused = Err(NothingToOffer::NotTaken.into());
    let mut game = created(Opponent::Open, Visibility::Public);
    played(&mut game, BO, JOIN);
    let draw = Action::Offer { kind: OfferKind::Draw };
    assert_eq!(decide(&game, ANA, draw, true), refused);
    played(&mut game, ANA, draw);
    assert_eq!(decide(&game, ANA, draw, true), Ok(0));
    assert_eq!(decide(&game, BO, Action::Answer { kind: OfferKind::Draw, answer: OfferAnswer::Accept }, true), Ok(1));
    played(&mut game, BO, Action::Resign);
    let rematch = Action::Offer { kind: OfferKind::Rematch };
    assert_eq!(decide(&game, ANA, rematch, true), refused);
    played(&mut game, ANA, rematch);
    let accept = Action::Answer { kind: OfferKind::Rematch, answer: OfferAnswer::Accept };
    assert_eq!((decide(&game, BO, accept, true), decide(&game, BO, rematch, true)), (refused.clone(), refused));
    // A rematch that has begun stands.
    played(&mut game, BO, accept);
    assert_eq!((decide(&game, BO, accept, true), decide(&game, ANA, rematch, true)), (Ok(0), Ok(0)));
}
