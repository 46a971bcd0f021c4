//! Names that no player may take, because they represent the service: those of its own players, and the operator's list.

use std::collections::HashSet;

use crate::{PlayerName, likeness};

/// The name of the computer's players, before the number of their level.
const COMPUTER: &str = "Computer";

/// The suffix for names of imported players that would otherwise pose as others.
const ELSEWHERE: &str = " (elsewhere)";

/// Reserved names. A name is reserved if it reads like one of them, with or without blanks and punctuation.
#[derive(Clone, Debug)]
pub struct ReservedNames {
    /// Letters and digits of the forms of reserved names.
    words: HashSet<String>,
    /// Forms of the computer's name, which a number may follow.
    computer: Vec<String>,
    /// The characters of numbers in such forms.
    digits: HashSet<char>,
}

impl ReservedNames {
    /// Reserves the service's own names, and these.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names = names.into_iter().chain([PlayerName::DELETED, COMPUTER]);
        // A list such as "admin,," has empty names, which reserve nothing.
        let words = names.flat_map(words_of).filter(|word| !word.is_empty()).collect();
        let digits = ('0'..='9').flat_map(|digit| words_of(&digit.to_string())).collect::<String>();
        Self { words, computer: words_of(COMPUTER), digits: digits.chars().collect() }
    }

    /// Whether a name reads like a reserved one.
    pub fn contains(&self, name: &str) -> bool {
        let is_number = |text: &str| text.chars().all(|c| c.is_numeric() || self.digits.contains(&c));
        let is_computer = |word: &str| {
            self.computer.iter().any(|computer| word.strip_prefix(computer.as_str()).is_some_and(is_number))
        };
        words_of(name).iter().any(|word| self.words.contains(word) || is_computer(word))
    }

    /// The name of a player in an imported game. A record of a game against the computer names it, and can be imported;
    /// its player does not have the computer's name.
    pub fn imported(&self, name: String, chars_max: usize) -> String {
        if !self.contains(&name) {
            return name;
        }
        let kept: String = name.chars().take(chars_max - ELSEWHERE.len()).collect();
        format!("{}{ELSEWHERE}", kept.trim_end())
    }
}

/// The letters and digits of the forms of a name.
fn words_of(name: &str) -> Vec<String> {
    likeness::forms(name).iter().map(|form| form.chars().filter(|c| c.is_alphanumeric()).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reserved() -> ReservedNames {
        ReservedNames::new(["admin", "support", ""])
    }

    #[test]
    fn what_reads_like_a_reserved_name_is_reserved() {
        for name in [
            "Computer",
            "Computer 3",
            "computer  12",
            "Computer-8",
            "Computer8.",
            "C0mputer 3",
            "Соmputer 3",
            "COMPUTER",
            "Computer ３",
            "Deleted player",
            "DELETED  PLAYER",
            "DeIeted player",
            "deleted_player",
            "Admin",
            "АDMIN",
            "Adm\u{406}n",
            "*admin*",
            "s u p p o r t",
        ] {
            assert!(reserved().contains(name), "{name}");
        }
        for name in ["Ana", "Computer fan", "My Computer 3", "Player", "Administrator", "Guest-123456", "?", "🙂", "3"]
        {
            assert!(!reserved().contains(name), "{name}");
        }
    }

    #[test]
    fn an_imported_player_has_no_reserved_name() {
        let imported = |name: &str| reserved().imported(name.to_owned(), 20);
        assert_eq!(imported("Ana"), "Ana");
        assert_eq!(imported("Computer 3"), "Computer (elsewhere)");
        for name in ["Computer 3", "Deleted player", "admin"] {
            let once = imported(name);
            assert!(once.chars().count() <= 20 && once != name, "{once}");
            assert_eq!(imported(&once), once, "an import of its export has the same name");
        }
    }
}
