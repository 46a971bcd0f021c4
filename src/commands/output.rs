//! Standard output.

use std::{fmt::Display, io::Write};

use super::failure::Failure;

/// Prints a text, and fails if standard output is closed.
pub fn print(text: &impl Display) -> Result<(), Failure> {
    let mut output = std::io::stdout();
    write!(output, "{text}").and_then(|()| output.flush()).map_err(Failure::new)
}

/// A count with its words: `of_one` for a count of one, `of_many` for all others.
pub fn counted(count: u64, of_one: &str, of_many: &str) -> String {
    format!("{count} {}", if count == 1 { of_one } else { of_many })
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_singular() {
        let said = [0, 1, 2].map(|count| counted(count, "game was", "games were"));
        assert_eq!(said, ["0 games were", "1 game was", "2 games were"]);
    }
}
