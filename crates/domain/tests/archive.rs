//! Archived logs by the public interface. A log comes back as it was, and any bytes are a log or an error. An archive
//! that version 1 has written is read for ever.

use std::fmt::Write;

use mancala_domain::{
    ArchiveError, ArchivedLog, BySeat, Clock, Created, Event, Fact, Game, GameId, GameResult, Level, Moved, OfferKind,
    Opponent, PlayerId, PlyAction, Reason, Seat, Start, Terms, Visibility, decode, decode_unverified, encode,
};
use mancala_rules::{AnyOptions, AnyPosition, BySide, Move, Side, Variant};
use proptest::prelude::*;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

/// Every game, and options with something particular: a swap, a history, rounds, choices inside a turn.
const OPTIONS: [(Variant, &str); 14] = [
    (Variant::Kalah, ""),
    (Variant::Kalah, "pie=true;seeds=2"),
    (Variant::Oware, ""),
    (Variant::Oware, "pits=3;seeds=2;repetition=3"),
    (Variant::Congkak, ""),
    (Variant::Congkak, "pits=3;seeds=2;rounds=multi"),
    (Variant::Bao, ""),
    (Variant::Bao, "max_plies=100"),
    (Variant::Omweso, "setup=even"),
    (Variant::Omweso, "setup=arrange;akakyala=true"),
    (Variant::ToguzKumalak, ""),
    (Variant::ToguzKumalak, "pits=4;seeds=3"),
    (Variant::Bestemshe, ""),
    (Variant::Bestemshe, "pits=3;seeds=2;repetition=2;repetition_award=draw"),
];

/// What a step of a random log adds. Numbers choose among what there is.
type Step = (u8, usize, i64, bool);

fn id(number: usize) -> Uuid {
    Uuid::from_u128(0x0198_7f2a_0000_7000_8000_0000_0000_0000 + number as u128 * 0x1_0001_0001)
}

fn terms(options: AnyOptions, which: usize) -> Terms {
    let level = Level::try_from(u8::try_from(which % 8).expect("less than 8") + 1).expect("a level");
    let opponents = [
        Opponent::Open,
        Opponent::Link { join_code: "q8Xs-9_äK".to_owned() },
        Opponent::Player { player: PlayerId(id(which)) },
        Opponent::Oneself,
        Opponent::Computer { level },
        Opponent::Imported { by: None },
        Opponent::Imported { by: Some(PlayerId(id(which))) },
    ];
    let clocks = [
        Clock::Unlimited,
        Clock::PerMove { allowance: Duration::DAY },
        Clock::Bank { initial: Duration::seconds(400), increment: Duration::SECOND, max: Duration::seconds(500) },
    ];
    let mut position = AnyPosition::opening(&options);
    position.play_unchecked(position.legal_moves()[0]);
    let from = which.is_multiple_of(2).then(|| (GameId(id(3)), 17));
    Terms {
        options,
        rules_version: u16::try_from(which % 3).expect("less than 3") + 1,
        opponent: opponents[which % opponents.len()].clone(),
        clock: clocks[which % clocks.len()],
        visibility: Visibility::ALL[which % 3],
        creator: Seat::ALL[which % 2],
        start: which.is_multiple_of(5).then(|| Start { position: position.afresh(), from }),
        is_practice: which.is_multiple_of(7),
    }
}

/// A log of these steps: mostly legal moves, and all else that a log can have, whether or not a game would.
fn log(terms: Terms, begun: OffsetDateTime, unit: Duration, steps: &[Step]) -> Vec<Event> {
    let mut position = terms.opening();
    let opening = position.clone();
    let expires_at = terms.opponent.is_awaited().then(|| begun + Duration::days(14));
    let created = Created { terms, player: PlayerId(id(1)), expires_at, returns_increments: false };
    let mut log = vec![Event { seq: 1, at: begun, fact: Fact::Created(created) }];
    if steps.len().is_multiple_of(2) {
        log[0] = log[0].clone().returning_increments();
    }
    let returns_increments = matches!(&log[0].fact, Fact::Created(created) if created.returns_increments);
    let (mut at, mut ply) = (begun, 0);
    for (seq, (what, which, passed, is_odd)) in (2..).zip(steps) {
        at += unit * i32::try_from(*passed).expect("a small number");
        let legal = position.legal_moves();
        let mv = legal.get(which % legal.len().max(1)).copied();
        let fact = match (what, mv) {
            (0..=180, Some(mv)) => {
                ply += 1;
                position.play_unchecked(mv);
                Fact::Moved(Moved {
                    ply,
                    seat: seat_of(mv, &position, *is_odd),
                    mv: PlyAction::Move(mv),
                    position: position.clone(),
                })
            }
            (181..=190, _) => {
                ply += 1 + u32::from(*is_odd);
                position = opening.afresh();
                let increments = BySeat { first: Duration::SECOND, second: Duration::microseconds(7) };
                let increments = if returns_increments { increments } else { BySeat::default() };
                let mv = PlyAction::Takeback { to_ply: if *is_odd { 0 } else { ply }, increments };
                Fact::Moved(Moved { ply, seat: Seat::ALL[which % 2], mv, position: position.clone() })
            }
            (191..=195, _) => {
                // Where the rules do not lead.
                ply += 1;
                position.clone_from(&opening);
                let mv = PlyAction::Move(if *is_odd { Move::Agree } else { Move::Pass });
                Fact::Moved(Moved { ply, seat: Seat::ALL[which % 2], mv, position: position.clone() })
            }
            _ => other(*what, *which),
        };
        log.push(Event { seq, at, fact });
    }
    log
}

