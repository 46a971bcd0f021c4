//! Rules that only Congkak has: relays, its captures, rounds and burnt pits, its options, made-up positions.

use mancala_rules::{
    AnyOptions, AnyPosition, Effect, EndReason, Move, OptionsError, ParsePositionError, Pit, Round, SEEDS_MAX, Side,
    Variant,
};

const CONGKAK: Variant = Variant::Congkak;

fn options(preset: &str, overrides: &str) -> AnyOptions {
    AnyOptions::parse(CONGKAK, preset, overrides).unwrap()
}

fn import(preset: &str, overrides: &str, text: &str) -> Result<AnyPosition, ParsePositionError> {
    AnyPosition::parse_with_any_total(&options(preset, overrides), text)
}

/// Plays one move and expects the position after it.
#[track_caller]
fn check(preset: &str, overrides: &str, text: &str, m: &str, expected: &str) -> Vec<Effect> {
    let (next, effects) = import(preset, overrides, text).unwrap().play(m.parse().unwrap()).unwrap();
    assert_eq!(next.to_string(), expected);
    effects
}

/// Imports `text` and expects it to come back as `expected`.
#[track_caller]
fn check_import(preset: &str, overrides: &str, text: &str, expected: &str) {
    let position = import(preset, overrides, text).unwrap();
    assert_eq!(position.to_string(), expected);
    assert_eq!(position.legal_moves().is_empty(), position.outcome().is_some());
}

#[track_caller]
fn refuse(preset: &str, overrides: &str, text: &str, expected: ParsePositionError) {
    assert_eq!(import(preset, overrides, text), Err(expected));
}

fn pit(letter: &str) -> Pit {
    letter.parse().unwrap()
}

#[test]
fn a_sowing_goes_on_from_the_pit_where_its_last_seed_falls() {
    let text = "0,0,2,0,1,0,0/3,0,0,0,0,0,1 45-46 S - 0 1S";
    let effects = check("standard", "", text, "C", "0,0,0,1,0,1,0/0,0,0,0,0,0,1 49-46 N - 1 1S");
    assert_eq!(effects[0], Effect::Lift { pit: pit("C"), seeds: 2 });
    assert_eq!(effects[3], Effect::Relay { pit: pit("E"), seeds: 2 });
    let capture = Effect::Capture { from: [pit("G"), pit("a")].into_iter().collect(), seeds: 4, to: Side::South };
    assert_eq!(effects[6..], [capture]);
}

/// The sowing drops a seed in every other pit and its last one in the pit that it came from, which is empty by then.
#[test]
fn fifteen_seeds_end_in_the_pit_that_they_came_from_and_capture() {
    let text = "15,0,0,0,0,0,0/0,0,0,0,0,0,3 40-40 S - 0 1S";
    check("standard", "", text, "A", "0,1,1,1,1,1,1/1,1,1,1,1,1,0 46-40 N - 1 1S");
}

/// A recursive sowing would need a deep call stack here.
#[test]
fn the_largest_board_is_sown_in_hundreds_of_laps() {
    let mut longest = 0;
    for pits in [7, 12] {
        let mut position = AnyPosition::opening(&options("standard", &format!("pits={pits};seeds=12")));
        for ply in 0..400 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let (next, effects) = position.play(moves[ply * 7 % moves.len()]).unwrap();
            longest = longest.max(effects.iter().filter(|effect| matches!(effect, Effect::Relay { .. })).count());
            position = next;
        }
        assert!(position.outcome().is_some());
    }
    assert!(longest > 20, "{longest} relays");
}

#[test]
fn a_capture_takes_what_the_options_say() {
    let facing_two = "1,0,0,0,0,0,3/0,0,4,0,0,2,0 44-44 S - 0 1S";
    let takes_both = "0,0,0,0,0,0,3/0,0,4,0,0,0,0 47-44 N - 1 1S";
    let takes_facing = "0,1,0,0,0,0,3/0,0,4,0,0,0,0 46-44 N - 1 1S";
    check("standard", "", facing_two, "A", takes_both);
    check("standard", "empty_capture=false", facing_two, "A", takes_both);
    let effects = check("skeat", "", facing_two, "A", takes_facing);
    let capture = Effect::Capture { from: [pit("f")].into_iter().collect(), seeds: 2, to: Side::South };
    assert_eq!(effects.last(), Some(&capture));
}

