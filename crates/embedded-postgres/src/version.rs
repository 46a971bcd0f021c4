//! PostgreSQL's major versions. Knows how they are written, and not where programs lie.

/// The oldest major version that a new database is created with: the oldest that the server is tested with.
pub(crate) const MAJOR_MIN: u32 = 15;

/// The major version in a line such as `postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)` or `15`.
pub(crate) fn parse_major(text: &str) -> Option<u32> {
    let number = text.strip_prefix("postgres (PostgreSQL) ").unwrap_or(text).trim_start();
    let digits = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
    number[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_parsed_from_programs_and_files() {
        assert_eq!(parse_major("postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)\n"), Some(15));
        assert_eq!(parse_major("postgres (PostgreSQL) 19beta1\n"), Some(19));
        assert_eq!(parse_major("18\n"), Some(18));
        assert_eq!(parse_major("9.6\n"), Some(9));
        assert_eq!(parse_major("pgbouncer 1.2\n"), None);
        assert_eq!(parse_major(""), None);
    }
}