/// Nearly always the seat to move.
fn seat_of(mv: Move, after: &AnyPosition, is_odd: bool) -> Seat {
    let side = mv.pit().map_or(Side::South, |pit| pit.side);
    let seat = if (side == Side::South) == after.swapped() { Seat::Second } else { Seat::First };
    if is_odd { seat.other() } else { seat }
}

/// An event that is not a ply.
fn other(what: u8, which: usize) -> Fact {
    let (seat, kind) = (Seat::ALL[which % 2], OfferKind::ALL[which % 5]);
    let (player, reasons) = (PlayerId(id(which)), Reason::all().collect::<Vec<_>>());
    match what % 17 {
        0 => Fact::Joined { seat, player },
        1 => Fact::Reseated { seat, player },
        2 => Fact::CodeRenewed { join_code: format!("code {which}") },
        3 => Fact::Declined,
        4 => Fact::Offered { seat, kind, to_ply: Some(u32::try_from(which).expect("a small number")) },
        5 => Fact::Offered { seat, kind, to_ply: None },
        6 => Fact::OfferDeclined { seat, kind },
        7 => Fact::OfferWithdrawn { seat, kind },
        8 => Fact::Paused { seat },
        9 => Fact::Resumed { seat },
        10 => Fact::Rematched { seat, game: GameId(id(which)) },
        11 => Fact::Resigned { seat },
        12 => Fact::TimedOut { seat },
        13 => Fact::Expired,
        14 => Fact::Aborted { seat },
        15 => Fact::Analysed,
        _ => Fact::Finished(GameResult {
            winner: [None, Some(Side::South), Some(Side::North)][which % 3],
            reason: reasons[which % reasons.len()],
            score: BySide { south: 20, north: 28 + u16::try_from(which).expect("a small number") },
        }),
    }
}

/// The log as a store reads it: positions from their texts.
fn stored(log: &[Event]) -> Vec<Event> {
    let Fact::Created(created) = &log[0].fact else { panic!("{:?}", log[0]) };
    let options = created.terms.options;
    let stored = |event: &Event| match &event.fact {
        Fact::Moved(moved) => {
            let position = AnyPosition::parse(&options, &moved.position.to_string()).expect("a position");
            Event { fact: Fact::Moved(Moved { position, ..moved.clone() }), ..event.clone() }
        }
        _ => event.clone(),
    };
    log.iter().map(stored).collect()
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (any::<u8>(), 0_usize..200, prop_oneof![4 => 0_i64..100_000, 1 => Just(0)], prop::bool::weighted(0.1));
    prop::collection::vec(step, 0..120)
}

fn units() -> impl Strategy<Value = Duration> {
    prop::sample::select(vec![Duration::MICROSECOND, Duration::milliseconds(1), Duration::SECOND, Duration::MINUTE])
}