#[test]
fn the_last_seed_that_faces_an_empty_pit_is_captured_alone_or_stays() {
    let facing_none = "1,0,0,0,0,0,3/0,0,4,0,0,0,2 44-44 S - 0 1S";
    let stays = "0,1,0,0,0,0,3/0,0,4,0,0,0,2 44-44 N - 1 1S";
    check("standard", "", facing_none, "A", "0,0,0,0,0,0,3/0,0,4,0,0,0,2 45-44 N - 1 1S");
    check("standard", "empty_capture=false", facing_none, "A", stays);
    check("skeat", "", facing_none, "A", stays);
}

#[test]
fn on_the_other_row_nothing_is_captured() {
    let text = "1,0,0,0,0,0,3/0,0,4,0,0,0,0 45-45 S - 0 1S";
    check("standard", "", text, "G", "1,0,0,0,0,0,0/1,1,4,0,0,0,0 46-45 N - 1 1S");
}

#[test]
fn a_capture_may_need_a_lap() {
    let short = "1,0,0,0,0,0,3/0,0,4,0,0,2,0 44-44 S - 0 1S";
    check("tournament", "", short, "A", "0,1,0,0,0,0,3/0,0,4,0,0,2,0 44-44 N - 1 1S");
    let round_the_board = "0,1,0,0,0,0,9/0,0,0,0,0,0,3 43-42 S - 0 1S";
    check("tournament", "", round_the_board, "G", "0,1,0,0,0,0,0/1,1,1,1,1,1,0 49-42 N - 1 1S");
    let by_relay = "0,0,0,0,0,0,2/12,0,0,0,0,0,3 43-43 S - 0 1S";
    check("tournament", "", by_relay, "G", "1,1,1,1,1,1,0/0,1,1,1,1,1,4 45-43 N - 1 1S");
}

#[test]
fn a_last_seed_in_the_store_gives_an_extra_move_unless_a_row_is_empty() {
    let text = "1,0,0,0,0,0,1/0,0,4,0,0,0,0 46-46 S - 0 1S";
    check("standard", "", text, "G", "1,0,0,0,0,0,0/0,0,4,0,0,0,0 47-46 S e 1 1S");
    let text = "0,0,0,0,0,0,1/0,0,4,0,0,0,0 47-46 S - 0 1S";
    let effects = check("standard", "", text, "G", "0,0,0,0,0,0,0/0,0,0,0,0,0,0 48-50 S o 1 1S");
    let sweep = Effect::Sweep { side: Side::North, seeds: 4, to: Side::North };
    assert_eq!(effects[2..], [sweep, Effect::GameOver { reason: EndReason::SideEmpty }]);
}

#[test]
fn an_illegal_move_is_refused_with_its_reason() {
    let position = import("match", "", "x,0,2,0,1,0,0/3,0,0,0,0,0,1 45-46 S e 9 2S").unwrap();
    for (m, reason, sentence) in [
        ("A", "burnt_pit", "pit A is burnt in this round"),
        ("B", "empty_pit", "pit B is empty"),
        ("a", "not_your_pit", "pit a is not on the side to move"),
        ("H", "no_such_pit", "there is no pit H on this board"),
        ("pass", "no_pass", "only an optional extra move can be passed"),
        ("swap", "no_swap", "only North's first choice under the pie rule can be a swap"),
    ] {
        let refused = position.play(m.parse().unwrap()).unwrap_err();
        assert_eq!((refused.reason(), refused.to_string().as_str()), (reason, sentence));
    }
    let over = import("match", "", "0,0,0,0,0,0,0/0,0,0,0,0,0,0 49-49 S o 9 2S").unwrap();
    assert_eq!(over.play(Move::Pass).unwrap_err().reason(), "game_over");
}

#[test]
fn burnt_pits_get_no_seeds_and_face_like_empty_ones() {
    let text = "2,x,0,0,0,0,3/0,x,4,x,0,0,0 44-44 S - 9 2S";
    check("match", "", text, "A", "0,x,1,0,0,0,3/0,x,4,x,0,0,0 45-44 N - 10 2S");
    check("match", "empty_capture=false", text, "A", "0,x,1,1,0,0,3/0,x,4,x,0,0,0 44-44 N - 10 2S");
    check("match", "", text, "G", "3,x,0,0,0,0,0/1,x,0,x,0,1,1 47-44 N - 10 2S");
}

