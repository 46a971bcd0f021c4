//! The operator's list of words that no name may have. Knows the form of the list, and how names hide words; has no word of its own.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    str::FromStr,
};

use thiserror::Error;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::likeness;

/// Which words refuse a name.
///
/// The list has one entry in a line; `#` begins a comment. `word` refuses names that have it as a word, `*part*` also those in which it stands within a
/// word. What belongs to `word` of an entry `!word` is not refused. Capitals, accents, letters of other alphabets that look alike, digits in the place of letters, letters that are
/// written several times and blanks between single letters make no difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameFilter {
    entries: Vec<Entry>,
    /// Which of the entries begin with a character.
    by_first: HashMap<char, Vec<usize>>,
    /// The forms of words that are never refused.
    allowed: Vec<Vec<Run>>,
    refusing: usize,
}

/// What refuses a name: a form of a word of the list, which has one or two.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// As it is written.
    text: String,
    form: Vec<Run>,
    is_part: bool,
}

/// A character, and how many times it stands in a row.
type Run = (char, usize);

/// Digits and signs that stand for letters. A form has no capital, and an `o` for a zero already.
const STANDS_FOR: [(char, char); 10] = [
    ('1', 'i'),
    ('l', 'i'),
    ('!', 'i'),
    ('|', 'i'),
    ('3', 'e'),
    ('4', 'a'),
    ('@', 'a'),
    ('5', 's'),
    ('$', 's'),
    ('7', 't'),
];

impl NameFilter {
    /// The longest list, in bytes: thousands of words. A name is compared with all of them.
    pub const BYTES_MAX: usize = 65_536;

    /// The longest word, in characters: that of a name.
    pub const WORD_CHARS_MAX: usize = 32;

    /// The entry that refuses a name, if there is one.
    pub fn refusing(&self, name: &str) -> Option<&str> {
        if self.is_empty() {
            return None;
        }
        let words: HashSet<_> = forms(name).iter().flat_map(|form| words(form)).collect();
        // The first one in the list.
        let found = words.iter().flat_map(|word| self.refusing_word(word)).min();
        found.map(|index| self.entries[index].text.as_str())
    }

    /// The entries that refuse a word, at any of its places.
    fn refusing_word<'a>(&'a self, word: &'a [Run]) -> impl Iterator<Item = usize> + 'a {
        (0..word.len()).flat_map(move |start| {
            let begin_so = self.by_first.get(&word[start].0).into_iter().flatten().copied();
            begin_so.filter(move |index| {
                let Entry { form, is_part, .. } = &self.entries[*index];
                let is_meant = *is_part || (start == 0 && form.len() == word.len());
                is_meant && covers(&word[start..], form) && !self.is_allowed(word, &(start..start + form.len()))
            })
        })
    }

    /// Whether what stands at a place of a word belongs to a word that is never refused.
    fn is_allowed(&self, word: &[Run], place: &Range<usize>) -> bool {
        self.allowed
            .iter()
            .any(|form| (place.end.saturating_sub(form.len())..=place.start).any(|start| covers(&word[start..], form)))
    }

    /// How many entries refuse names.
    pub const fn len(&self) -> usize {
        self.refusing
    }

    /// Whether no name is refused.
    pub const fn is_empty(&self) -> bool {
        self.refusing == 0
    }
}

impl FromStr for NameFilter {
    type Err = NameFilterError;

