//! The names by which a variant is found: its own, its title and its aliases. Knows how names are compared, not which
//! ones there are.

use mancala_rules::Variant;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The variants that have this name, in the order of [`Variant::ALL`]; none for an unknown name. Case, accents, blanks,
/// apostrophes and hyphens make no difference: `bao-la-kiswahili` is a name of Bao, and `awale` one of Oware. A name
/// counts as a whole, because the beginning of one is often another.
pub fn variants_named(name: &str) -> Vec<Variant> {
    let wanted = key(name);
    if wanted.is_empty() {
        return Vec::new();
    }
    let names =
        |variant: Variant| [variant.word(), variant.title()].into_iter().chain(variant.aliases().iter().copied());
    Variant::ALL.into_iter().filter(|&variant| names(variant).any(|name| key(name) == wanted)).collect()
}

/// The part of a name that is compared: its letters and digits, in lower case and without accents.
fn key(name: &str) -> String {
    // Lower case comes first and last: a capital can have an accent, and a compatible form can be a capital.
    let plain =
        name.to_lowercase().nfkd().filter(|&c| !is_combining_mark(c) && c.is_alphanumeric()).collect::<String>();
    plain.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_any_case_and_with_or_without_accents() {
        for (name, expected) in [
            ("kalah", &[Variant::Kalah][..]),
            ("KALAHA", &[Variant::Kalah]),
            ("Калах", &[Variant::Kalah]),
            ("калах", &[Variant::Kalah]),
            ("Awari", &[Variant::Oware]),
            ("awele", &[Variant::Oware]),
            ("Awe\u{301}le\u{301}", &[Variant::Oware]),
            ("sungka", &[Variant::Congkak]),
            ("SUNGKÂ", &[Variant::Congkak]),
            ("Chongka'", &[Variant::Congkak]),
            ("ＤＡＫＯＮ", &[Variant::Congkak]),
            ("bao-la-kiswahili", &[Variant::Bao]),
            ("  Bao  la  Kiswahili ", &[Variant::Bao]),
            ("mweso", &[Variant::Omweso]),
        ] {
            assert_eq!(variants_named(name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_of_two_games_finds_both() {
        assert_eq!(variants_named("awalé"), [Variant::Kalah, Variant::Oware]);
    }

    #[test]
    fn an_unknown_name_and_a_part_of_one_find_nothing() {
        for name in ["", " ", "'", "\u{301}", "chess", "kal", "kalah2", "bao la", "%", "kalah/oware"] {
            assert_eq!(variants_named(name), [], "{name:?}");
        }
    }

    #[test]
    fn no_variant_lists_a_name_twice() {
        for variant in Variant::ALL {
            let mut keys: Vec<_> = variant.aliases().iter().map(|name| key(name)).collect();
            keys.push(key(variant.word()));
            let listed = keys.len();
            keys.sort();
            keys.dedup();
            assert_eq!(keys.len(), listed, "{variant}");
            assert!(!keys.contains(&String::new()), "{variant}");
        }
    }
}