proptest! {
    #[test]
    fn a_log_comes_back_as_it_was(
        (variant, options) in prop::sample::select(&OPTIONS[..]),
        which in 0_usize..200,
        begun in -2_000_000_000_i64..4_000_000_000,
        (unit, steps) in (units(), steps()),
        details in prop::collection::vec((any::<u32>(), ".{0,40}"), 0..3),
    ) {
        let options = AnyOptions::parse(variant, "standard", options).expect("the options are valid");
        let begun = OffsetDateTime::from_unix_timestamp(begun).expect("a time");
        let events = stored(&log(terms(options, which), begun, unit, &steps));
        let archived = ArchivedLog { events, details };
        let bytes = encode(&archived).expect("a log has an archive");
        let read = decode(&bytes).expect("an archive is read");
        prop_assert_eq!(&decode_unverified(&bytes).expect("the same without its checksum"), &read);
        prop_assert_eq!(stored(&read.events), stored(&archived.events));
        prop_assert_eq!(read.details, archived.details);
    }

    /// Changed bytes, and bytes of chance: a log or an error, and never more than so many events.
    #[test]
    fn any_bytes_are_a_log_or_an_error(
        (variant, options) in prop::sample::select(&OPTIONS[..]),
        steps in steps(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        (cut, chance) in (any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..300)),
    ) {
        let options = AnyOptions::parse(variant, "standard", options).expect("the options are valid");
        let events = log(terms(options, 1), OffsetDateTime::UNIX_EPOCH, Duration::SECOND, &steps);
        let mut bytes = encode(&ArchivedLog { events, details: vec![] }).expect("a log has an archive");
        let is_cut_short = decode(&bytes[..cut.index(bytes.len())]);
        prop_assert!(is_cut_short.is_err());
        for (place, byte) in &changes {
            let place = place.index(bytes.len());
            bytes[place] = *byte;
        }
        for bytes in [&bytes[..], &[&[1], &chance[..]].concat(), &[&bytes[..40.min(bytes.len())], &chance].concat()] {
            let unverified = decode_unverified(bytes);
            if let Ok(log) = &unverified {
                prop_assert!(log.events.len() <= 16_384);
            }
            if let Ok(log) = decode(bytes) {
                prop_assert_eq!(unverified, Ok(log));
            }
        }
    }
}

#[test]
fn a_changed_byte_is_noticed() {
    let bytes = encode(&ArchivedLog { events: played(Variant::Kalah, ""), details: vec![] }).expect("an archive");
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        assert!(decode(&changed).is_err(), "byte {place}");
    }
    assert_eq!(decode(&[]), Err(ArchiveError::Cut));
    assert_eq!(decode(&[2, 0, 0, 0, 0, 0]), Err(ArchiveError::Version));
    assert_eq!(decode(&[&bytes[..], &[0]].concat()), Err(ArchiveError::Invalid("something follows the log")));
}

#[test]
fn a_log_that_no_game_has_gets_no_archive() {
    let log = played(Variant::Kalah, "");
    let refused = |change: &dyn Fn(&mut Vec<Event>)| {
        let mut events = log.clone();
        change(&mut events);
        encode(&ArchivedLog { events, details: vec![] }).expect_err("it is refused")
    };
    let unwritable = |error| matches!(error, ArchiveError::Unwritable { .. });
    assert!(unwritable(refused(&|log| log.clear())));
    assert!(unwritable(refused(&|log| drop(log.remove(0)))));
    assert!(unwritable(refused(&|log| drop(log.remove(4)))));
    assert!(unwritable(refused(&|log| log[4].at -= Duration::DAY)));
    assert!(unwritable(refused(&|log| log[4].at += Duration::NANOSECOND)));
    assert!(unwritable(refused(&|log| log[4].fact = log[0].fact.clone())));
    let many = |log: &mut Vec<Event>| {
        for seq in (1..20_000).skip(log.len()) {
            log.push(Event { seq, at: log[0].at, fact: Fact::Analysed });
        }
    };
    assert_eq!(refused(&many), ArchiveError::TooLong);
}

/// What a player would call a game: two players, moves with hours between them, an end by the rules, or after 60 plies.
fn played(variant: Variant, options: &str) -> Vec<Event> {
    let options = AnyOptions::parse(variant, "standard", options).expect("the options are valid");
    let mut at = OffsetDateTime::from_unix_timestamp(1_760_000_000).expect("a time");
    let begin = Terms {
        start: None,
        opponent: Opponent::Open,
        clock: Clock::PerMove { allowance: Duration::WEEK },
        ..terms(options, 1)
    };
    let (mut game, created) = Game::create(GameId(id(0)), begin, PlayerId(id(1)), Duration::days(14), at);
    let mut log = vec![created];
    let add = |game: &mut Game, log: &mut Vec<Event>, at, fact| {
        let event = Event { seq: game.version() + 1, at, fact };
        game.apply(&event).expect("it follows");
        log.push(event);
    };
    add(&mut game, &mut log, at + Duration::SECOND, Fact::Joined { seat: Seat::First, player: PlayerId(id(2)) });
    let mut chance = 7_u64;
    while game.position().outcome().is_none() && game.ply() < 60 {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        at += Duration::milliseconds(i64::try_from((chance >> 33) % 20_000_000).expect("a small number"));
        let legal = game.position().legal_moves();
        let mv = legal[usize::try_from(chance >> 40).expect("a number") % legal.len()];
        let seat = if game.position().swapped() == (game.position().turn() == Side::South) {
            Seat::Second
        } else {
            Seat::First
        };
        let mut position = game.position().clone();
        position.play_unchecked(mv);
        let ply = game.ply() + 1;
        add(&mut game, &mut log, at, Fact::Moved(Moved { ply, seat, mv: PlyAction::Move(mv), position }));
    }
    let result =
        GameResult { winner: Some(Side::North), reason: Reason::Resignation, score: game.position().board().score() };
    add(&mut game, &mut log, at, Fact::Finished(result));
    stored(&log)
}

