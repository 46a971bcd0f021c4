//! How often something is offered, and which events reach a player unasked, by the public interface.

use mancala_domain::{
    Action, Clock, Command, Context, Game, GameId, NothingToOffer, OFFERS_MAX, OfferAnswer, OfferKind, Opponent,
    PlayerId, Refusal, Seat, Terms, Visibility, unasked_from,
};
use mancala_rules::{AnyOptions, Variant};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

const ANA: PlayerId = PlayerId(Uuid::from_u128(1));
const BO: PlayerId = PlayerId(Uuid::from_u128(2));
const START: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;
const DRAW: Action<'static> = Action::Offer { kind: OfferKind::Draw };

/// A game to which Ana has invited Bo.
fn invitation() -> Game {
    let terms = Terms {
        options: AnyOptions::parse(Variant::Kalah, "standard", "").expect("the options are valid"),
        rules_version: 1,
        opponent: Opponent::Player { player: BO },
        clock: Clock::Unlimited,
        visibility: Visibility::Public,
        creator: Seat::First,
        start: None,
        is_practice: false,
    };
    let (game, created) = Game::create(GameId(Uuid::from_u128(7)), terms, ANA, Duration::days(14), START);
    assert_eq!(unasked_from(&game, &created), Some(ANA));
    game
}

fn decide(game: &Game, player: PlayerId, action: Action<'_>, offers_made: u32) -> Result<usize, Refusal> {
    let context = Context { offers_made, ..Context::new(START, || GameId(Uuid::from_u128(9))) };
    let command = Command { player, if_version: None, action };
    game.decide(&command, &context).map(|decision| decision.events.len())
}

/// Plays an action; returns from whom its events came unasked.
fn played(game: &mut Game, player: PlayerId, action: Action<'_>) -> Vec<Option<PlayerId>> {
    let context = Context::new(START, || GameId(Uuid::from_u128(9)));
    let command = Command { player, if_version: None, action };
    let events = game.decide(&command, &context).expect("it is allowed").events;
    events
        .iter()
        .map(|event| {
            game.apply(event).expect("it follows");
            unasked_from(game, event)
        })
        .collect()
}

const fn answer(answer: OfferAnswer) -> Action<'static> {
    Action::Answer { kind: OfferKind::Draw, answer }
}

#[test]
fn an_offer_too_often_is_refused_and_agreement_never_is() {
    let mut game = invitation();
    played(&mut game, BO, Action::Join { join_code: None });
    assert_eq!(decide(&game, ANA, DRAW, OFFERS_MAX - 1), Ok(1));
    assert_eq!(decide(&game, ANA, DRAW, OFFERS_MAX), Err(NothingToOffer::Often.into()));
    // An offer that is never possible is refused for that reason first.
    let pause = Action::Offer { kind: OfferKind::Pause };
    assert_eq!(decide(&game, ANA, pause, OFFERS_MAX), Err(NothingToOffer::NoClock.into()));
    played(&mut game, ANA, DRAW);
    assert_eq!(decide(&game, ANA, DRAW, OFFERS_MAX), Ok(0));
    assert_eq!(decide(&game, BO, DRAW, OFFERS_MAX), Ok(1));
    assert_eq!(decide(&game, BO, answer(OfferAnswer::Decline), OFFERS_MAX), Ok(1));
}

#[test]
fn offers_come_unasked_and_answers_and_moves_do_not() {
    // An invitation that was not heard ends as silently, unless the invited player ends it.
    assert_eq!(played(&mut invitation(), ANA, Action::Abort), [Some(ANA)]);
    assert_eq!(played(&mut invitation(), BO, Action::Decline), [None]);
    let expired = invitation().due(START + Duration::days(15));
    assert_eq!(expired.iter().map(|event| unasked_from(&invitation(), event)).collect::<Vec<_>>(), [Some(ANA)]);
    let mut begun = invitation();
    played(&mut begun, BO, Action::Join { join_code: None });
    assert_eq!(played(&mut begun, ANA, Action::Abort), [None]);
    let mut game = invitation();
    assert_eq!(played(&mut game, BO, Action::Join { join_code: None }), [None]);
    for (player, action, from) in [
        (ANA, DRAW, Some(ANA)),
        (ANA, answer(OfferAnswer::Withdraw), Some(ANA)),
        (BO, DRAW, Some(BO)),
        (ANA, answer(OfferAnswer::Decline), None),
        (ANA, Action::Play { ply: 1, word: "A" }, None),
    ] {
        assert_eq!(played(&mut game, player, action), [from], "{action:?}");
    }
    played(&mut game, BO, Action::Resign);
    let rematch = Action::Offer { kind: OfferKind::Rematch };
    assert_eq!(played(&mut game, ANA, rematch), [Some(ANA)]);
    assert_eq!(played(&mut game, BO, rematch), [None]);
}