#[test]
fn a_round_is_followed_by_a_refill() {
    let text = "0,0,0,0,0,0,1/0,0,4,0,0,0,0 30-63 S e 40 1S";
    let effects = check("match", "", text, "G", "x,x,x,7,7,7,7/7,7,7,7,7,7,7 3-18 S - 41 2S");
    let [sweep, round_over, south, north] = &effects[2..] else { panic!("{effects:?}") };
    assert_eq!(*sweep, Effect::Sweep { side: Side::North, seeds: 4, to: Side::North });
    assert!(
        matches!(round_over, Effect::RoundOver { round: 1, score, points: None } if (score.south, score.north) == (31, 67))
    );
    let row = |letters: &str| letters.chars().map(|letter| pit(&letter.to_string())).collect();
    assert_eq!(*south, Effect::Refill { side: Side::South, pits: row("DEFG"), seeds: 7 });
    assert_eq!(*north, Effect::Refill { side: Side::North, pits: row("abcdefg"), seeds: 7 });

    let far = "7,7,7,7,x,x,x/7,7,7,7,7,7,7 3-18 S - 41 2S";
    check("match", "refill_from=far", text, "G", far);
}

#[test]
fn the_options_decide_which_side_opens_a_new_round() {
    let south_loses = "0,0,0,0,0,0,1/0,0,4,0,0,0,0 40-53 S - 40";
    let tie = "0,0,0,0,0,0,1/0,0,4,0,0,0,0 48-45 S - 40";
    for (starter, opened_by, after_loss, after_tie) in [
        ("loser", "S", "S", "N"),
        ("loser", "N", "S", "S"),
        ("winner", "S", "N", "N"),
        ("winner", "N", "N", "S"),
        ("alternate", "S", "N", "N"),
        ("alternate", "N", "S", "S"),
    ] {
        for (text, opener) in [(south_loses, after_loss), (tie, after_tie)] {
            let start = import("match", &format!("round_starter={starter}"), &format!("{text} 3{opened_by}")).unwrap();
            let (next, _) = start.play("G".parse().unwrap()).unwrap();
            assert_eq!(next.round(), Some(Round { number: 4, opener: next.turn(), points: None }));
            assert_eq!(next.turn().letter().to_string(), opener, "{starter} after a round opened by {opened_by}");
        }
    }
}

#[test]
fn burnt_pits_come_back_when_there_are_seeds_for_them() {
    let text = "0,0,0,0,0,0,1/x,x,x,x,0,0,4 48-45 S - 40 3S";
    check("match", "", text, "G", "7,7,7,7,7,7,7/7,7,7,7,7,7,7 0-0 N - 41 4N");
}

#[test]
fn a_match_ends_with_its_last_round_or_when_a_side_cannot_fill_a_pit() {
    let text = "0,0,0,0,0,0,1/x,0,4,0,0,0,0 46-47 S - 40 3S";
    let effects = check("match", "max_rounds=3", text, "G", "0,0,0,0,0,0,0/x,0,0,0,0,0,0 47-51 S o 41 3S");
    assert!(matches!(effects[3..], [Effect::RoundOver { round: 3, .. }, Effect::GameOver { .. }]), "{effects:?}");
    check("match", "max_rounds=4", text, "G", "x,7,7,7,7,7,7/7,7,7,7,7,7,7 5-2 S - 41 4S");
    let poor = "0,0,0,0,0,0,1/x,0,4,0,0,0,0 5-88 S - 40 3S";
    check("match", "", poor, "G", "0,0,0,0,0,0,0/x,0,0,0,0,0,0 6-92 S o 41 3S");
    let just_enough = "0,0,0,0,0,0,1/x,0,4,0,0,0,0 6-87 S - 40 3S";
    check("match", "", just_enough, "G", "x,x,x,x,x,x,7/7,7,7,7,7,7,7 0-42 S - 41 4S");
    let outcome = import("match", "", poor).unwrap().play("G".parse().unwrap()).unwrap().0.outcome().unwrap();
    assert_eq!((outcome.winner, outcome.reason), (Some(Side::North), Some(EndReason::SideEmpty)));
}

