//! The client's address: the peer of the connection, or the client that a trusted proxy names.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use actix_web::{
    HttpMessage,
    body::MessageBody,
    dev::{ServiceRequest, ServiceResponse},
    http::header::{FORWARDED, HeaderMap, HeaderValue, X_FORWARDED_FOR, X_FORWARDED_HOST, X_FORWARDED_PROTO},
    middleware::Next,
    web::Data,
};
use ipnet::IpNet;

/// Networks of trusted proxies.
pub struct TrustedProxies(pub Vec<IpNet>);

/// The address that a request comes from.
#[derive(Clone, Copy)]
struct ClientAddress(IpAddr);

/// Determines the client's address, and removes all headers about it. All later readers, such as the log, see this address.
pub async fn identify(
    mut request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, actix_web::Error> {
    let trusted = request.app_data::<Data<TrustedProxies>>().expect("every app is built with its list of them");
    let peer = request.peer_addr().map_or(Ipv6Addr::UNSPECIFIED.into(), |peer| peer.ip());
    let client = client(peer, request.headers(), &trusted.0);
    for name in [FORWARDED, X_FORWARDED_FOR, X_FORWARDED_HOST, X_FORWARDED_PROTO] {
        request.headers_mut().remove(name);
    }
    if client != peer {
        let client = HeaderValue::from_str(&client.to_string()).expect("an address is a header value");
        request.headers_mut().insert(X_FORWARDED_FOR, client);
    }
    request.extensions_mut().insert(ClientAddress(client));
    next.call(request).await
}

/// The address of a request's client.
pub fn client_address(request: &impl HttpMessage) -> IpAddr {
    request.extensions().get::<ClientAddress>().expect("every request is looked at when it comes").0
}

/// The client's address.
///
/// Any client can send `Forwarded` (RFC 7239) or `X-Forwarded-For`, so they count only if `peer` is trusted. They are read
/// from the right, where the last proxy wrote, up to the first address that is not trusted.
///
/// Most proxies write one of the two headers and pass the other on as the client sent it. Where they name different clients,
/// neither counts. An unreadable header does not count either. Without a header that counts, `peer` is the client.
fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let peer = peer.to_canonical();
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(&address));
    if !is_trusted(peer) {
        return peer;
    }
    let by_forwarded = headers.contains_key(FORWARDED).then(|| first_untrusted(forwarded(headers), is_trusted));
    let by_x_forwarded_for =
        headers.contains_key(X_FORWARDED_FOR).then(|| first_untrusted(x_forwarded_for(headers), is_trusted));
    let client = match (by_forwarded, by_x_forwarded_for) {
        (Some(client), None) | (None, Some(client)) => client,
        (Some(one), Some(other)) => one.filter(|_| one == other),
        (None, None) => None,
    };
    client.unwrap_or(peer)
}

/// The first address of a chain that is not trusted, or else the chain's end. `None` if an address up to there is unreadable.
/// The chain begins with the last proxy.
fn first_untrusted(chain: impl Iterator<Item = Option<IpAddr>>, is_trusted: impl Fn(IpAddr) -> bool) -> Option<IpAddr> {
    let mut client = None;
    for address in chain {
        let address = address?.to_canonical();
        client = Some(address);
        if !is_trusted(address) {
            break;
        }
    }
    client
}

/// The addresses in `X-Forwarded-For`, the last first; `None` for text that is no address.
fn x_forwarded_for(headers: &HeaderMap) -> impl Iterator<Item = Option<IpAddr>> {
    headers.get_all(X_FORWARDED_FOR).rev().flat_map(|line| {
        let line = line.to_str().unwrap_or("unreadable");
        line.rsplit(',').map(str::trim).filter(|text| !text.is_empty()).map(address)
    })
}

/// The addresses in `Forwarded`, the last first; `None` for text that is no address. A line that breaks the grammar is one
/// `None`. Otherwise a client that writes the line's beginning could hide its end in quotation marks.
fn forwarded(headers: &HeaderMap) -> impl Iterator<Item = Option<IpAddr>> {
    headers.get_all(FORWARDED).rev().flat_map(|line| {
        let addresses = line.to_str().ok().and_then(elements).unwrap_or_else(|| vec![None]);
        addresses.into_iter().rev()
    })
}