    fn from_str(list: &str) -> Result<Self, NameFilterError> {
        if list.len() > Self::BYTES_MAX {
            return Err(NameFilterError::Length);
        }
        let mut filter = Self::default();
        for (line, text) in (1..).zip(list.lines()) {
            let text = text.split('#').next().unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            let is_allowed = text.starts_with('!');
            let part = text.strip_prefix('*').and_then(|text| text.strip_suffix('*'));
            let word = if is_allowed { &text[1..] } else { part.unwrap_or(text) };
            if word.is_empty() || !word.chars().all(is_of_word) {
                return Err(NameFilterError::NoWord { line });
            }
            if word.chars().nth(Self::WORD_CHARS_MAX).is_some() {
                return Err(NameFilterError::Word { line });
            }
            let form = |form: &String| runs(form.chars().filter(|c| is_of_word(*c)).map(letter));
            let mut forms: Vec<_> = forms(word).iter().map(form).collect();
            forms.dedup();
            // One letter within words would refuse most names.
            let least = if part.is_some() { 2 } else { 1 };
            if forms.iter().any(|form| form.iter().map(|(_, times)| times).sum::<usize>() < least) {
                return Err(NameFilterError::NoWord { line });
            }
            if is_allowed {
                filter.allowed.extend(forms);
            } else {
                filter.refusing += 1;
                for form in forms {
                    filter.by_first.entry(form[0].0).or_default().push(filter.entries.len());
                    filter.entries.push(Entry { text: text.to_owned(), form, is_part: part.is_some() });
                }
            }
        }
        Ok(filter)
    }
}

/// Why a text is no list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NameFilterError {
    /// It is too long.
    #[error("the list has more than {} bytes", NameFilter::BYTES_MAX)]
    Length,
    /// A line has no word of letters and digits.
    #[error(
        "line {line}: an entry is `word`, `*part*` or `!word`, of letters and digits alone; a part has at least two"
    )]
    NoWord {
        /// The line, from 1.
        line: usize,
    },
    /// A word is longer than a name.
    #[error("line {line}: a word has at most {} characters", NameFilter::WORD_CHARS_MAX)]
    Word {
        /// The line, from 1.
        line: usize,
    },
}

/// What a text looks like, without accents. In the forms of likeness, `m` is written `rn`; one letter is to be one character here, since it may stand
/// alone or several times.
fn forms(text: &str) -> Vec<String> {
    let plain = |form: &String| form.chars().filter(|c| !is_accent(*c)).collect::<String>().replace("rn", "m");
    likeness::forms(text).iter().map(plain).collect()
}

/// Whether a character is an accent. A form has each apart from its letter.
const fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}')
}

/// The words of a form, as they may be meant: digits are read as letters or as ends of words, signs the same, and single letters beside each other are one
/// word.
fn words(form: &str) -> Vec<Vec<Run>> {
    let mut all = vec![];
    for is_of_word in [is_of_word as fn(char) -> bool, stands_in_word, is_letter] {
        let mut single = String::new();
        for word in form.split(|c| !is_of_word(c)).filter(|word| !word.is_empty()).chain([" end "]) {
            let mut chars = word.chars();
            if let (Some(c), None) = (chars.next(), chars.next()) {
                single.push(c);
                continue;
            }
            all.push(runs(single.chars().map(letter)));
            single.clear();
            if word != " end " {
                all.push(runs(word.chars().map(letter)));
            }
        }
    }
    all.retain(|word| !word.is_empty());
    all
}

/// Letters, digits, and what some scripts write around their letters.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c.general_category_group() == GeneralCategoryGroup::Mark
}

fn is_letter(c: char) -> bool {
    is_of_word(c) && !c.is_numeric()
}

fn stands_in_word(c: char) -> bool {
    is_of_word(c) || STANDS_FOR.iter().any(|(sign, _)| *sign == c)
}

/// The letter for which a character stands.
fn letter(c: char) -> char {
    STANDS_FOR.iter().find(|(sign, _)| *sign == c).map_or(c, |(_, letter)| *letter)
}

fn runs(chars: impl Iterator<Item = char>) -> Vec<Run> {
    let mut runs: Vec<Run> = vec![];
    for c in chars {
        match runs.last_mut() {
            Some((last, times)) if *last == c => *times += 1,
            _ => runs.push((c, 1)),
        }
    }
    runs
}