#[test]
fn a_match_by_rounds_is_won_by_the_side_that_won_more() {
    let text = "0,0,0,0,0,0,1/0,0,4,0,0,0,0 46-47 S - 40";
    let by_rounds = "match_victory=rounds_won;max_rounds=3";
    let end = "0,0,0,0,0,0,0/0,0,0,0,0,0,0 47-51 S o 41";
    for (points, after, winner) in
        [("1-1", "1-2", Some(Side::North)), ("2-0", "2-1", Some(Side::South)), ("1-0", "1-1", None)]
    {
        check("match", by_rounds, &format!("{text} 3S{points}"), "G", &format!("{end} 3S{after}"));
        let over = import("match", by_rounds, &format!("{end} 3S{after}")).unwrap();
        let outcome = over.outcome().unwrap();
        assert_eq!((outcome.winner, outcome.score.south), (winner, 47), "{points}");
    }
}

#[test]
fn a_match_by_rounds_is_over_when_the_other_side_cannot_come_level() {
    let south_wins = "0,0,0,0,0,0,1/0,0,4,0,0,0,0 60-33 S - 40 2S1-0";
    let over = "0,0,0,0,0,0,0/0,0,0,0,0,0,0 61-37 S o 41 2S2-0";
    check("match", "match_victory=rounds_won;max_rounds=3", south_wins, "G", over);
    let next = "7,7,7,7,7,7,7/x,x,7,7,7,7,7 12-2 N - 41 3N2-0";
    check("match", "match_victory=rounds_won;max_rounds=4", south_wins, "G", next);
    let tie = "0,0,0,0,0,0,1/0,0,4,0,0,0,0 48-45 S - 40 2S1-0";
    let next = "7,7,7,7,7,7,7/7,7,7,7,7,7,7 0-0 N - 41 3N1-0";
    check("match", "match_victory=rounds_won;max_rounds=3", tie, "G", next);
}

#[test]
fn a_match_by_burnt_pits_counts_what_the_other_side_could_not_fill() {
    let text = "0,0,0,0,0,0,1/0,0,4,0,0,0,0 35-58 S - 40 2S3-1";
    check("match", "match_victory=pits_burnt", text, "G", "x,x,7,7,7,7,7/7,7,7,7,7,7,7 1-13 S - 41 3S3-3");
    let last = "0,0,0,0,0,0,0/0,0,0,0,0,0,0 36-62 S o 41 2S3-3";
    check("match", "match_victory=pits_burnt;max_rounds=2", text, "G", last);
    let outcome = import("match", "match_victory=pits_burnt;max_rounds=2", last).unwrap().outcome().unwrap();
    assert_eq!(outcome.winner, None);
}

#[test]
fn pits_that_are_not_filled_stay_in_play_where_none_are_burnt() {
    let text = "0,0,0,0,0,0,1/0,0,4,0,0,0,0 35-58 S - 40 2S";
    let next = "0,0,7,7,7,7,7/7,7,7,7,7,7,7 1-13 S - 41 3S";
    check("match", "burnt_pits=false", text, "G", next);
    check("match", "burnt_pits=false;refill_from=far", text, "G", "7,7,7,7,7,0,0/7,7,7,7,7,7,7 1-13 S - 41 3S");
    refuse(
        "match",
        "burnt_pits=false",
        &next.replacen("0,0,", "x,0,", 1),
        ParsePositionError::MarkByOptions { mark: 'x' },
    );
}

#[test]
fn points_stand_exactly_where_they_decide() {
    let text = "7,7,7,7,7,7,7/7,7,7,7,7,7,7 0-0 S - 0";
    for (overrides, round, is_read) in [
        ("", "3S1-0", false),
        ("match_victory=rounds_won", "3S", false),
        ("match_victory=rounds_won", "3S1-1", true),
        ("match_victory=rounds_won", "3S2-1", false),
        ("match_victory=rounds_won", "3S-", false),
        ("match_victory=rounds_won", "3S01-0", false),
        ("match_victory=pits_burnt", "3S14-14", true),
        ("match_victory=pits_burnt", "3S15-0", false),
        ("match_victory=pits_burnt", "3S0-99999", false),
    ] {
        assert_eq!(import("match", overrides, &format!("{text} {round}")).is_ok(), is_read, "{overrides} {round}");
    }
    assert_eq!(import("standard", "", &format!("{text} 1S0-0")), Err(ParsePositionError::SingleRound));
    let opening = AnyPosition::opening(&options("match", "match_victory=rounds_won"));
    assert_eq!(opening.to_string(), format!("{text} 1S0-0"));
}

