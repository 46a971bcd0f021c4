//! The operator's list of words that no name may have. Knows the form of the list; how names hide words says `disguise`. Has no word of its own.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    str::FromStr,
};

use thiserror::Error;

use crate::disguise::{self, Word};

/// Which words refuse a name.
///
/// The list has one entry in a line; `#` begins a comment. `word` refuses names that have it as a word, `*part*` also
/// those in which it stands within a word. What belongs to `word` of an entry `!word` is not refused. Capitals, accents
/// and letters of other alphabets that look alike make no difference. Neither do digits in the place of letters,
/// letters that are written several times, and blanks between single letters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameFilter {
    entries: Vec<FilterEntry>,
    refusing: Forms,
    /// Forms of words that are never refused.
    allowed: Forms,
}

/// An entry of the list, which refuses names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FilterEntry {
    /// The entry as the list has it.
    text: String,
    is_part: bool,
}

/// Forms by their first letters, each with the index of its entry.
type Forms = HashMap<char, Vec<(usize, Vec<char>)>>;

impl NameFilter {
    /// The longest list, in bytes: thousands of words. A name is compared with all of them.
    pub const BYTES_MAX: usize = 65_536;

    /// The longest word, in characters: that of a name.
    pub const WORD_CHARS_MAX: usize = 32;

    /// The longest form of a word: a bit of a number for each letter.
    const FORM_CHARS_MAX: usize = 64;

    /// The entry that refuses a name, if there is one: the first one in the list.
    pub fn refusing(&self, name: &str) -> Option<&str> {
        if self.entries.is_empty() {
            return None;
        }
        let found = disguise::words(name).iter().filter_map(|word| self.refusing_word(word)).min();
        found.map(|index| self.entries[index].text.as_str())
    }

    /// The first of the entries that refuse a word, at any of its places.
    fn refusing_word(&self, word: &Word) -> Option<usize> {
        let mut allowed: Option<Vec<Range<usize>>> = None;
        let mut first = None;
        for start in 0..word.chars.len() {
            for (index, form) in begin_with(&self.refusing, word.chars[start]) {
                if first.is_some_and(|first| first <= *index) {
                    continue;
                }
                let is_part = self.entries[*index].is_part && !word.is_joined;
                let Some(place) = place(word, start, form, is_part) else { continue };
                let allowed = allowed.get_or_insert_with(|| self.allowed_places(word));
                if !allowed.iter().any(|allowed| allowed.start <= place.start && allowed.end >= place.end) {
                    first = Some(*index);
                }
            }
        }
        first
    }

    /// The parts of a word that belong to words of `!` entries, which are never refused.
    fn allowed_places(&self, word: &Word) -> Vec<Range<usize>> {
        let places = |start: usize| {
            let forms = begin_with(&self.allowed, word.chars[start]);
            forms.filter_map(move |(_, form)| ends(word, start, form).last().map(|end| start..end))
        };
        (0..word.chars.len()).flat_map(places).collect()
    }

    /// How many entries refuse names.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no name is refused.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// The forms whose first letter a character may be.
fn begin_with(forms: &Forms, c: char) -> impl Iterator<Item = &(usize, Vec<char>)> {
    disguise::stands_for(c).chars().chain([c]).filter_map(|letter| forms.get(&letter)).flatten()
}

/// The place of a form in a word, from a start on: a part of the word, or the whole word.
fn place(word: &Word, start: usize, form: &[char], is_part: bool) -> Option<Range<usize>> {
    if is_part {
        return ends(word, start, form).next().map(|end| start..end);
    }
    let is_whole = start == 0 && ends(word, start, form).last() == Some(word.chars.len());
    is_whole.then_some(start..word.chars.len())
}

/// Where a form may end that begins at a place of a word. Each of its letters may be written several times.
fn ends<'a>(word: &'a Word, start: usize, form: &'a [char]) -> impl Iterator<Item = usize> + 'a {
    let may_be = |c: char, letter: char| c == letter || disguise::stands_for(c).contains(letter);
    // A bit for each letter of the form: whether it may be the character before.
    let mut at = 0_u64;
    let chars = (start..).zip(&word.chars[start..]);
    let steps = chars.map_while(move |(place, c)| {
        // Each letter may follow the one before it, and itself.
        let reached = if place == start { 1 } else { at | at << 1 };
        at = (0..form.len()).filter(|n| reached >> n & 1 == 1 && may_be(*c, form[*n])).fold(0, |at, n| at | 1 << n);
        (at != 0).then_some((place + 1, at >> (form.len() - 1) & 1 == 1))
    });
    steps.filter_map(|(end, is_end)| is_end.then_some(end))
}

impl FromStr for NameFilter {
    type Err = NameFilterError;