/// The `for` of each element of a line; `None` if the line breaks the grammar of RFC 7239, section 4.
fn elements(line: &str) -> Option<Vec<Option<IpAddr>>> {
    let mut elements = vec![];
    let mut rest = line.trim();
    while !rest.is_empty() {
        let mut named = vec![];
        let mut pairs = 0;
        while !rest.is_empty() && !rest.starts_with(',') {
            if let Some(after) = rest.strip_prefix(';') {
                rest = after.trim_start();
                continue;
            }
            let (name, value, after) = pair(rest)?;
            pairs += 1;
            if name.eq_ignore_ascii_case("for") {
                named.push(value);
            }
            rest = after.trim_start();
            if !(rest.is_empty() || rest.starts_with([',', ';'])) {
                return None;
            }
        }
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        if pairs > 0 {
            elements.push(if let [one] = named.as_slice() { address(one) } else { None });
        }
    }
    Some(elements)
}

/// Parses the `name=value` at the beginning of a text. Returns the name, the value without its quotation marks, and the rest.
fn pair(text: &str) -> Option<(&str, String, &str)> {
    let (name, after) = token(text)?;
    let after = after.strip_prefix('=')?;
    let Some(quoted) = after.strip_prefix('"') else {
        let (value, after) = token(after)?;
        return Some((name, value.to_owned(), after));
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((name, value, &quoted[at + 1..])),
            '\\' => value.push(characters.next()?.1),
            _ => value.push(character),
        }
    }
    None
}

/// Parses the token (RFC 9110, section 5.6.2) at the beginning of a text. Returns it and the rest.
fn token(text: &str) -> Option<(&str, &str)> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(character);
    let end = text.find(|character| !is_part(character)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// An address as proxies write it: with or without a port, IPv6 also in brackets. Names and `unknown` are no addresses.
fn address(text: &str) -> Option<IpAddr> {
    let bare = || text.parse().ok();
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6);
    let with_port = || text.parse().ok().map(|address: SocketAddr| address.ip());
    bare().or_else(bracketed).or_else(with_port)
}

#[cfg(test)]
mod tests {
    use actix_web::{
        App, HttpRequest,
        http::header::HeaderName,
        middleware::from_fn,
        test::{TestRequest, call_and_read_body, init_service},
        web,
    };

    use super::*;

    const PROXY: &str = "10.0.0.1";

