//! Options: which values are taken, which are refused, and how options are written.

use mancala_rules::{
    AnyOptions, AnyPosition, Effect, GameOptions, OptionKind, OptionSpec, OptionValue, OptionsError, Side, Variant,
    bao, bestemshe, congkak, kalah, omweso, oware, toguz_kumalak,
};

const KALAH: Variant = Variant::Kalah;

fn parse(preset: &str, overrides: &str) -> Result<AnyOptions, OptionsError> {
    AnyOptions::parse(KALAH, preset, overrides)
}

/// The effective values, as `name=value` joined by `;`.
fn written(options: &AnyOptions) -> String {
    options.values().iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(";")
}

#[test]
fn the_presets_differ_from_standard_as_documented() {
    let standard = concat!(
        "pits=6;seeds=4;sow_stores=own;extra_turn=mandatory;capture=opposite;capture_land=own;",
        "empty_capture=false;end=side_empty;remaining=side_owner;majority_end=false;",
        "majority_remaining=leave;pie=false",
    );
    let bga = standard.replace("end=side_empty", "end=no_move").replace("majority_end=false", "majority_end=true");
    for (preset, expected) in [
        ("standard", standard.to_owned()),
        ("bga", bga.clone()),
        ("manual", standard.replace("mandatory", "optional")),
        ("empty_capture", standard.replace("empty_capture=false", "empty_capture=true")),
        ("no_capture", bga.replace("capture=opposite", "capture=none")),
        ("both_stores", bga.replace("sow_stores=own", "sow_stores=both")),
        ("self_capture", bga.replace("capture_land=own", "capture_land=any")),
        ("app", standard.to_owned()),
    ] {
        let options = parse(preset, "").unwrap();
        assert_eq!(written(&options), expected);
        assert_eq!((options.preset(), options.variant()), (preset, KALAH));
        assert_eq!(options.overrides(), "");
    }
}

#[test]
fn the_description_of_a_variant_agrees_with_its_options() {
    for (variant, title, presets) in [
        (KALAH, "Kalah", kalah::Preset::WORDS),
        (Variant::Oware, "Oware", oware::Preset::WORDS),
        (Variant::Congkak, "Congkak", congkak::Preset::WORDS),
        (Variant::Bao, "Bao", bao::Preset::WORDS),
        (Variant::Omweso, "Omweso", omweso::Preset::WORDS),
        (Variant::ToguzKumalak, "Toguz Kumalak", toguz_kumalak::Preset::WORDS),
        (Variant::Bestemshe, "Bestemshe", bestemshe::Preset::WORDS),
    ] {
        let defaults = variant.options().iter().map(|spec| (spec.name, spec.default.clone()));
        let of_a_match = ["refill_from", "round_starter", "max_rounds", "burnt_pits", "match_victory"];
        let defaults: Vec<_> = defaults.filter(|(name, _)| !of_a_match.contains(name)).collect();
        assert_eq!(AnyOptions::new(variant, "standard", &[]).unwrap().values(), defaults);
        let names: Vec<_> = variant.presets().iter().map(|spec| spec.name).collect();
        assert_eq!(names, presets);
        assert_eq!(names[0], "standard");
        let of_presets = variant.presets().iter().map(|spec| spec.description);
        for text in of_presets.chain(variant.options().iter().map(|spec| spec.description)) {
            assert!(text.ends_with('.') && text.len() > 10, "{text}");
        }
        for spec in variant.presets() {
            assert!(spec.source.len() > 8 && !spec.source.ends_with('.'), "{}: {}", spec.name, spec.source);
        }
        assert_eq!((variant.title(), variant.rules_version(), variant.to_string().parse()), (title, 1, Ok(variant)));
    }
    for preset in kalah::Preset::ALL {
        assert_eq!(preset.options().preset().name, preset.word());
    }
    for preset in oware::Preset::ALL {
        assert_eq!(preset.options().preset().name, preset.word());
    }
    for preset in congkak::Preset::ALL {
        assert_eq!(preset.options().preset().name, preset.word());
    }
}