    fn from_str(list: &str) -> Result<Self, NameFilterError> {
        if list.len() > Self::BYTES_MAX {
            return Err(NameFilterError::Length);
        }
        let (mut filter, mut known) = (Self::default(), HashSet::new());
        // Some editors begin a file so.
        for (line, text) in (1..).zip(list.strip_prefix('\u{feff}').unwrap_or(list).lines()) {
            if text.chars().any(|c| c.is_control() && c != '\t') {
                return Err(NameFilterError::Control { line });
            }
            let text = text.split('#').next().unwrap_or_default().trim();
            if !text.is_empty() && known.insert(text) {
                filter.add(line, text)?;
            }
        }
        Ok(filter)
    }
}

impl NameFilter {
    /// Adds an entry.
    fn add(&mut self, line: usize, text: &str) -> Result<(), NameFilterError> {
        let allowed = text.strip_prefix('!');
        let part = text.strip_prefix('*').and_then(|text| text.strip_suffix('*'));
        let word = allowed.or(part).unwrap_or(text);
        if word.is_empty() || !word.chars().all(disguise::is_of_word) {
            return Err(NameFilterError::NoWord { line });
        }
        if word.chars().nth(Self::WORD_CHARS_MAX).is_some() {
            return Err(NameFilterError::Word { line });
        }
        // A single letter within words would refuse most names.
        let least = if part.is_some() { 2 } else { 1 };
        let forms = disguise::letters(word);
        if forms.iter().any(|form| !(least..=Self::FORM_CHARS_MAX).contains(&form.len())) {
            return Err(NameFilterError::NoWord { line });
        }
        let index = self.entries.len();
        let all = if allowed.is_some() { &mut self.allowed } else { &mut self.refusing };
        for form in forms {
            all.entry(form[0]).or_default().push((index, form));
        }
        if allowed.is_none() {
            self.entries.push(FilterEntry { text: text.to_owned(), is_part: part.is_some() });
        }
        Ok(())
    }
}

/// Why a text is no list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NameFilterError {
    /// The list is too long.
    #[error("the list has more than {} bytes", NameFilter::BYTES_MAX)]
    Length,
    /// A line has a control character.
    #[error("line {line}: a list has no control characters but line feeds and tabs")]
    Control {
        /// The line, from 1.
        line: usize,
    },
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
back
*kill*
*corn*
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
            "da\u{487}mn",
            "da\u{e48}mn",
            "da\u{fe20}mn",
            "вaдд damn",
            "da.mn",
            "da-m_n",
            "dd aa mm nn",
            "\u{1f173}\u{1f170}\u{1f17c}\u{1f17d}",
            "\u{1f1e9}\u{1f1e6}\u{1f1f2}\u{1f1f3}",
            "fооl",
            "bас\u{43a}",
            "8ack",
            "вaск",
            "kil1",
            "k1ll",
            "KILL",
            "kiIl",
            "corn",
            "c0rn",
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
        assert_eq!(filter().len(), 7);
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
            ("a\n# \0", Err(NameFilterError::Control { line: 2 })),
        ] {
            assert_eq!(list.parse::<NameFilter>(), error, "{list:?}");
        }
        assert_eq!("x".repeat(33).parse::<NameFilter>(), Err(NameFilterError::Word { line: 1 }));
        let long = "ab\n".repeat(NameFilter::BYTES_MAX / 3 + 1);
        assert_eq!(long.parse::<NameFilter>(), Err(NameFilterError::Length));
        for list in ["", "\n", "# nothing", "x", "é", "\u{feff}x", "x\r\n# y\tz\r\n"] {
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
