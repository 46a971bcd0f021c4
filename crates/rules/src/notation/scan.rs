//! Scanning a text: blanks, comments, and tags such as `[South "ana"]`. Knows where it is in the text, and no game.

use std::fmt;

use super::{BYTE_ORDER_MARK, Location, Problem, ReadError, TEXT_MAX, VALUE_MAX};

/// A problem at the byte `at` of a text.
#[derive(Debug)]
pub(super) struct Fault {
    pub at: usize,
    pub problem: Problem,
}

impl Fault {
    pub fn new(at: usize, problem: impl Into<Problem>) -> Self {
        Self { at, problem: problem.into() }
    }

    /// The same problem at a line and column of the text.
    pub fn locate(self, text: &str) -> ReadError {
        ReadError { location: Location::of(text, self.at), problem: self.problem }
    }
}

/// Reads bytes as text if they are UTF-8 and at most [`TEXT_MAX`].
pub(super) fn decode(bytes: &[u8]) -> Result<&str, ReadError> {
    let kept = bytes.get(..TEXT_MAX).unwrap_or(bytes);
    let (text, problem) = match str::from_utf8(kept) {
        Ok(text) if bytes.len() <= TEXT_MAX => return Ok(text),
        Ok(text) => (text, Problem::TextTooLong),
        Err(error) => {
            let read = kept.get(..error.valid_up_to()).unwrap_or_default();
            // Where the bound cuts a character in two, the text is too long and may be valid UTF-8.
            let cut = error.error_len().is_none() && bytes.len() > TEXT_MAX;
            let problem = if cut { Problem::TextTooLong } else { Problem::NotUtf8 };
            (str::from_utf8(read).unwrap_or_default(), problem)
        }
    };
    Err(Fault::new(text.len(), problem).locate(text))
}

/// `[Name "value"]`.
#[derive(Debug)]
pub(super) struct Tag<'a> {
    /// Where it begins.
    pub at: usize,
    pub name: &'a str,
    pub value: String,
    /// Where its value begins, after the quote.
    pub value_at: usize,
    /// The first control character of its value, which is refused only in a tag that is read.
    control_at: Option<usize>,
}

impl Tag<'_> {
    /// Checks the value of a tag that is read.
    fn check(&self) -> Result<(), Fault> {
        if let Some(at) = self.control_at {
            return Err(Fault::new(at, Problem::ControlCharacter));
        }
        if is_longer(&self.value, VALUE_MAX) {
            return Err(Fault::new(self.value_at, Problem::ValueTooLong));
        }
        Ok(())
    }
}

/// Whether a text has more than `max` characters.
pub(super) fn is_longer(text: &str, max: usize) -> bool {
    text.chars().nth(max).is_some()
}

/// Whether the value of a tag means "not known", as in PGN.
pub(super) fn is_unknown(value: &str) -> bool {
    matches!(value, "" | "?")
}

/// A text and how far it has been read. Every step moves forward, so every loop over it ends with the text.
#[derive(Debug)]
pub(super) struct Source<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Source<'a> {
    /// The whole text, without a byte order mark.
    pub fn new(text: &'a str) -> Self {
        let at = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        Self { text, at }
    }

    /// How many bytes have been read.
    pub const fn at(&self) -> usize {
        self.at
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Reads `token` if it comes next, and returns whether it did.
    pub fn eat(&mut self, token: &str) -> bool {
        let comes = self.rest().starts_with(token);
        if comes {
            self.at += token.len();
        }
        comes
    }

    /// Reads characters as long as `is_one` holds.
    pub fn take_while(&mut self, is_one: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !is_one(c)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    pub fn skip_blanks(&mut self) {
        self.take_while(char::is_whitespace);
    }

    /// Reads a remark from its opening mark, which comes next, to its closing mark. Remarks do not nest.
    pub fn skip_remark(&mut self, close: char) -> Result<(), Fault> {
        let at = self.at;
        self.bump();
        self.take_while(|c| c != close);
        self.bump().map(|_| ()).ok_or_else(|| Fault::new(at, Problem::UnclosedRemark { close }))
    }

    /// Reads a tag; its opening bracket comes next. Any blanks may separate its parts.
    pub fn tag(&mut self) -> Result<Tag<'a>, Fault> {
        let at = self.at;
        self.expect('[')?;
        self.skip_blanks();
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        if name.is_empty() {
            return Err(Fault::new(self.at, Problem::Tag));
        }
        self.skip_blanks();
        let quote = self.at;
        self.expect('"')?;
        let value_at = self.at;
        let (value, control_at) = self.quoted(quote)?;
        self.skip_blanks();
        self.expect(']')?;
        Ok(Tag { at, name, value, value_at, control_at })
    }

    fn expect(&mut self, mark: char) -> Result<(), Fault> {
        let at = self.at;
        if self.bump() == Some(mark) { Ok(()) } else { Err(Fault::new(at, Problem::Tag)) }
    }

    /// The value of a tag after its opening quote, and the place of its first control character. As in PGN, `\"` is a
    /// quote and `\\` a backslash; before any other character a backslash is literal.
    fn quoted(&mut self, quote: usize) -> Result<(String, Option<usize>), Fault> {
        let (mut value, mut control_at) = (String::new(), None);
        loop {
            let at = self.at;
            match self.bump() {
                Some('"') => return Ok((value, control_at)),
                Some('\\') if matches!(self.peek(), Some('"' | '\\')) => value.extend(self.bump()),
                None | Some('\n' | '\r') => return Err(Fault::new(quote, Problem::UnclosedText)),
                Some(c) => {
                    if c.is_control() {
                        control_at.get_or_insert(at);
                    }
                    value.push(c);
                }
            }
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }
}

/// Reads the tags at the beginning of a text, in any order, with blanks and comments between them. Only the tags in
/// `wanted` are checked and kept, and each of them may come once. Names are compared without regard to case.
pub(super) fn tags<'a>(source: &mut Source<'a>, wanted: &[&str]) -> Result<Tags<'a>, Fault> {
    let mut tags = Tags { kept: Vec::new() };
    loop {
        source.skip_blanks();
        match source.peek() {
            Some('{') => source.skip_remark('}')?,
            Some('[') => {
                let tag = source.tag()?;
                if tags.find(tag.name).is_some() {
                    return Err(Fault::new(tag.at, Problem::RepeatedTag { name: tag.name.to_owned() }));
                }
                if wanted.iter().any(|name| name.eq_ignore_ascii_case(tag.name)) {
                    tag.check()?;
                    tags.kept.push(tag);
                }
            }
            _ => return Ok(tags),
        }
    }
}

/// The tags of a text that the reader wants. They are few, so a list is searched.
#[derive(Debug)]
pub(super) struct Tags<'a> {
    kept: Vec<Tag<'a>>,
}

impl<'a> Tags<'a> {
    pub fn find(&self, name: &str) -> Option<&Tag<'a>> {
        self.kept.iter().find(|tag| tag.name.eq_ignore_ascii_case(name))
    }

    /// A tag, unless its value means "not known".
    pub fn text(&self, name: &str) -> Option<&Tag<'a>> {
        self.find(name).filter(|tag| !is_unknown(&tag.value))
    }
}

/// Writes `[Name "value"]` and ends the line.
pub(super) fn write_tag(f: &mut impl fmt::Write, name: &str, value: &str) -> fmt::Result {
    write!(f, "[{name} \"")?;
    for c in value.chars() {
        if matches!(c, '"' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    f.write_str("\"]\n")
}
