//! Lines of moves as turn words (R21).

use mancala_rules::{
    AnyOptions, AnyPosition, Move, Variant,
    notation::{Problem, read_moves, write_moves},
};

use super::random::Random;

fn opening(variant: Variant, preset: &str) -> AnyPosition {
    AnyPosition::opening(&AnyOptions::parse(variant, preset, "").unwrap())
}

#[test]
fn a_turn_is_written_as_one_word_and_read_with_any_decoration() {
    let choice = "1,0,0,0,6n,0,0,0,0,0,0,15,0,0,0,0/1,0,0,0,0,0,0,5,0,0,0,16,0,0,0,0 10-10 S - 0 1S";
    let bao = AnyPosition::parse(&AnyOptions::parse(Variant::Bao, "standard", "").unwrap(), choice).unwrap();
    for text in ["AUEU", "AU EU", "1. AU+5{on}EU", "\u{feff}1.AUEU *", "12...AUEU\n"] {
        assert_eq!(write_moves(&read_moves(&bao, text).unwrap()), "AUEU", "{text}");
    }
    assert_eq!(write_moves(&read_moves(&bao, "AU - au").unwrap()), "AU- au");
    assert!(matches!(read_moves(&bao, "AU-hv").unwrap_err().problem, Problem::Illegal(_)), "h is empty");
    let arranging = opening(Variant::Omweso, "arrange");
    assert_eq!(write_moves(&read_moves(&arranging, "1. A0B5 C27 {a} 2. a32").unwrap()), "A0B5C27 a32");
    assert_eq!(write_moves(&[Move::Swap, Move::Agree, Move::Pass]), ">< = -");
}

#[test]
fn what_is_no_line_of_moves_is_refused_at_its_place() {
    let bao = opening(Variant::Bao, "standard");
    let problem = |text: &str| {
        let error = read_moves(&bao, text).unwrap_err();
        (error.location.line, error.location.column, error.problem)
    };
    assert_eq!(problem("FV\n?"), (2, 1, Problem::Unexpected('?')));
    assert_eq!(problem("FV {"), (1, 4, Problem::UnclosedRemark { close: '}' }));
    assert_eq!(problem("FV+"), (1, 4, Problem::Captured));
    assert_eq!(problem("FV 12"), (1, 6, Problem::Number));
    assert_eq!(problem("* FV"), (1, 3, Problem::AfterResult));
    assert!(matches!(problem("F100"), (1, 1, Problem::Move(_))));
    assert!(matches!(problem("FVfuDU ><"), (1, 8, Problem::Illegal(_))));
    assert!(matches!(problem("Fv"), (1, 1, Problem::Illegal(_))), "F without a direction");
    let long = " ".repeat((1 << 20) + 1);
    assert!(matches!(problem(&long).2, Problem::TextTooLong));
    assert_eq!(
        read_moves(&bao, "FV fu C").unwrap_err().to_string(),
        "line 1, column 7: move 3 cannot be C: the move does not have the form that this game has here; legal are DU, DV"
    );
}

#[test]
fn a_finished_game_with_another_result_is_refused() {
    let options = AnyOptions::parse(Variant::Omweso, "standard", "").unwrap();
    let text = "0,0,2,0,0,0,0,0,0,0,0,0,0,0,0,58/1,0,0,1,0,0,0,0,0,1,1,0,0,0,0,0 0-0 S - 0 1S";
    let start = AnyPosition::parse(&options, text).unwrap();
    assert!(read_moves(&start, "C 1-0").is_ok());
    assert!(read_moves(&start, "1/2-1/2").is_ok(), "a running game may have any result");
    assert!(matches!(read_moves(&start, "C 0-1").unwrap_err().problem, Problem::Ending(_)));
    assert!(matches!(read_moves(&start, "C *").unwrap_err().problem, Problem::Ending(_)));
}

#[test]
fn random_games_of_four_rows_are_read_back_from_their_text() {
    for variant in super::GAMES {
        for seed in 1..60 {
            let mut random = Random::new(seed);
            let start = AnyPosition::opening(&random.options(variant));
            let (mut position, mut moves) = (start.clone(), vec![]);
            while position.outcome().is_none() {
                let legal = position.legal_moves();
                let m = legal[random.below(legal.len())];
                position.play_unchecked(m);
                moves.push(m);
            }
            assert_eq!(read_moves(&start, &write_moves(&moves)), Ok(moves));
        }
    }
}
