//! The options of Bao and Omweso: their values, their presets, and what excludes what (R20, R33).

use mancala_rules::{AnyOptions, OptionKind, OptionValue, OptionsError, Variant};

use super::random::Random;

#[test]
fn options_of_four_rows_refuse_what_is_out_of_bounds() {
    for variant in super::GAMES {
        for option in variant.options() {
            let good: Vec<OptionValue> = match option.kind {
                OptionKind::Integer { min, max } => [min, max].map(|value| OptionValue::Integer(value.into())).to_vec(),
                OptionKind::Boolean => vec![true.into(), false.into()],
                OptionKind::Choice(words) => words.iter().map(|word| (*word).into()).collect(),
            };
            let bad: Vec<OptionValue> = match option.kind {
                OptionKind::Integer { min, max } => vec![
                    OptionValue::Integer(i64::from(min) - 1),
                    OptionValue::Integer(i64::from(max) + 1),
                    OptionValue::Integer(i64::MIN),
                    true.into(),
                    "6".into(),
                ],
                OptionKind::Boolean => vec!["true".into(), OptionValue::Integer(1)],
                OptionKind::Choice(_) => vec!["".into(), "maybe".into(), false.into(), OptionValue::Integer(0)],
            };
            let new = |value: OptionValue| AnyOptions::new(variant, "standard", &[(option.name.to_owned(), value)]);
            for value in good {
                let values = new(value.clone()).unwrap().all_values();
                assert!(values.contains(&(option.name, value)));
            }
            for value in bad {
                assert_eq!(new(value).unwrap_err().option(), Some(option.name));
            }
            let standard = AnyOptions::parse(variant, "standard", "").unwrap();
            assert!(standard.all_values().contains(&(option.name, option.default.clone())));
        }
    }
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let refused = |preset: &str, overrides: &str| {
        AnyOptions::parse(Variant::Bao, preset, overrides).unwrap_err().option().map(str::to_owned)
    };
    let of_a_house = ["house_seeds=6", "singletons=house_lost", "harvest_ends_house=false", "takasia_house_lap=false"];
    for option in of_a_house {
        let name = option.split_once('=').map(|(name, _)| name.to_owned());
        assert_eq!(refused("standard", &format!("start=full;{option}")), name);
        assert_eq!(refused("standard", &format!("{option};start=full")), name);
        assert_eq!(refused("kujifunza", option), name);
        assert!(AnyOptions::parse(Variant::Bao, "standard", option).is_ok());
    }
    for option in ["takasia_single", "takasia_house_lap"] {
        assert_eq!(refused("standard", &format!("takasia=off;{option}=false")).as_deref(), Some(option));
        assert!(AnyOptions::parse(Variant::Bao, "standard", &format!("takasia=take;{option}=true")).is_ok());
    }
    assert!(AnyOptions::parse(Variant::Bao, "standard", "start=full;takasia=take;takasia_single=true").is_ok());
    assert!(AnyOptions::parse(Variant::Bao, "donkers", "start=full").is_ok(), "what a preset sets is not given");
}

#[test]
fn unknown_names_and_texts_of_options_are_refused() {
    let parse = |preset, text| AnyOptions::parse(Variant::Omweso, preset, text);
    let unknown =
        OptionsError::UnknownPreset { variant: "omweso", preset: "bga".to_owned(), presets: Variant::Omweso.presets() };
    assert_eq!(parse("bga", ""), Err(unknown));
    assert_eq!(parse("standard", "takasia=off").unwrap_err().option(), Some("takasia"));
    assert_eq!(
        parse("standard", "circuits=40;circuits=40").unwrap_err().to_string(),
        "option `circuits` is given twice"
    );
    for text in ["circuits", "circuits=040", "circuits=+40", "two_heads=yes", "circuits=40;", ";"] {
        assert!(parse("standard", text).is_err(), "{text}");
    }
}

#[test]
fn presets_of_four_rows_differ_as_documented() {
    let differences = |variant: Variant| {
        let standard = AnyOptions::parse(variant, "standard", "").unwrap().all_values();
        let of = |preset: &str| {
            let values = AnyOptions::parse(variant, preset, "").unwrap().all_values();
            let differing = values.into_iter().zip(&standard).filter(|(value, standard)| value != *standard);
            let text: Vec<String> = differing.map(|((name, value), _)| format!("{name}={value}")).collect();
            format!("{preset}: {}", text.join(" "))
        };
        variant.presets().iter().map(|preset| of(preset.name)).collect::<Vec<_>>()
    };
    assert_eq!(
        differences(Variant::Bao),
        [
            "standard: ",
            "kujifunza: start=full takasia=off",
            "donkers: harvest_ends_house=true takasia_single=true endless=illegal",
            "gering: singletons=no_house takasia_single=true takasia_house_lap=true",
            "bga: takasia=take takasia_single=true endless=lose",
            "malawi: house_seeds=8",
        ]
    );
    assert_eq!(
        differences(Variant::Omweso),
        [
            "standard: ",
            "arrange: setup=arrange",
            "tournament: setup=arrange akakyala=true",
            "shackell: setup=arrange reverse=start two_heads=false",
            "simple: reverse=none two_heads=false",
            "course: setup=arrange reverse=none first_turn_captures=false two_heads=false",
        ]
    );
}

#[test]
fn a_text_without_circuits_keeps_the_first_default_in_every_preset() {
    for (variant, first, today) in [(Variant::Omweso, 40, 100), (Variant::Bao, 12, 40)] {
        for preset in variant.presets() {
            let circuits = |circuits| ("circuits", OptionValue::Integer(circuits));
            let recorded = AnyOptions::parse_recorded(variant, preset.name, "").unwrap();
            assert!(recorded.values().contains(&circuits(first)));
            assert_eq!(recorded.overrides(), "");
            let chosen = AnyOptions::parse(variant, preset.name, "").unwrap();
            assert!(chosen.values().contains(&circuits(today)));
            assert_eq!(chosen.overrides(), format!("circuits={today}"));
        }
    }
}

#[test]
fn more_plies_than_a_stored_game_keeps_are_read_and_not_chosen() {
    for variant in super::GAMES {
        let more = [("max_plies".to_owned(), OptionValue::Integer(2001))];
        let refused = AnyOptions::new(variant, "standard", &more).unwrap_err();
        assert_eq!(refused.to_string(), "option `max_plies` must be an integer from 100 to 2000");
        for plies in [2001, 10_000] {
            let text = format!("max_plies={plies}");
            let recorded = AnyOptions::parse_recorded(variant, "standard", &text).unwrap();
            assert!(recorded.values().contains(&("max_plies", OptionValue::Integer(plies))));
            assert_eq!(recorded.overrides(), text);
        }
        assert!(AnyOptions::parse_recorded(variant, "standard", "max_plies=10001").is_err());
    }
}

#[test]
fn options_of_four_rows_are_read_back_from_their_text() {
    for variant in super::GAMES {
        for seed in 1..200 {
            let options = Random::new(seed).options(variant);
            assert_eq!(AnyOptions::parse_recorded(variant, options.preset(), &options.overrides()), Ok(options));
            let values: Vec<String> = options.values().iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(AnyOptions::parse(variant, options.preset(), &values.join(";")), Ok(options));
        }
    }
}