#[test]
fn the_rules_in_words_name_every_option_value_and_no_section() {
    for variant in Variant::ALL {
        let text = variant.rules();
        assert!(text.starts_with(&format!("# {}\n", variant.title())) && text.ends_with(".\n"));
        assert!((40..=80).contains(&text.lines().count()), "{variant} has {} lines", text.lines().count());
        for spec in variant.options() {
            assert!(text.contains(&format!("`{}`", spec.name)), "{variant} does not name {}", spec.name);
            let OptionKind::Choice(words) = spec.kind else { continue };
            for word in words.iter().filter(|word| **word != spec.default.to_string()) {
                assert!(text.contains(&format!("`{word}`")), "{variant} does not name {}={word}", spec.name);
            }
        }
        let is_section =
            |word: &str| word.strip_prefix('R').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        assert!(!words.any(is_section), "{variant} names a section of docs/rules.md");
        assert!(!text.contains("docs/"), "{variant} names a file that its reader does not have");
    }
}

#[test]
fn the_examples_of_the_rules_in_words_are_right() {
    let effects = |variant, position: Option<&str>, m: &str| {
        let options = AnyOptions::new(variant, "standard", &[]).unwrap();
        let start = position.map_or(AnyPosition::opening(&options), |text| AnyPosition::parse(&options, text).unwrap());
        start.play(m.parse().unwrap()).unwrap().1
    };
    let captured = |effects: &[Effect]| {
        effects.iter().find_map(|effect| match effect {
            Effect::Capture { from, seeds, .. } => Some((from.len(), *seeds)),
            _ => None,
        })
    };
    assert_eq!(effects(KALAH, None, "C").last(), Some(&Effect::ExtraTurn));
    let chain = effects(Variant::Oware, Some("0,0,0,0,0,3/2,1,2,1,0,0 20-19 S - 40 1S"), "F");
    assert_eq!(captured(&chain), Some((3, 8)));
    for (variant, m, seeds) in [(Variant::ToguzKumalak, "I", 10), (Variant::Bestemshe, "B", 6)] {
        assert_eq!(captured(&effects(variant, None, m)), Some((1, seeds)));
    }
    assert_eq!(captured(&effects(Variant::Bestemshe, None, "A")), None);
    let laps = effects(Variant::Congkak, None, "G");
    assert_eq!(
        (captured(&laps), laps[8].clone()),
        (Some((2, 9)), Effect::Relay { pit: "f".parse().unwrap(), seeds: 8 })
    );
}

#[test]
fn exactly_the_documented_contradictions_are_refused() {
    for variant in Variant::ALL {
        let specs = variant.options();
        for preset in variant.presets() {
            let plain = AnyOptions::new(variant, preset.name, &[]).unwrap().all_values();
            let pairs = specs.iter().flat_map(|one| specs.iter().map(move |other| (one, other)));
            for (one, other) in pairs.filter(|(one, other)| one.name < other.name) {
                for (value, other_value) in samples(one)
                    .0
                    .iter()
                    .flat_map(|value| samples(other).0.into_iter().map(move |other_value| (value.clone(), other_value)))
                {
                    let given = [(one.name.to_owned(), value), (other.name.to_owned(), other_value)];
                    let is = |name: &str, wanted: &OptionValue| {
                        let given = given.iter().find(|(given, _)| given == name).map(|(_, value)| value);
                        let plain = plain.iter().find(|(plain, _)| *plain == name).map(|(_, value)| value);
                        given.or(plain) == Some(wanted)
                    };
                    let expected = variant.contradictions().iter().any(|refused| {
                        let holds = match &refused.value {
                            Some(value) => is(refused.option, value),
                            None => given.iter().any(|(name, _)| name == refused.option),
                        };
                        holds && is(refused.other, &refused.other_value)
                    });
                    let result = AnyOptions::new(variant, preset.name, &given);
                    let refused = matches!(result, Err(OptionsError::Contradiction { .. }));
                    let narrowed = matches!(result, Err(OptionsError::PresetValue { .. }));
                    assert!(refused == expected || narrowed, "{variant} {} {given:?}: {result:?}", preset.name);
                }
            }
        }
    }
}

/// The most values of an option that are all tried; of more, those at both ends.
const VALUES_MAX: u16 = 200;

