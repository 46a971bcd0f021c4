//! The look of a text: texts that read alike have a form in common. Knows Unicode, and nothing of players.

use unicase::UniCase;
use unicode_normalization::UnicodeNormalization;
use unicode_security::confusable_detection::skeleton;

/// More steps than any text needs to settle. Two are usual.
const STEPS_MAX: usize = 8;

/// The forms of a text: one or two. Two texts read alike if they have a form in common.
///
/// Both forms are skeletons (UTS #39, section 4) in compatibility form, without regard to case. They differ in what comes
/// first. In the first form, case is folded first: `adm1n` in capitals is `adm1n`, and a Greek `ν` is a `v`. In the other, the
/// skeleton of the text as it is shown comes first. A capital `I` is an `l`, and a Cyrillic `В` is a `b`. One form for both
/// would make `n` and `v` alike, because a capital `ν` looks like an `N`.
///
/// Another version of Unicode may give other forms.
pub(crate) fn forms(text: &str) -> Vec<String> {
    let shown: String = with_plain_blanks(text);
    let mut forms = vec![normalize(shown.clone()), normalize(fold(&skeleton(&shown).collect::<String>()))];
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// In compatibility form (NFKC), and with single blanks between words.
fn with_plain_blanks(text: &str) -> String {
    let text: String = text.nfkc().collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Folds case and takes the skeleton until both leave the text unchanged. Each may create work for the other: the skeleton of `0` is a
/// capital `O`.
fn normalize(mut text: String) -> String {
    for _ in 0..STEPS_MAX {
        let next = fold(&skeleton(&fold(&with_plain_blanks(&text))).collect::<String>());
        if next == text {
            break;
        }
        text = next;
    }
    text
}

fn fold(text: &str) -> String {
    UniCase::unicode(text).to_folded_case()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

    use super::*;

    fn read_alike(one: &str, other: &str) -> bool {
        let others = forms(other);
        forms(one).iter().any(|form| others.contains(form))
    }

    #[test]
    fn texts_that_read_alike_have_a_form_in_common() {
        for (one, other) in [
            ("Ana", "aNA"),
            ("Ana", "\u{410}na"),
            ("Ana", "\u{410}n\u{430}"),
            ("ANA", "\u{391}\u{39d}\u{391}"),
            ("Alan", "AIan"),
            ("Alan", "A1an"),
            ("Bob", "\u{412}\u{3bf}b"),
            ("BOB", "B0B"),
            ("Eve", "E\u{3bd}e"),
            ("Admin", "ADMIN"),
            ("Admin", "Adm\u{406}n"),
            ("Tom", "Torn"),
            ("Ana", "ＡＮＡ"),
            ("Ana", "𝐀𝐧𝐚"),
            ("Ana Maria", "Ana\u{a0}\u{2003}Maria"),
            ("É", "e\u{301}"),
            ("Straße", "STRASSE"),
            ("ﬁn", "FIN"),
            ("O'Neil", "O’Neil"),
        ] {
            assert!(read_alike(one, other), "{one} {other} {:?} {:?}", forms(one), forms(other));
        }
        for (one, other) in [("Ana", "Anna"), ("Eve", "Ene"), ("Ali", "All"), ("Jan", "Jon"), ("Анна", "Инна")]
        {
            assert!(!read_alike(one, other), "{one} {other} {:?} {:?}", forms(one), forms(other));
        }
    }

    #[test]
    fn every_character_settles_in_a_form_that_is_its_own() {
        let mut longest = 0;
        // All alphabets and signs. Ideographs, syllables of Hangul and private characters are only themselves.
        let blocks = (0..0x3400).chain(0xa000..0xac00).chain(0xf900..0x20000).filter_map(char::from_u32);
        for c in blocks.filter(|c| c.general_category() != GeneralCategory::Unassigned && !c.is_whitespace()) {
            let text = c.to_string();
            for form in forms(&text) {
                assert_eq!(forms(&form).first(), Some(&form), "{c:?} {:x}", u32::from(c));
                assert!(forms(&form).contains(&form));
                longest = longest.max(form.len());
            }
            let cases = [c.to_lowercase().to_string(), c.to_uppercase().to_string()];
            assert!(cases.iter().all(|case| fold(case) != fold(&text) || read_alike(&text, case)), "{c:?}");
            // Some signs have a compatibility form with a blank, and a skeleton of one sign.
            let is_own = with_plain_blanks(&text) == text;
            assert!(!is_own || read_alike(&text, &skeleton(&text).collect::<String>()), "{c:?} {:x}", u32::from(c));
        }
        assert!(longest <= 40, "{longest}");
    }

    proptest! {
        #[test]
        fn a_form_is_the_form_of_itself(text in "[\\PC]{1,12}") {
            for form in forms(&text) {
                prop_assert!(forms(&form).contains(&form), "{:?} {:?}", form, forms(&form));
            }
        }

        #[test]
        fn case_width_and_skeleton_keep_a_form(text in "[a-zA-Z0-9а-яА-Яα-ωΑ-Ω .']{1,12}") {
            prop_assert!(read_alike(&text, &fold(&text)));
            prop_assert!(read_alike(&text, &skeleton(&text).collect::<String>()));
            let wide = |c: char| if c.is_ascii_graphic() { char::from_u32(u32::from(c) + 0xfee0).unwrap_or(c) } else { c };
            prop_assert!(read_alike(&text, &text.chars().map(wide).collect::<String>()));
        }
    }
}
