//! E-mail addresses, as clients write them.

use mancala_domain::{EmailAddress, EmailAddressError};
use mancala_http::answer::problem::Problem;
use url::Host;

/// The longest text that is checked. In other scripts a domain has fewer characters than in ASCII, but not fewer bytes.
const BYTES_MAX: usize = 1024;

/// Reads the address in the field `email`. A domain in other scripts becomes ASCII (IDNA).
pub(super) fn read(text: &str) -> Result<EmailAddress, Problem> {
    parse(text).map_err(|error| Problem::invalid("/email", error.to_string()))
}

fn parse(text: &str) -> Result<EmailAddress, EmailAddressError> {
    if text.len() > BYTES_MAX {
        return Err(EmailAddressError::Length);
    }
    let (local, domain) = text.rsplit_once('@').ok_or(EmailAddressError::Domain)?;
    // The parser of hosts would decode percent signs, and drop tabs and line feeds.
    if domain.chars().any(|c| c == '%' || c.is_control() || c.is_whitespace()) {
        return Err(EmailAddressError::Domain);
    }
    match Host::parse(domain) {
        Ok(Host::Domain(domain)) => EmailAddress::new(local, &domain),
        _ => Err(EmailAddressError::Domain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_of_other_scripts_become_ascii() {
        fn read(text: &str) -> Result<String, EmailAddressError> {
            parse(text).map(|address| address.as_str().to_owned())
        }
        assert_eq!(read("Ana@Bücher.Example").as_deref(), Ok("Ana@xn--bcher-kva.example"));
        assert_eq!(read("ana@例え.example").as_deref(), Ok("ana@xn--r8jz45g.example"));
        for domain in
            ["[127.0.0.1]", "127.0.0.1", "a%2eexample", "a.ex\tample", "a. example", "a.example\n", "a/b.example", ""]
        {
            assert_eq!(read(&format!("ana@{domain}")), Err(EmailAddressError::Domain), "{domain:?}");
        }
        assert_eq!(read("ana"), Err(EmailAddressError::Domain));
        assert_eq!(read("a@b@play.example"), Err(EmailAddressError::Local));
        assert_eq!(read("ana\r\nBcc: bo@play.example"), Err(EmailAddressError::Local));
        assert_eq!(read(&format!("ana@{}.example", "ü".repeat(600))), Err(EmailAddressError::Length));
    }
}
