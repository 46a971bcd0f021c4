//! Parsers of values: origins, URLs, folders, networks and ports.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddrV6},
    path::PathBuf,
};

use ipnet::IpNet;

/// Where push services reach the operator.
pub type Contact = String;

/// A list of networks, which may be empty.
pub type Networks = Vec<IpNet>;

/// A list of ports.
pub type Ports = Vec<u16>;

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// An address without brackets, or a name.
    pub host: String,
    pub port: u16,
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

/// An address or a name, and a port.
pub(super) fn listen(text: &str) -> Result<Listen, String> {
    let read = || {
        let (host, port) = text.rsplit_once(':')?;
        let port = port.parse().ok().filter(|_| port.bytes().all(|byte| byte.is_ascii_digit()))?;
        let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match address {
            // An address with the zone of a link is accepted as well.
            Some(address) => text.parse::<SocketAddrV6>().ok().map(|_| address)?,
            None => is_host(host).then_some(host)?,
        };
        Some(Listen { host: host.to_owned(), port })
    };
    read().ok_or_else(|| "must look like 127.0.0.1:8080, [::1]:8080 or localhost:8080".to_owned())
}

/// An origin as browsers send it: scheme, host, and the port if it is not the scheme's own; or `*`.
pub(super) fn origin(text: &str) -> Result<String, String> {
    if text == "*" {
        return Ok(text.to_owned());
    }
    let text = text.to_lowercase();
    let wrong =
        || "an origin must look like https://play.example or http://localhost:5173, without a path; or *".to_owned();
    let (scheme, rest) = text.split_once("://").ok_or_else(wrong)?;
    let own_port = match scheme {
        "https" => 443,
        "http" => 80,
        _ => return Err(wrong()),
    };
    // Colons within brackets belong to the address.
    let (host, port) = match rest.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
        Some((host, port)) => (host, Some(port)),
        None => (rest, None),
    };
    if !is_host(host) {
        return Err(wrong());
    }
    let Some(port) = port else { return Ok(text) };
    match port.parse::<u16>() {
        Ok(number) if number == own_port => Err(format!("leave out the port {own_port} of {scheme}, as browsers do")),
        // As browsers write it: without a sign or leading zeros.
        Ok(number) if number > 0 && number.to_string() == port => Ok(text),
        _ => Err(wrong()),
    }
}

/// Whether this is a name, an IPv4 address, or an IPv6 address in brackets as browsers write it.
fn is_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return address.parse().is_ok_and(|parsed: Ipv6Addr| parsed.to_string() == address);
    }
    let is_label = |label: &str| {
        let is_word = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        is_word && !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
    };
    // A host that ends in a number is an IPv4 address (WHATWG URL).
    let is_number = host.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    host.len() <= HOST_BYTES_MAX && host.split('.').all(is_label) && (!is_number || host.parse::<Ipv4Addr>().is_ok())
}

/// The longest name in the DNS, in bytes.
const HOST_BYTES_MAX: usize = 253;

/// A URL of the service: scheme, host, optional port and path; without the trailing slash.
pub(super) fn public_url(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_url = rest.is_some_and(|rest| {
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let is_of = |text: &str, more: &[u8]| {
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte) || more.contains(&byte))
        };
        host.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '[')
            && is_of(host, b":[]")
            && is_of(path, b"/_~%")
    });
    if is_url {
        Ok(text.trim_end_matches('/').to_owned())
    } else {
        Err("a URL must look like https://api.example or http://localhost:8080/mancala, without query or user"
            .to_owned())
    }
}

/// Where push services reach the operator: an address of mail or of a page.
pub(super) fn contact(text: &str) -> Result<Contact, String> {
    let rest = text.strip_prefix("mailto:").filter(|mail| mail.contains('@')).or_else(|| text.strip_prefix("https://"));
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"');
    if rest.is_some_and(|rest| !rest.is_empty()) && is_plain {
        Ok(text.to_owned())
    } else {
        Err("must look like mailto:ops@play.example or https://play.example/contact".to_owned())
    }
}

/// The path of a folder. A URL is refused: it may hold a password, and would become the folder's name.
pub(super) fn folder(text: &str) -> Result<PathBuf, String> {
    if text.contains("://") || text.contains(|c: char| c.is_control()) {
        return Err("must be the path of a folder".to_owned());
    }
    Ok(PathBuf::from(text))
}

/// The calls of an app in a minute: 0 for the default, or several times what the most expensive call counts for.
pub(super) fn calls_per_minute(text: &str) -> Result<i32, String> {
    let calls = text.parse().ok().filter(|calls| *calls == 0 || (60..=10_000_000).contains(calls));
    calls.ok_or_else(|| "0, or at least 60 and at most 10000000".to_owned())
}

/// Networks in CIDR notation, separated by commas; an address alone is a network with one address.
pub(super) fn networks(text: &str) -> Result<Networks, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let network = |part: &str| part.parse().or_else(|_| part.parse().map(|address: IpAddr| IpNet::from(address)));
    let networks: Option<Networks> = parts.map(|part| network(part).ok()).collect();
    networks.ok_or_else(|| "each network must look like 10.0.0.0/8 or fd00::/8".to_owned())
}

/// The most ports in a list: more than one service needs.
const PORTS_MAX: usize = 16;

/// Ports, separated by commas; at least one.
pub(super) fn webhook_ports(text: &str) -> Result<Ports, String> {
    let ports = text.split(',').map(|part| part.trim().parse::<u16>().ok().filter(|port| *port > 0));
    let ports: Option<Ports> = ports.collect();
    let wrong = || format!("must be 1 to {PORTS_MAX} ports from 1 to 65535, such as 443,8443");
    ports.filter(|ports| ports.len() <= PORTS_MAX).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_or_a_name_is_listened_on() {
        for (text, host, port) in [
            ("127.0.0.1:8080", "127.0.0.1", 8080),
            ("0.0.0.0:0", "0.0.0.0", 0),
            ("[::1]:8080", "::1", 8080),
            ("[::]:443", "::", 443),
            ("localhost:8080", "localhost", 8080),
            ("api.play.example:80", "api.play.example", 80),
        ] {
            let read = listen(text).expect(text);
            assert_eq!((read.host.as_str(), read.port), (host, port));
            assert_eq!(read.to_string(), text);
        }
        for text in [
            "",
            "8080",
            "localhost",
            ":8080",
            "::1:8080",
            "[::1]",
            "127.0.0.1:",
            "127.0.0.1:+80",
            "a b:80",
            "1.2.3.999:80",
        ] {
            assert!(listen(text).is_err(), "{text}");
        }
    }
}