#[test]
fn only_a_match_has_a_round() {
    let opening = |preset| AnyPosition::opening(&options(preset, ""));
    assert_eq!(opening("standard").round(), None);
    assert_eq!(opening("match").round(), Some(Round { number: 1, opener: Side::South, points: None }));
    let position = import("match", "", "x,4,6,7,7,4,1/11,3,4,1,0,14,x 14-22 S - 53 3N").unwrap();
    assert_eq!(position.round(), Some(Round { number: 3, opener: Side::North, points: None }));
    let board = position.board();
    let burnt = |letter: &str| position.is_burnt(pit(letter));
    assert_eq!(["A", "B", "G", "a", "g", "h", "l"].map(burnt), [true, false, false, false, true, false, false]);
    assert_eq!(board.seeds(pit("A")), 0);
}

#[test]
fn an_imported_round_that_is_over_is_ended() {
    let text = "0,0,0,0,0,0,0/0,2,0,0,3,0,0 41-52 N e 7 1S";
    check_import("standard", "", text, "0,0,0,0,0,0,0/0,0,0,0,0,0,0 41-57 N o 7 1S");
    check_import("match", "", text, "x,x,7,7,7,7,7/7,7,7,7,7,7,7 6-8 S - 7 2S");
    check_import("match", "max_rounds=1", text, "0,0,0,0,0,0,0/0,0,0,0,0,0,0 41-57 N o 7 1S");
    let all_burnt = "x,x,x,x,x,x,x/1,x,0,0,0,0,0 40-57 N - 7 2N";
    check_import("match", "", all_burnt, "x,x,7,7,7,7,7/7,7,7,7,7,7,7 5-9 S - 7 3S");
    let none_left = "0,0,0,0,0,0,0/0,0,0,0,0,0,0 3-95 N - 7 2N";
    check_import("match", "", none_left, "0,0,0,0,0,0,0/0,0,0,0,0,0,0 3-95 N o 7 2N");
}

#[test]
fn a_finished_position_stays_as_it_is_and_has_no_reason() {
    for text in ["7,7,7,7,7,7,7/7,7,7,7,7,7,7 0-0 N o 0 1S", "x,0,0,0,0,0,0/0,0,0,0,0,0,0 41-57 S o 90 4N"] {
        let position = import("match", "", text).unwrap();
        assert_eq!(position.to_string(), text);
        assert_eq!(position.outcome().unwrap().reason, None);
    }
}

#[test]
fn positions_that_no_game_with_these_options_has_are_refused() {
    use ParsePositionError::{
        FlagByOptions, FlagByPosition, MarkByOptions, PitsPerSide, RoundNumber, SeedTotal, SingleRound,
    };
    let opening = "7,7,7,7,7,7,7/7,7,7,7,7,7,7 0-0 S - 0 1S";
    assert!(import("standard", "", opening).is_ok());
    for (part, other, error) in [
        (" 1S", " 2S", SingleRound),
        (" 1S", " 1N", SingleRound),
        ("7,7/", "7,x/", MarkByOptions { mark: 'x' }),
        (" - ", " p ", FlagByOptions { flag: 'p' }),
        (" - ", " w ", FlagByOptions { flag: 'w' }),
        (" - ", " eo ", FlagByPosition { flag: 'e' }),
        ("7/7", "7,7/7,7", PitsPerSide { expected: 7 }),
        (" 0-0 ", " 288-0 ", SeedTotal { expected: 98, found: 386 }),
    ] {
        refuse("standard", "", &opening.replacen(part, other, 1), error);
    }
    refuse("match", "", &opening.replace("1S", "11N"), RoundNumber { max: 10 });
    refuse("match", "max_rounds=1", &opening.replace("1S", "2S"), RoundNumber { max: 1 });
    assert!(import("match", "", &opening.replace("1S", "10N")).is_ok());
    let more = AnyPosition::parse(&options("match", ""), &opening.replace("0-0", "1-0"));
    assert_eq!(more, Err(SeedTotal { expected: 98, found: 99 }));
    let all = format!("{}/{} {SEEDS_MAX}-0 S o 0 1S", ["0"; 12].join(","), ["0"; 12].join(","));
    assert!(AnyPosition::parse(&options("standard", "pits=12;seeds=12"), &all).is_ok());
}

#[test]
fn no_game_of_a_single_round_takes_burnt_pits_or_other_rounds() {
    for variant in Variant::ALL {
        let options = AnyOptions::parse(variant, "standard", "").unwrap();
        let opening = AnyPosition::opening(&options).to_string();
        for text in [format!("x{}", &opening[1..]), opening.replace("1S", "2S"), opening.replace("1S", "1N")] {
            assert!(AnyPosition::parse_with_any_total(&options, &text).is_err(), "{variant}: {text}");
        }
    }
}