/// Whether runs begin with those of a form, each as long as the form's, or longer.
fn covers(word: &[Run], form: &[Run]) -> bool {
    let covers = |((c, times), (wanted, least)): (&Run, &Run)| c == wanted && times >= least;
    word.len() >= form.len() && word.iter().zip(form).all(covers)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIST: &str = "\
# A comment, and a blank line

damn          # as a word alone
*fool*
ass
!foolscap
дурак
";

    fn filter() -> NameFilter {
        LIST.parse().expect("a list")
    }

    #[test]
    fn a_word_is_refused_in_every_disguise() {
        for name in [
            "damn",
            "DAMN",
            "Damn!",
            "d4mn",
            "d@mn",
            "Dаmn",
            "ＤＡＭＮ",
            "daaamn",
            "d a m n",
            "d.a.m.n",
            "dammmn",
            "darnn",
            "d_a-m n 3",
            "damn99",
            "99 damn",
            "Mr Damn",
            "Ana Damn Bo",
            "fool",
            "f00l",
            "foo1",
            "FOOI",
            "tomfoolery",
            "Big_Fooool",
            "a$$",
            "A55",
            "ДУРАК",
            "Дурaк",
            "dámn",
            "d\u{332}a\u{332}m\u{332}n",
        ] {
            assert!(filter().refusing(name).is_some(), "{name}");
        }
        assert_eq!(filter().refusing("MyFool"), Some("*fool*"));
    }

    #[test]
    fn what_only_resembles_a_word_is_a_name() {
        for name in [
            "Ana",
            "damned",
            "Adamn",
            "Foolscap",
            "FOOLSCAP 7",
            "foolscap99",
            "old_foolscaps",
            "fol",
            "Fo ol",
            "as",
            "As 5",
            "class",
            "assam",
            "Bo o'Dam n",
            "дура",
            "Guest-123456",
            "?",
            "🙂",
            "1",
        ] {
            assert_eq!(filter().refusing(name), None, "{name}");
        }
        assert!(NameFilter::default().refusing("damn").is_none() && NameFilter::default().is_empty());
        assert_eq!(filter().len(), 4);
    }

    #[test]
    fn a_list_that_cannot_be_read_names_the_line() {
        let no_word = |line| Err(NameFilterError::NoWord { line });
        for (list, error) in [
            ("good\n*", no_word(2)),
            ("two words", no_word(1)),
            ("\n\n!", no_word(3)),
            ("**", no_word(1)),
            ("*x*", no_word(1)),
            ("*half", no_word(1)),
            ("a.b", no_word(1)),
        ] {
            assert_eq!(list.parse::<NameFilter>(), error, "{list:?}");
        }
        assert_eq!("x".repeat(33).parse::<NameFilter>(), Err(NameFilterError::Word { line: 1 }));
        let long = "ab\n".repeat(NameFilter::BYTES_MAX / 3 + 1);
        assert_eq!(long.parse::<NameFilter>(), Err(NameFilterError::Length));
        for list in ["", "\n", "# nothing", "x", "é"] {
            assert!(list.parse::<NameFilter>().is_ok(), "{list:?}");
        }
    }

    proptest! {
        #[test]
        fn every_word_of_a_list_is_refused_itself(word in "[a-zA-Zа-яΑ-ΡΣ-Ω0-9]{1,12}", before in "[a-z]{2,5}") {
            let as_word: NameFilter = word.parse().expect("a list");
            prop_assert!(as_word.refusing(&word).is_some());
            let name = format!("{before} {word}");
            prop_assert!(as_word.refusing(&name).is_some());
            let as_part = format!("*{word}*").parse::<NameFilter>();
            if let Ok(as_part) = as_part {
                prop_assert!(as_part.refusing(&word).is_some());
            }
            let but: NameFilter = format!("{word}\n!{word}").parse().expect("a list");
            prop_assert!(but.refusing(&word).is_none());
        }

        #[test]
        fn no_name_and_no_list_is_too_much(list in "[\\PC\n]{0,64}", name in "\\PC{0,40}") {
            if let Ok(filter) = list.parse::<NameFilter>() {
                let _ = filter.refusing(&name);
            }
        }
    }
}
