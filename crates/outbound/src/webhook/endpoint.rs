//! The URL of an endpoint: parsed, and checked against the allowed addresses.

use std::net::IpAddr;

use thiserror::Error;
use url::{Host, Url};

use super::address::is_public;

/// The longest URL, in bytes: more than real endpoints need.
pub const URL_BYTES_MAX: usize = 2048;

/// Which addresses are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Public addresses at these ports, over TLS.
    Public(Ports),
    /// All addresses and ports, with or without TLS: for tests, and where all players are trusted.
    Anywhere,
}

/// The most ports that an operator allows.
pub const PORTS_MAX: usize = 16;

/// The allowed ports. Behind others, services of other kinds listen, to which nothing is sent on a player's behalf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports([u16; PORTS_MAX]);

impl Ports {
    /// The port of HTTPS alone.
    pub const HTTPS: Self = Self([443; PORTS_MAX]);

    /// A set of these ports; `None` if there are too many, or none.
    pub fn new(ports: &[u16]) -> Option<Self> {
        let first = *ports.first()?;
        let mut all = [first; PORTS_MAX];
        all.get_mut(..ports.len())?.copy_from_slice(ports);
        Some(Self(all))
    }

    fn contain(&self, port: u16) -> bool {
        self.0.contains(&port)
    }
}

/// Why a URL is refused as an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EndpointError {
    #[error("the URL must have at most {URL_BYTES_MAX} bytes")]
    TooLong,
    #[error("the URL must look like https://example.com/notices")]
    Unreadable,
    #[error("the URL must begin with https://")]
    Scheme,
    #[error("the URL must have no user and no password: put a secret into its path or query")]
    User,
    #[error("the URL must have no fragment")]
    Fragment,
    #[error("the address must be public")]
    NotPublic,
    #[error("the server sends only to ports that its operator allows; leave the port out for 443")]
    Port,
}

/// An allowed URL. The addresses of its host name are checked with each attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint(Url);

/// Host names and top-level domains that are never public.
const PRIVATE_NAMES: [&str; 6] = ["localhost", "local", "internal", "intranet", "lan", "home.arpa"];

impl Endpoint {
    /// Parses a URL as browsers do: the hosts `0x7f.1` and `2130706433` are 127.0.0.1.
    pub fn parse(text: &str, reach: Reach) -> Result<Self, EndpointError> {
        if text.len() > URL_BYTES_MAX {
            return Err(EndpointError::TooLong);
        }
        // The parser would silently remove blanks and line breaks.
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(EndpointError::Unreadable);
        }
        let url = Url::parse(text).map_err(|_| EndpointError::Unreadable)?;
        match (url.scheme(), reach) {
            ("https", _) | ("http", Reach::Anywhere) => {}
            _ => return Err(EndpointError::Scheme),
        }
        if let Reach::Public(ports) = reach
            && !url.port_or_known_default().is_some_and(|port| ports.contain(port))
        {
            return Err(EndpointError::Port);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(EndpointError::User);
        }
        if url.fragment().is_some() {
            return Err(EndpointError::Fragment);
        }
        // Percent-encoding has made non-ASCII characters longer.
        if url.as_str().len() > URL_BYTES_MAX {
            return Err(EndpointError::TooLong);
        }
        let is_allowed = reach == Reach::Anywhere
            || match url.host().ok_or(EndpointError::Unreadable)? {
                Host::Ipv4(address) => is_public(IpAddr::V4(address)),
                Host::Ipv6(address) => is_public(IpAddr::V6(address)),
                Host::Domain(name) => {
                    let name = name.trim_end_matches('.');
                    let is_below = |top: &str| name == top || name.ends_with(&format!(".{top}"));
                    name.contains('.') && !PRIVATE_NAMES.iter().any(|top| is_below(top))
                }
            };
        if is_allowed { Ok(Self(url)) } else { Err(EndpointError::NotPublic) }
    }

    pub const fn url(&self) -> &Url {
        &self.0
    }
}

