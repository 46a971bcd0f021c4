//! Reports: complaints of a player about another one, for the operators.

use std::{fmt, str::FromStr};

use thiserror::Error;

/// Why a player is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportReason {
    /// The moves seem to be another one's, such as a program's, or games are lost on purpose.
    Cheating,
    /// Threats or insults, also by offers and invitations.
    Harassment,
    /// The name offends, or pretends to be another player.
    Name,
    /// Games are held up on purpose.
    Stalling,
    /// Invitations and offers without end, or advertisement.
    Spam,
    /// The reason that the note gives.
    Other,
}

impl ReportReason {
    /// Every reason.
    pub const ALL: [ReportReason; 6] = [
        ReportReason::Cheating,
        ReportReason::Harassment,
        ReportReason::Name,
        ReportReason::Stalling,
        ReportReason::Spam,
        ReportReason::Other,
    ];

    /// The word for it, in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            ReportReason::Cheating => "cheating",
            ReportReason::Harassment => "harassment",
            ReportReason::Name => "name",
            ReportReason::Stalling => "stalling",
            ReportReason::Spam => "spam",
            ReportReason::Other => "other",
        }
    }

    /// The reason of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}

/// A text between players and operators: the note of a report, or the reason of an act. The text has 1 to 1,000 characters, without control
/// characters except line feeds and tabs, and is stored unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark(String);

impl Remark {
    /// The longest remark, in characters: half a page.
    pub const CHARS_MAX: usize = 1000;

    /// A stored text, which was accepted before.
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Remark {
    type Err = RemarkError;

    fn from_str(text: &str) -> Result<Self, RemarkError> {
        if text.is_empty() || text.chars().nth(Self::CHARS_MAX).is_some() {
            return Err(RemarkError::Length);
        }
        if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
            return Err(RemarkError::Control);
        }
        Ok(Self(text.to_owned()))
    }
}

/// Why a text is no remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RemarkError {
    /// The remark is empty or too long.
    #[error("such a text has 1 to 1,000 characters")]
    Length,
    /// The remark has a control character.
    #[error("such a text has no control characters but line feeds and tabs")]
    Control,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_names_its_reason_and_no_other() {
        for reason in ReportReason::ALL {
            assert_eq!(ReportReason::of_word(reason.as_str()), Some(reason));
        }
        assert_eq!(["", "Name", "bad"].map(ReportReason::of_word), [None; 3]);
    }

    #[test]
    fn a_remark_has_a_bound_and_no_control_characters() {
        for text in [".", "calls me names:\n\t\"…\"", &"𝄞".repeat(1000)] {
            assert_eq!(text.parse::<Remark>().expect("a remark").as_str(), text);
        }
        for text in ["", &"x".repeat(1001), &"x".repeat(1 << 20)] {
            assert_eq!(text.parse::<Remark>(), Err(RemarkError::Length));
        }
        for control in ['\0', '\r', '\u{1b}', '\u{7f}', '\u{85}'] {
            assert_eq!(format!("a{control}b").parse::<Remark>(), Err(RemarkError::Control), "{control:?}");
        }
    }
}
