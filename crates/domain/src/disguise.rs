//! The words that a text may be meant to have, even if they are disguised. Knows letters and the signs that replace them, but no list of
//! words.

use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::likeness;

/// A word that a text may be meant to have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Word {
    /// The letters that the word looks like.
    pub(crate) chars: Vec<char>,
    /// Whether punctuation was left out within it. A part of it says nothing then: `Bush-Itami` has no word of two of its letters and two others.
    pub(crate) is_joined: bool,
}

/// Signs, each with the letters that it replaces in names: digits, punctuation, and `l`. The table has one direction: an `i` does not
/// replace an `l`.
const STANDS_FOR: [(char, &str); 19] = [
    ('l', "i"),
    ('1', "il"),
    ('!', "il"),
    ('|', "il"),
    ('2', "z"),
    ('3', "e"),
    ('€', "e"),
    ('4', "a"),
    ('@', "a"),
    ('5', "s"),
    ('$', "s"),
    ('6', "g"),
    ('9', "g"),
    ('7', "t"),
    ('+', "t"),
    ('8', "b"),
    ('(', "c"),
    ('<', "c"),
    ('¢', "c"),
];

/// Characters that are no text. They keep letters as they are while likeness is looked for, which writes an `m` as `rn` and an `I` as `l`.
const PLAIN_M: char = '\u{e000}';
const PLAIN_I: char = '\u{e001}';

/// The letters that a character may replace in a name, beside itself.
pub(crate) fn stands_for(c: char) -> &'static str {
    STANDS_FOR.iter().find(|(sign, _)| *sign == c).map_or("", |(_, letters)| letters)
}

/// The words that a name may be meant to have.
pub(crate) fn words(name: &str) -> HashSet<Word> {
    let name: String = name.chars().map(of_sign).nfkc().map(|c| kept(c, c == 'i')).collect();
    let mut forms: HashSet<String> = [name.to_uppercase(), name].iter().flat_map(|name| forms(name)).collect();
    let read: Vec<_> = forms.iter().map(|form| form.replace("rn", "m")).collect();
    forms.extend(read);
    let mut all = HashSet::new();
    for form in &forms {
        add_words(form, &mut all);
    }
    all
}

/// The look of a word of a list, in small and in capital letters: one form, or a few.
pub(crate) fn letters(word: &str) -> HashSet<Vec<char>> {
    let word: String = word.nfkc().map(|c| kept(c, c == 'i' || c == 'I')).collect();
    let all = [word.to_uppercase(), word.to_lowercase()];
    let letters = |form: String| form.chars().filter(|c| is_of_word(*c)).collect();
    all.iter().flat_map(|word| forms(word)).map(letters).collect()
}

fn kept(c: char, is_plain_i: bool) -> char {
    match c {
        'm' | 'M' => PLAIN_M,
        _ if is_plain_i => PLAIN_I,
        _ => c,
    }
}

const fn restored(c: char) -> char {
    match c {
        PLAIN_M => 'm',
        PLAIN_I => 'i',
        c => c,
    }
}

/// The letter of a sign that is one in a circle or a box; another character itself.
fn of_sign(c: char) -> char {
    let first =
        ['\u{1f150}', '\u{1f170}', '\u{1f1e6}'].into_iter().find(|first| (0..26).contains(&distance(*first, c)));
    let letter = first.and_then(|first| u8::try_from(distance(first, c)).ok());
    letter.map_or(c, |letter| char::from(b'a' + letter))
}

fn distance(from: char, to: char) -> i64 {
    i64::from(u32::from(to)) - i64::from(u32::from(from))
}

/// The forms of a text, without accents.
fn forms(text: &str) -> Vec<String> {
    let plain = |form: String| {
        let mut base = 'a';
        let mut kept = String::new();
        for c in form.chars().map(restored) {
            let is_mark = c.general_category_group() == GeneralCategoryGroup::Mark;
            if !is_mark {
                base = c;
            }
            // Latin, Greek and Cyrillic letters have accents; marks of other scripts are vowels.
            if !is_mark || base >= '\u{530}' {
                kept.push(c);
            }
        }
        kept.nfc().collect()
    };
    likeness::forms(text).into_iter().map(plain).collect()
}

/// The words of a form, as they may be meant. Digits and signs are read as letters or as ends of words. Neighbouring
/// pieces of one letter, also several times, are one word.
fn add_words(form: &str, all: &mut HashSet<Word>) {
    let mut add = |chars: Vec<char>, is_joined: bool| {
        if !chars.is_empty() {
            all.insert(Word { chars, is_joined });
        }
    };
    for is_of_word in [is_of_word as fn(char) -> bool, stands_in_word, is_letter] {
        let mut single = vec![];
        for piece in form.split(|c| !is_of_word(c)).filter(|piece| !piece.is_empty()) {
            let chars: Vec<_> = piece.chars().collect();
            if chars.iter().all(|c| *c == chars[0]) {
                single.extend(chars);
            } else {
                add(std::mem::take(&mut single), false);
                add(chars, false);
            }
        }
        add(single, false);
        for text in form.split(' ') {
            add(text.chars().filter(|c| is_of_word(*c)).collect(), true);
        }
    }
}

/// Whether a character belongs to a word: a letter, a digit, or a mark that some scripts write around their letters.
pub(crate) fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c.general_category_group() == GeneralCategoryGroup::Mark
}

fn is_letter(c: char) -> bool {
    is_of_word(c) && !c.is_numeric()
}

fn stands_in_word(c: char) -> bool {
    is_of_word(c) || !stands_for(c).is_empty()
}
