//! How often something is offered, and which events reach a player unasked, by the public interface.

use mancala_domain::{
    Action, Clock, Command, Game, GameId, NothingToOffer, OFFERS_MAX, OfferAnswer, OfferContext, Opponent, PlayerId,
    Refusal, Seat, Subject, Terms, Visibility, unasked_from,
};
use mancala_rules::{AnyOptions, Variant};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::asks::{JOIN, REMATCH, answer, offer, play};

const ANA: PlayerId = PlayerId(Uuid::from_u128(1));
const BO: PlayerId = PlayerId(Uuid::from_u128(2));
const START: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;
const DRAW: Action<'static> = offer(Subject::Draw);

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

fn decide(game: &Game, player: PlayerId, action: Action<'_>) -> Result<usize, Refusal> {
    let command = Command { player, if_version: None, action };
    game.decide(&command, START).map(|decision| decision.events.len())
}

/// An offer of a player who has made so many of its kind.
const fn offer_after(offers_made: u32, subject: Subject<'_>) -> Action<'_> {
    Action::Offer { subject, context: OfferContext { offers_made, is_blocked: false } }
}

/// Plays an action; returns from whom its events came unasked.
fn played(game: &mut Game, player: PlayerId, action: Action<'_>) -> Vec<Option<PlayerId>> {
    let command = Command { player, if_version: None, action };
    let events = game.decide(&command, START).expect("it is allowed").events;
    events
        .iter()
        .map(|event| {
            game.apply(event).expect("it follows");
            unasked_from(game, event)
        })
        .collect()
}

#[test]
fn an_offer_too_often_is_refused_and_agreement_never_is() {
    let mut game = invitation();
    played(&mut game, BO, JOIN);
    let often = offer_after(OFFERS_MAX, Subject::Draw);
    assert_eq!(decide(&game, ANA, offer_after(OFFERS_MAX - 1, Subject::Draw)), Ok(1));
    assert_eq!(decide(&game, ANA, often), Err(NothingToOffer::Often.into()));
    // An offer that is never possible is refused for that reason first.
    let pause = offer_after(OFFERS_MAX, Subject::Pause);
    assert_eq!(decide(&game, ANA, pause), Err(NothingToOffer::NoClock.into()));
    played(&mut game, ANA, DRAW);
    assert_eq!([ANA, BO].map(|player| decide(&game, player, often)), [Ok(0), Ok(1)]);
    assert_eq!(decide(&game, BO, answer(Subject::Draw, OfferAnswer::Decline)), Ok(1));
}

#[test]
fn offers_come_unasked_and_answers_and_moves_do_not() {
    // An invitation that was not heard ends as silently, unless the invited player ends it.
    assert_eq!(played(&mut invitation(), ANA, Action::Abort), [Some(ANA)]);
    assert_eq!(played(&mut invitation(), BO, Action::Decline), [None]);
    let expired = invitation().due(START + Duration::days(15));
    assert_eq!(expired.iter().map(|event| unasked_from(&invitation(), event)).collect::<Vec<_>>(), [Some(ANA)]);
    let mut begun = invitation();
    played(&mut begun, BO, JOIN);
    assert_eq!(played(&mut begun, ANA, Action::Abort), [None]);
    let mut game = invitation();
    assert_eq!(played(&mut game, BO, JOIN), [None]);
    for (player, action, from) in [
        (ANA, DRAW, Some(ANA)),
        (ANA, answer(Subject::Draw, OfferAnswer::Withdraw), Some(ANA)),
        (BO, DRAW, Some(BO)),
        (ANA, answer(Subject::Draw, OfferAnswer::Decline), None),
        (ANA, play(1, "A"), None),
    ] {
        assert_eq!(played(&mut game, player, action), [from], "{action:?}");
    }
    played(&mut game, BO, Action::Resign);
    let rematch = offer(REMATCH);
    assert_eq!(played(&mut game, ANA, rematch), [Some(ANA)]);
    assert_eq!(played(&mut game, BO, rematch), [None]);
}
