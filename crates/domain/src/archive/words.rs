//! Words that many archives have, each as a number of a byte.

use super::{
    bits::{BitReader, BitWriter},
    error::ArchiveError,
};

/// The words of version 1, by their numbers from 1. Other words are written whole, with the number 0: so the list never changes.
const WORDS: &str = include_str!("words_v1.txt");

/// How many bits a word's number takes.
const WORD_BITS: u32 = 5;

pub(super) fn write(writer: &mut BitWriter, word: &str) {
    if let Some((number, _)) = (1_u64..).zip(WORDS.lines()).find(|(_, known)| *known == word) {
        writer.bits(number, WORD_BITS);
    } else {
        writer.bits(0, WORD_BITS);
        writer.text(word);
    }
}

pub(super) fn read(reader: &mut BitReader<'_>) -> Result<String, ArchiveError> {
    match usize::try_from(reader.bits(WORD_BITS)?).unwrap_or_default() {
        0 => reader.text(),
        number => match WORDS.lines().nth(number - 1) {
            Some(word) => Ok(word.to_owned()),
            None => Err(ArchiveError::Invalid("a word is not known")),
        },
    }
}