/// Every value of an option, and some that it must refuse.
fn samples(spec: &OptionSpec) -> (Vec<OptionValue>, Vec<OptionValue>) {
    let others = vec![OptionValue::Integer(7), OptionValue::Boolean(true), OptionValue::Word("side".into())];
    match spec.kind {
        OptionKind::Integer { min, max } => {
            let all =
                (min..=max).filter(|value| max - min <= VALUES_MAX || [min, min + 1, max - 1, max].contains(value));
            let good = all.map(|value| OptionValue::Integer(value.into())).collect();
            let beyond = [i64::from(min) - 1, i64::from(max) + 1, 256 + i64::from(min), -1, i64::MIN, i64::MAX];
            let beyond = beyond.into_iter().filter(|value| !(i64::from(min)..=i64::from(max)).contains(value));
            (good, others[1..].iter().cloned().chain(beyond.map(OptionValue::Integer)).collect())
        }
        OptionKind::Boolean => {
            ([true, false].map(OptionValue::Boolean).into(), vec![others[0].clone(), others[2].clone()])
        }
        OptionKind::Choice(words) => {
            let capitals = OptionValue::Word(words[0].to_uppercase().into());
            let good = words.iter().map(|&word| OptionValue::Word(word.into())).collect();
            (good, others.into_iter().chain([capitals, OptionValue::Word("".into())]).collect())
        }
    }
}