    /// The client's address, if `peer` sends these headers. Trusted proxies are in `10.0.0.0/8` and `fd00::/8`.
    #[track_caller]
    fn client_of(peer: &str, lines: &[(&'static str, &str)]) -> String {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).expect("a header's value"));
        }
        let trusted = ["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().expect("a network"));
        client(peer.parse().expect("an address"), &headers, &trusted).to_string()
    }

    #[test]
    fn an_untrusted_peer_is_the_client_despite_its_headers() {
        for lines in [[("forwarded", "for=192.0.2.7")], [("x-forwarded-for", "192.0.2.7")]] {
            assert_eq!(client_of("198.51.100.1", &lines), "198.51.100.1");
            assert_eq!(client_of("::ffff:198.51.100.1", &lines), "198.51.100.1");
        }
        assert_eq!(client_of(PROXY, &[]), PROXY);
    }

    #[test]
    fn a_proxy_names_the_client_in_either_header() {
        for (name, value, client) in [
            ("x-forwarded-for", "192.0.2.7", "192.0.2.7"),
            ("x-forwarded-for", "192.0.2.7:4711", "192.0.2.7"),
            ("x-forwarded-for", "2001:db8::7", "2001:db8::7"),
            ("x-forwarded-for", "[2001:db8::7]:4711", "2001:db8::7"),
            ("x-forwarded-for", "::ffff:192.0.2.7", "192.0.2.7"),
            ("x-forwarded-for", "192.0.2.7, , 10.2.2.2", "192.0.2.7"),
            ("x-forwarded-for", "10.3.3.3, 10.2.2.2", "10.3.3.3"),
            ("forwarded", "for=192.0.2.7", "192.0.2.7"),
            ("forwarded", "For=\"192.0.2.7:4711\";Proto=https; by=10.0.0.1", "192.0.2.7"),
            ("forwarded", "for=\"[2001:db8::7]\"", "2001:db8::7"),
            ("forwarded", "for=\"[2001:db8::7]:4711\", for=10.2.2.2,for=\"[fd00::1]\"", "2001:db8::7"),
            ("forwarded", "for=\"192.0.2\\.7\"", "192.0.2.7"),
        ] {
            assert_eq!(client_of(PROXY, &[(name, value)]), client, "{name}: {value}");
            assert_eq!(client_of("::ffff:10.0.0.1", &[(name, value)]), client, "{name}: {value}");
        }
        assert_eq!(client_of(PROXY, &[("x-forwarded-for", "192.0.2.7"), ("x-forwarded-for", "10.2.2.2")]), "192.0.2.7");
        assert_eq!(client_of(PROXY, &[("forwarded", "for=192.0.2.7"), ("forwarded", "for=10.2.2.2")]), "192.0.2.7");
    }

    #[test]
    fn an_address_that_the_client_wrote_itself_does_not_count() {
        for (name, value) in [
            ("x-forwarded-for", "203.0.113.9, 192.0.2.7"),
            ("x-forwarded-for", "10.9.9.9, 192.0.2.7, 10.2.2.2"),
            ("x-forwarded-for", "nonsense, 192.0.2.7"),
            ("forwarded", "for=203.0.113.9, for=192.0.2.7"),
            ("forwarded", "for=unknown, for=192.0.2.7;by=10.0.0.1"),
        ] {
            assert_eq!(client_of(PROXY, &[(name, value)]), "192.0.2.7", "{name}: {value}");
        }
        // The client wrote the header that the proxy does not know.
        let both = [("forwarded", "for=203.0.113.9"), ("x-forwarded-for", "192.0.2.7")];
        assert_eq!(client_of(PROXY, &both), PROXY);
        let both = [("forwarded", "for=192.0.2.7"), ("x-forwarded-for", "192.0.2.7")];
        assert_eq!(client_of(PROXY, &both), "192.0.2.7");
        // The proxy has added a line after one with an open quotation mark.
        let lines = [("forwarded", "for=203.0.113.9;x=\""), ("forwarded", "for=192.0.2.7;by=\"10.0.0.1\"")];
        assert_eq!(client_of(PROXY, &lines), "192.0.2.7");
    }

    #[test]
    fn an_unreadable_header_leaves_the_proxy_as_the_client() {
        for (name, value) in [
            ("x-forwarded-for", ""),
            ("x-forwarded-for", "unknown"),
            ("x-forwarded-for", "192.0.2.7, nonsense"),
            ("x-forwarded-for", "192.0.2"),
            ("x-forwarded-for", "[192.0.2.7]"),
            ("forwarded", ""),
            ("forwarded", "for=unknown"),
            ("forwarded", "for=_hidden"),
            ("forwarded", "proto=https"),
            ("forwarded", "for=192.0.2.7;for=192.0.2.8"),
            ("forwarded", "for=2001:db8::7"),
            ("forwarded", "for=192.0.2.7, for=\"10.2.2.2"),
            ("forwarded", "for=192.0.2.7;x=\", for=\"[2001:db8::7]\""),
            ("forwarded", "for = 192.0.2.7"),
            ("forwarded", "192.0.2.7"),
        ] {
            assert_eq!(client_of(PROXY, &[(name, value)]), PROXY, "{name}: {value}");
        }
    }

    /// Answers with the address that the log would show.
    async fn show(request: HttpRequest) -> String {
        request.connection_info().realip_remote_addr().unwrap_or_default().to_owned()
    }

    #[actix_web::test]
    async fn all_later_readers_see_the_same_address() {
        let trusted = TrustedProxies(vec!["10.0.0.0/8".parse().expect("a network")]);
        let app = App::new().app_data(Data::new(trusted)).route("/", web::get().to(show)).wrap(from_fn(identify));
        let app = init_service(app).await;
        for (peer, header, shown) in [
            ("198.51.100.1:80", "forwarded", "198.51.100.1"),
            ("198.51.100.1:80", "x-forwarded-for", "198.51.100.1"),
            ("10.0.0.1:80", "x-forwarded-for", "192.0.2.7"),
        ] {
            let value = if header == "forwarded" { "for=203.0.113.9" } else { "203.0.113.9, 192.0.2.7" };
            let request =
                TestRequest::get().peer_addr(peer.parse().expect("an address")).insert_header((header, value));
            assert_eq!(call_and_read_body(&app, request.to_request()).await, shown);
        }
    }
}
