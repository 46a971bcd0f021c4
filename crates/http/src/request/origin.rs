//! Where clients reach the service, for addresses that stand outside of any page: previews of links need whole ones.

use actix_web::{HttpRequest, http::header, web::Data};

/// The longest host in a request that is used: a name of the DNS and a port.
const HOST_BYTES_MAX: usize = 260;

/// The operator's setting of the URL by which clients reach the service.
#[derive(Clone, Debug)]
pub struct PublicUrl(pub Option<String>);

/// The URL of the service, without a slash at the end: the operator's setting, or else the host that the request names, by plain HTTP.
/// `None` if it names none.
pub fn base_url(request: &HttpRequest) -> Option<String> {
    if let Some(url) = request.app_data::<Data<PublicUrl>>().and_then(|url| url.0.clone()) {
        return Some(url);
    }
    let host = request.headers().get(header::HOST)?.to_str().ok()?;
    let is_host = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte));
    (is_host && !host.is_empty() && host.len() <= HOST_BYTES_MAX).then(|| format!("http://{host}"))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn the_operators_url_comes_before_the_host_of_the_request() {
        let request = || TestRequest::get().insert_header((header::HOST, "play.example:8080"));
        assert_eq!(base_url(&request().to_http_request()).as_deref(), Some("http://play.example:8080"));
        let set = Data::new(PublicUrl(Some("https://api.example/mancala".to_owned())));
        assert_eq!(
            base_url(&request().app_data(set).to_http_request()).as_deref(),
            Some("https://api.example/mancala")
        );
        let unset = Data::new(PublicUrl(None));
        assert_eq!(base_url(&request().app_data(unset).to_http_request()).as_deref(), Some("http://play.example:8080"));
    }

    #[test]
    fn a_host_that_is_none_is_not_used() {
        for host in ["", "a\"b", "a b", "a/b", "a?b", "<a>", &"a".repeat(261)] {
            let request = TestRequest::get().insert_header((header::HOST, host)).to_http_request();
            assert_eq!(base_url(&request), None, "{host}");
        }
    }
}