/// The host of a URL, with its port unless that is the usual one.
pub fn host_of(url: &Url) -> Option<String> {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{}{port}", url.host_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_over_tls_are_endpoints() {
        use EndpointError::{Fragment, NotPublic, Port, Scheme, TooLong, Unreadable, User};
        const PUBLIC: Reach = Reach::Public(Ports::HTTPS);
        for (text, error) in [
            ("", Unreadable),
            ("example.com", Unreadable),
            ("/notices", Unreadable),
            ("https://", Unreadable),
            ("https:// example.com", Unreadable),
            ("https://exam\nple.com", Unreadable),
            ("https://1.2.3.4.5", Unreadable),
            ("http://example.com", Scheme),
            ("http://169.254.169.254/latest/meta-data", Scheme),
            ("ftp://example.com", Scheme),
            ("file:///etc/passwd", Scheme),
            ("gopher://example.com", Scheme),
            ("data:text/plain,a", Scheme),
            ("https://user@example.com", User),
            ("https://user:word@example.com", User),
            ("https://:word@example.com", User),
            ("https://example.com/#a", Fragment),
            ("https://169.254.169.254/", NotPublic),
            ("https://localhost/", NotPublic),
            ("https://LOCALHOST./", NotPublic),
            ("https://a.localhost/", NotPublic),
            ("https://printer.local/", NotPublic),
            ("https://metadata.google.internal/", NotPublic),
            ("https://postgres/", NotPublic),
            ("https://127.0.0.1/", NotPublic),
            ("https://127.1/", NotPublic),
            ("https://2130706433/", NotPublic),
            ("https://0x7f000001/", NotPublic),
            ("https://0x7f.1/", NotPublic),
            ("https://017700000001/", NotPublic),
            ("https://0/", NotPublic),
            ("https://0.0.0.0/", NotPublic),
            ("https://10.0.0.1/", NotPublic),
            ("https://10.0.0.1:8443/", Port),
            ("https://example.com:8443/", Port),
            ("https://example.com:22/", Port),
            ("https://example.com:0/", Port),
            ("https://[::1]/", NotPublic),
            ("https://[::]/", NotPublic),
            ("https://[::ffff:10.0.0.1]/", NotPublic),
            ("https://[::ffff:a9fe:a9fe]/", NotPublic),
            ("https://[64:ff9b::7f00:1]/", NotPublic),
            ("https://[fd00:ec2::254]/", NotPublic),
            ("https://[fe80::1]/", NotPublic),
            ("https://①②⑦.⓪.⓪.①/", NotPublic),
            ("https://127。0。0。1/", NotPublic),
        ] {
            assert_eq!(Endpoint::parse(text, PUBLIC), Err(error), "{text}");
        }
        assert_eq!(Endpoint::parse(&format!("https://example.com/{}", "a".repeat(3000)), PUBLIC), Err(TooLong));
        assert_eq!(Endpoint::parse(&format!("https://example.com/{}", "é".repeat(700)), PUBLIC), Err(TooLong));
        for text in
            ["https://example.com", "https://example.com:443/a?b=c", "https://8.8.8.8/", "https://[2606:4700::1111]/"]
        {
            assert!(Endpoint::parse(text, PUBLIC).is_ok(), "{text}");
        }
        let more = Reach::Public(Ports::new(&[443, 8443]).expect("few ports"));
        assert!(Endpoint::parse("https://example.com:8443/a", more).is_ok());
        assert_eq!(Endpoint::parse("https://example.com:8444/a", more), Err(Port));
        assert_eq!((Ports::new(&[]), Ports::new(&[443; PORTS_MAX + 1])), (None, None));
        for text in ["http://127.0.0.1:1/", "http://localhost/", "https://10.0.0.1/"] {
            assert!(Endpoint::parse(text, Reach::Anywhere).is_ok(), "{text}");
        }
        assert_eq!(Endpoint::parse("ftp://127.0.0.1/", Reach::Anywhere), Err(Scheme));
    }
}