#[test]
fn the_presets_differ_from_standard_as_documented() {
    let standard = concat!(
        "pits=7;seeds=7;empty_capture=true;take_own_seed=true;capture_needs_lap=false;rounds=single;",
        "opening=south",
    );
    let written = |options: &AnyOptions| {
        options.values().iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(";")
    };
    for (preset, expected) in [
        ("standard", standard.to_owned()),
        ("six", standard.replace("=7", "=6")),
        ("skeat", standard.replace("=true", "=false")),
        (
            "match",
            standard.replace(
                "single",
                "multi;refill_from=store;round_starter=loser;max_rounds=10;burnt_pits=true;match_victory=last_round",
            ),
        ),
        ("tournament", standard.replace("lap=false", "lap=true")),
    ] {
        let options = options(preset, "");
        assert_eq!(written(&options), expected);
        assert_eq!((options.preset(), options.variant(), options.overrides().as_str()), (preset, CONGKAK, ""));
    }
}

#[test]
fn every_option_has_its_bounds() {
    let parse = |overrides: String| AnyOptions::parse(CONGKAK, "match", &overrides);
    for (name, max) in [("pits", 12), ("seeds", 12), ("max_rounds", 100)] {
        for value in 0..=max + 1 {
            assert_eq!(parse(format!("{name}={value}")).is_ok(), (1..=max).contains(&value), "{name}={value}");
        }
    }
    for (name, words) in [
        ("rounds", "single multi"),
        ("refill_from", "store far"),
        ("round_starter", "loser winner alternate"),
        ("empty_capture", "true false"),
        ("capture_needs_lap", "true false"),
        ("burnt_pits", "true false"),
        ("match_victory", "last_round rounds_won pits_burnt"),
        ("opening", "south lockstep"),
    ] {
        for word in words.split(' ') {
            let options = parse(format!("{name}={word}")).unwrap();
            assert_eq!(parse(options.overrides()), Ok(options));
        }
        assert!(matches!(parse(format!("{name}=none")), Err(OptionsError::Value { option, .. }) if option == name));
    }
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    for (preset, overrides, option, sentence) in [
        ("standard", "pie=true", "pie", "congkak has no option \"pie\""),
        (
            "standard",
            "take_own_seed=false",
            "take_own_seed",
            "option `take_own_seed` cannot be `false` while `empty_capture` is `true`",
        ),
        (
            "standard",
            "take_own_seed=false;empty_capture=true",
            "empty_capture",
            "option `empty_capture` cannot be `true` while `take_own_seed` is `false`",
        ),
        (
            "skeat",
            "empty_capture=true",
            "empty_capture",
            "option `empty_capture` cannot be `true` while `take_own_seed` is `false`",
        ),
        ("standard", "max_rounds=10", "max_rounds", "option `max_rounds` cannot be given while `rounds` is `single`"),
        ("six", "refill_from=far", "refill_from", "option `refill_from` cannot be given while `rounds` is `single`"),
        ("six", "burnt_pits=true", "burnt_pits", "option `burnt_pits` cannot be given while `rounds` is `single`"),
        (
            "match",
            "match_victory=pits_burnt;burnt_pits=false",
            "match_victory",
            "option `match_victory` cannot be `pits_burnt` while `burnt_pits` is `false`",
        ),
        (
            "match",
            "rounds=single;round_starter=loser",
            "round_starter",
            "option `round_starter` cannot be given while `rounds` is `single`",
        ),
    ] {
        let error = AnyOptions::parse(CONGKAK, preset, overrides).unwrap_err();
        assert_eq!((error.option(), error.to_string().as_str()), (Some(option), sentence));
    }
    for (preset, overrides) in [
        ("standard", "empty_capture=false;take_own_seed=false"),
        ("skeat", "take_own_seed=true"),
        ("standard", "rounds=multi;refill_from=far;round_starter=alternate;max_rounds=100"),
        ("match", "rounds=single"),
        ("match", "burnt_pits=false;match_victory=rounds_won;opening=lockstep"),
    ] {
        let options = options(preset, overrides);
        assert_eq!(options.overrides(), overrides);
        assert_eq!(AnyOptions::parse(CONGKAK, preset, &options.overrides()), Ok(options));
    }
}