/// Events as text, a line each.
fn text(log: &ArchivedLog) -> String {
    let mut text = String::new();
    for event in &log.events {
        let at = event.at - OffsetDateTime::UNIX_EPOCH;
        let fact = match &event.fact {
            Fact::Moved(moved) => {
                format!("{} {:?} {} {}", moved.ply, moved.seat, played_text(moved.mv), moved.position)
            }
            Fact::Created(created) => created_text(created),
            fact => format!("{fact:?}"),
        };
        writeln!(text, "{} {} {fact}", event.seq, at.whole_microseconds()).expect("a text");
    }
    for (seq, detail) in &log.details {
        writeln!(text, "detail {seq} {detail}").expect("a text");
    }
    text
}

fn played_text(mv: PlyAction) -> String {
    match mv {
        PlyAction::Takeback { to_ply, increments } => {
            let [first, second] = Seat::ALL.map(|seat| increments[seat].whole_microseconds());
            let taken = if increments == BySeat::default() { String::new() } else { format!(" of {first} {second}") };
            format!("Takeback {{ to_ply: {to_ply} }}{taken}")
        }
        PlyAction::Move(_) => format!("{mv:?}"),
    }
}

fn created_text(Created { terms, player, expires_at, returns_increments }: &Created) -> String {
    let Terms { options, rules_version, opponent, clock, visibility, creator, start, is_practice } = terms;
    let start = start.as_ref().map(|start| (start.position.to_string(), start.from));
    let expires_at = expires_at.map(|at| (at - OffsetDateTime::UNIX_EPOCH).whole_microseconds());
    let options = format!("{} {} {:?}", options.variant(), options.preset(), options.overrides());
    let rest = format!("{opponent:?} {} {visibility:?} {creator:?} {start:?} {is_practice}", clock_text(*clock));
    let returns = if *returns_increments { " returns increments" } else { "" };
    format!("{player:?} {expires_at:?} {options} {rules_version} {rest}{returns}")
}

fn clock_text(clock: Clock) -> String {
    let seconds = |time: Duration| format!("{}s", time.whole_seconds());
    match clock {
        Clock::Unlimited => "Unlimited".to_owned(),
        Clock::PerMove { allowance } => format!("PerMove {{ allowance: {} }}", seconds(allowance)),
        Clock::Bank { initial, increment, max } => {
            let [initial, increment, max] = [initial, increment, max].map(seconds);
            format!("Bank {{ initial: {initial}, increment: {increment}, max: {max} }}")
        }
    }
}

/// The archives that version 1 wrote when it was new, each with what it says. They are never written anew: a change of the
/// form, or of the rules of an edition, fails here.
#[test]
fn archives_of_version_1_are_read_for_ever() {
    let frozen = include_str!("archives_v1.txt");
    let mut variants = vec![];
    for archive in frozen.split("archive ").skip(1) {
        let (hex, expected) = archive.split_once('\n').expect("a line of bytes");
        let bytes: Vec<u8> = hex
            .as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("two digits"))
            .collect();
        let log = decode(&bytes).expect("an archive of version 1");
        assert_eq!(text(&log), expected);
        let Fact::Created(created) = &log.events[0].fact else { panic!("{:?}", log.events[0]) };
        variants.push(created.terms.options.variant());
    }
    // A game that is new gets its archive here, once.
    if let Some(variant) = Variant::ALL.into_iter().find(|variant| !variants.contains(variant)) {
        let log = ArchivedLog { events: played(variant, ""), details: vec![] };
        let mut hex = String::new();
        for byte in encode(&log).expect("an archive") {
            write!(hex, "{byte:02x}").expect("a text");
        }
        panic!("add this to archives_v1.txt:\narchive {hex}\n{}", text(&log));
    }
}

#[test]
fn a_game_of_40_plies_takes_fewer_than_240_bytes() {
    let mut log = played(Variant::Kalah, "");
    log.retain(|event| event.seq <= 42);
    let bytes = encode(&ArchivedLog { events: log, details: vec![] }).expect("an archive");
    assert!(bytes.len() < 240, "{}", bytes.len());
}
