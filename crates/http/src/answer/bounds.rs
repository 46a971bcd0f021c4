//! The bounds on the length of a failure's answer, which hold for every request.

/// The longest failure, in bytes.
pub const FAILURE_BYTES_MAX: usize = 32 * 1024;

/// The longest pointer and the longest detail of a failure, in characters: both may repeat what the request says. Names and
/// paths of the API are much shorter.
pub const TEXT_CHARS_MAX: usize = 200;

/// The text, or its beginning.
pub fn cut(text: impl Into<String>) -> String {
    let mut text = text.into();
    if text.len() > TEXT_CHARS_MAX && text.chars().nth(TEXT_CHARS_MAX).is_some() {
        let kept = text.char_indices().nth(TEXT_CHARS_MAX - 1).map_or(0, |(end, _)| end);
        text.truncate(kept);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_to_200_characters() {
        for text in ["", "short", &"x".repeat(200), &"ж".repeat(200)] {
            assert_eq!(cut(text), text);
        }
        assert_eq!(cut("x".repeat(201)), format!("{}…", "x".repeat(199)));
        assert_eq!(cut("🂡".repeat(65_000)).chars().count(), TEXT_CHARS_MAX);
    }
}