/// Options to set together with another one, so that no value of that one causes a contradiction.
fn companions(variant: Variant, name: &str) -> Vec<(String, OptionValue)> {
    let companions: &[(&str, OptionValue)] = match (variant, name) {
        (Variant::Congkak, "take_own_seed") => &[("empty_capture", false.into())],
        (Variant::Congkak, "empty_capture") => &[("take_own_seed", true.into())],
        (Variant::Congkak, "refill_from" | "round_starter" | "max_rounds" | "burnt_pits") => {
            &[("rounds", "multi".into())]
        }
        (Variant::Congkak, "match_victory") => &[("rounds", "multi".into()), ("burnt_pits", true.into())],
        (Variant::Bao, "house_seeds" | "singletons" | "harvest_ends_house") => &[("start", "house".into())],
        (Variant::ToguzKumalak | Variant::Bestemshe, "majority_end") => &[("repetition_award", "split".into())],
        (Variant::ToguzKumalak | Variant::Bestemshe, "repetition_award") => &[("majority_end", true.into())],
        (Variant::Bao, "takasia_single") => &[("takasia", "block".into())],
        (Variant::Bao, "takasia_house_lap") => &[("start", "house".into()), ("takasia", "block".into())],
        _ => &[],
    };
    companions.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

#[test]
fn every_preset_takes_exactly_the_documented_values() {
    for variant in Variant::ALL {
        for (preset, spec) in
            variant.presets().iter().flat_map(|preset| variant.options().iter().map(move |spec| (preset, spec)))
        {
            let bounds = preset.bounds.iter().find(|bounds| bounds.option == spec.name);
            let (good, bad) = samples(spec);
            for value in good {
                let mut overrides = vec![(spec.name.to_owned(), value.clone())];
                overrides.extend(companions(variant, spec.name));
                let result = AnyOptions::new(variant, preset.name, &overrides);
                let within = bounds.is_none_or(|bounds| match value {
                    OptionValue::Integer(value) => (i64::from(bounds.min)..=i64::from(bounds.max)).contains(&value),
                    _ => false,
                });
                if within {
                    let options = result.unwrap();
                    assert!(options.values().contains(&(spec.name, value)));
                    let values = options.values().into_iter().map(|(name, value)| (name.to_owned(), value));
                    assert_eq!(AnyOptions::new(variant, preset.name, &values.collect::<Vec<_>>()), Ok(options));
                    assert_eq!(AnyOptions::parse_recorded(variant, preset.name, &options.overrides()), Ok(options));
                } else {
                    let error = result.unwrap_err();
                    assert!(matches!(error, OptionsError::PresetValue { .. }));
                    assert_eq!(error.option(), Some(spec.name));
                }
            }
            for value in bad {
                let error = AnyOptions::new(variant, preset.name, &[(spec.name.to_owned(), value)]).unwrap_err();
                assert_eq!(error, OptionsError::Value { option: spec.name, expected: spec.kind });
            }
        }
    }
}

#[test]
fn presets_narrow_the_seeds() {
    for (preset, min, max) in [
        ("bga", 3, 6),
        ("manual", 4, 4),
        ("no_capture", 3, 6),
        ("both_stores", 3, 6),
        ("self_capture", 3, 6),
        ("app", 4, 6),
    ] {
        for seeds in 1..=12 {
            assert_eq!(parse(preset, &format!("seeds={seeds}")).is_ok(), (min..=max).contains(&seeds));
        }
    }
    assert_eq!(
        parse("manual", "seeds=5").unwrap_err().to_string(),
        "option `seeds` must be the integer 4 in preset `manual`"
    );
    assert_eq!(
        parse("bga", "seeds=2").unwrap_err().to_string(),
        "option `seeds` must be an integer from 3 to 6 in preset `bga`"
    );
}

#[test]
fn a_refusal_names_the_option_and_the_reason() {
    for (preset, overrides, option, sentence) in [
        ("classic", "", None, "kalah has no preset \"classic\""),
        ("Standard", "", None, "kalah has no preset \"Standard\""),
        ("standard", "grand_slam=capture", Some("grand_slam"), "kalah has no option \"grand_slam\""),
        ("standard", "=5", Some(""), "kalah has no option \"\""),
        ("standard", "seeds=5;seeds=5", Some("seeds"), "option `seeds` is given twice"),
        ("standard", "seeds=13", Some("seeds"), "option `seeds` must be an integer from 1 to 12"),
        ("standard", "seeds=05", Some("seeds"), "option `seeds` must be an integer from 1 to 12"),
        ("standard", "seeds=+5", Some("seeds"), "option `seeds` must be an integer from 1 to 12"),
        ("standard", "seeds=", Some("seeds"), "option `seeds` must be an integer from 1 to 12"),
        ("standard", "pie=yes", Some("pie"), "option `pie` must be true or false"),
        ("standard", "end=never", Some("end"), "option `end` must be `side_empty` or `no_move`"),
        ("standard", "capture_land=", Some("capture_land"), "option `capture_land` must be `own`, `opponent` or `any`"),
        ("standard", "pie", None, "options must be written as `name=value` joined by `;`, not \"pie\""),
        ("standard", "pie=true;", None, "options must be written as `name=value` joined by `;`, not \"\""),
    ] {
        let error = parse(preset, overrides).unwrap_err();
        assert_eq!((error.option(), error.to_string().as_str()), (option, sentence));
    }
}

#[test]
fn sweeping_at_a_majority_contradicts_discarding() {
    for preset in kalah::Preset::WORDS {
        let error = parse(preset, "remaining=discard;majority_remaining=sweep").unwrap_err();
        assert_eq!(error.option(), Some("majority_remaining"));
        let sentence = "option `majority_remaining` cannot be `sweep` while `remaining` is `discard`";
        assert_eq!(error.to_string(), sentence);
        assert!(parse(preset, "remaining=discard;majority_remaining=leave").is_ok());
        assert!(parse(preset, "remaining=emptier;majority_remaining=sweep").is_ok());
    }
}

#[test]
fn overrides_are_written_in_order_and_without_values_of_the_preset() {
    let options = parse("bga", "pie=true;majority_end=false;end=no_move;seeds=3;pits=6").unwrap();
    assert_eq!(options.overrides(), "seeds=3;majority_end=false;pie=true");
    assert_eq!(parse("bga", &options.overrides()), Ok(options));
}

#[test]
fn the_opening_is_that_of_the_options() {
    for (preset, overrides, expected) in [
        ("standard", "", "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 1S"),
        ("bga", "pie=true", "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S p 0 1S"),
        ("standard", "pits=1;seeds=12", "12/12 0-0 S - 0 1S"),
    ] {
        let options = parse(preset, overrides).unwrap();
        let opening = AnyPosition::opening(&options);
        assert_eq!(opening.to_string(), expected);
        assert_eq!(opening.options(), options);
        assert_eq!(AnyPosition::parse(&options, expected), Ok(opening));
    }
    let largest = AnyPosition::opening(&parse("standard", "pits=12;seeds=12").unwrap()).board();
    assert_eq!((largest.total(), largest.pits_per_side(), largest.pits(Side::North).len()), (288, 12, 12));
}
