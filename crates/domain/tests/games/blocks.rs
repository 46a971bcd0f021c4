//! What a block between two players forbids, by the public interface.

use mancala_domain::{
    Action, Clock, Command, Game, GameId, Level, NothingToOffer, OfferContext, Opponent, PlayerId, Refusal,
    RematchOpponent, Seat, Subject, Terms, Visibility,
};
use mancala_rules::{AnyOptions, Variant};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::asks::{JOIN, REMATCH, join_with, offer, rematch};

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

fn decide(game: &Game, player: PlayerId, action: Action<'_>) -> Result<usize, Refusal> {
    game.decide(&command(player, action), START).map(|decision| decision.events.len())
}

fn played(game: &mut Game, player: PlayerId, action: Action<'_>) {
    let events = game.decide(&command(player, action), START).expect("it is allowed").events;
    for event in &events {
        game.apply(event).expect("it follows");
    }
}

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
        let (join, blocked) = (join_with("code", false), join_with("code", true));
        assert_eq!(game.approached_by(BO), Some(ANA));
        assert_eq!(decide(&game, BO, join), Ok(1));
        assert_eq!(decide(&game, BO, blocked), Err(expected));
        // Once the seat is taken, a block makes no difference.
        played(&mut game, BO, join);
        assert_eq!(game.approached_by(EVE), None);
        assert_eq!(decide(&game, EVE, blocked), decide(&game, EVE, join));
        assert_eq!(decide(&game, BO, blocked), Ok(0));
    }
}

#[test]
fn a_player_approaches_the_other_player_or_the_creator_of_an_open_game() {
    let mut game = created(Opponent::Open, Visibility::Public);
    assert_eq!((game.approached_by(ANA), game.approached_by(BO)), (None, Some(ANA)));
    played(&mut game, BO, JOIN);
    assert_eq!([ANA, BO, EVE].map(|player| game.approached_by(player)), [Some(BO), Some(ANA), None]);
    // The computer blocks no player, and is not blocked.
    let computer = created(Opponent::Computer { level: Level::try_from(1).expect("a level") }, Visibility::Public);
    let alone = created(Opponent::Oneself, Visibility::Public);
    assert_eq!([computer, alone].map(|game| game.approached_by(ANA)), [None, None]);
}

#[test]
fn a_block_refuses_new_offers_and_every_rematch() {
    let refused = Err(NothingToOffer::NotTaken.into());
    let mut game = created(Opponent::Open, Visibility::Public);
    played(&mut game, BO, JOIN);
    let blocked = |subject| Action::Offer { subject, context: OfferContext { offers_made: 0, is_blocked: true } };
    assert_eq!(decide(&game, ANA, blocked(Subject::Draw)), refused);
    played(&mut game, ANA, offer(Subject::Draw));
    assert_eq!(decide(&game, ANA, blocked(Subject::Draw)), Ok(0));
    assert_eq!(decide(&game, BO, blocked(Subject::Draw)), Ok(1));
    played(&mut game, BO, Action::Resign);
    let again = rematch(0, RematchOpponent::Person { is_erased: false, is_blocked: true });
    assert_eq!(decide(&game, ANA, blocked(again)), refused);
    played(&mut game, ANA, offer(REMATCH));
    let answers = [Action::Accept(again), blocked(again)];
    assert_eq!(answers.map(|action| decide(&game, BO, action)), [refused.clone(), refused]);
    // A rematch that has begun stands.
    played(&mut game, BO, Action::Accept(REMATCH));
    assert_eq!(answers.map(|action| decide(&game, BO, action)), [Ok(0), Ok(0)]);
}
