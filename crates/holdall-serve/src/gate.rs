//! Requests that are let in: from the page of this server, with its token, for reading.

use hyper::header::{self, HeaderMap};
use hyper::{Method, Request, StatusCode};

use crate::reply::Failure;

/// Refuses requests that do not come from a page of this machine's loopback interface.
///
/// A page of another site whose name leads here (DNS rebinding) has that name in `Host`; one that sends requests across sites is named by the
/// browser in `Sec-Fetch-Site`. The page itself may be opened from anywhere, and where `may_be_framed` by a page around it; the policy names which.
pub(crate) fn check<B>(request: &Request<B>, may_be_framed: bool, hosts: &[String]) -> Result<(), Failure> {
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        return Err(Failure::new(StatusCode::METHOD_NOT_ALLOWED, "files are only read here: GET or HEAD"));
    }
    let mut named = request.headers().get_all(header::HOST).iter();
    let host = named.next().and_then(|host| host.to_str().ok());
    if named.next().is_some()
        || !host.is_some_and(|host| is_loopback(host) || hosts.iter().any(|known| has_name(host, known)))
    {
        return Err(Failure::new(StatusCode::MISDIRECTED_REQUEST, "this server is 127.0.0.1 or localhost")
            .with_hint("to reach it from another machine, ssh -L"));
    }
    let site = request.headers().get("sec-fetch-site");
    let to = request.headers().get("sec-fetch-dest");
    // A click on the address in another page opens the page itself, which has no data.
    let is_opened = to.is_some_and(|to| to == "document" || (may_be_framed && to == "iframe"));
    if !(is_opened && request.uri().path() == "/")
        && site.is_some_and(|site| site != "same-origin" && site != "none")
    {
        return Err(Failure::new(StatusCode::FORBIDDEN, "Permission denied: a page of another site asks"));
    }
    Ok(())
}

/// Refuses requests without the token.
pub(crate) fn check_token(headers: &HeaderMap, token: &str) -> Result<(), Failure> {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    // Every byte is compared, so that the time says nothing of the token.
    let differs = given.bytes().zip(token.bytes()).fold(0, |found, (a, b)| found | (a ^ b));
    if given.len() != token.len() || differs != 0 {
        return Err(Failure::new(StatusCode::UNAUTHORIZED, "the token is missing or another one")
            .with_hint("open the address that holdall serve has printed"));
    }
    Ok(())
}

/// True for `127.0.0.1`, `localhost` and `[::1]`.
fn is_loopback(host: &str) -> bool {
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| has_name(host, name))
}

/// True for a name with any port or none: a tunnel may have another one.
fn has_name(host: &str, name: &str) -> bool {
    let is_port = |rest: &str| {
        let digits = rest.strip_prefix(':');
        rest.is_empty() || digits.is_some_and(|digits| digits.parse::<u16>().is_ok())
    };
    let start = host.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    start && host.get(name.len()..).is_some_and(is_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_the_loopback_interface_are_let_in() {
        for host in ["127.0.0.1", "127.0.0.1:80", "localhost:65535", "LOCALHOST", "[::1]:8080"] {
            assert!(is_loopback(host), "{host}");
        }
        let others = [
            "",
            "127.0.0.1.evil.example",
            "localhost.evil.example:80",
            "evil.example",
            "127.0.0.1:",
            "127.0.0.1:x",
        ];
        for host in
            others.into_iter().chain(["127.0.0.1:65536", "[::1]x", "127.0.0.2", "localhost@evil.example"])
        {
            assert!(!is_loopback(host), "{host}");
        }
    }

    fn status(changes: &[(&'static str, &str)], method: Method) -> Option<u16> {
        let mut request = Request::builder().method(method);
        for (name, value) in changes {
            request = request.header(*name, *value);
        }
        check(&request.body(()).unwrap(), false, &[]).err().map(|failure| failure.status.as_u16())
    }

    #[test]
    fn other_sites_names_and_methods_are_refused() {
        let host = ("host", "127.0.0.1:1");
        assert_eq!(status(&[host], Method::GET), None);
        assert_eq!(status(&[host, ("sec-fetch-site", "same-origin")], Method::HEAD), None);
        assert_eq!(status(&[host, ("sec-fetch-site", "none")], Method::GET), None);
        for site in ["cross-site", "same-site", "", "None"] {
            assert_eq!(status(&[host, ("sec-fetch-site", site)], Method::GET), Some(403), "{site}");
        }
        assert_eq!(status(&[("host", "rebound.example:1")], Method::GET), Some(421));
        assert_eq!(status(&[host, ("host", "rebound.example")], Method::GET), Some(421));
        assert_eq!(status(&[], Method::GET), Some(421));
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS, Method::PATCH] {
            assert_eq!(status(&[host], method), Some(405));
        }
    }

    #[test]
    fn a_frame_of_another_site_may_ask_for_the_page_alone() {
        let asked = |path: &str, to: &str, may_be_framed| {
            let request =
                Request::get(path).header("host", "localhost").header("sec-fetch-site", "cross-site");
            check(&request.header("sec-fetch-dest", to).body(()).unwrap(), may_be_framed, &[]).is_ok()
        };
        assert!(asked("/", "iframe", true));
        assert!(!asked("/", "iframe", false));
        assert!(asked("/", "document", false));
        assert!(!asked("/", "empty", true));
        assert!(!asked("/api/files", "document", true));
        assert!(!asked("/api/files", "iframe", true));
    }

    #[test]
    fn a_proxy_may_have_a_name_of_its_own() {
        let asked = |host: &str| {
            let request = Request::get("/").header("host", host).body(()).unwrap();
            check(&request, false, &["hub.example.org".to_owned()]).is_ok()
        };
        assert!(asked("hub.example.org") && asked("HUB.example.org:8000") && asked("localhost"));
        assert!(!asked("hub.example.org.evil.example") && !asked("example.org"));
    }

    #[test]
    fn the_token_is_compared_whole() {
        let of = |value: &str| {
            let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value.parse().unwrap())]);
            check_token(&headers, "00ff").is_ok()
        };
        assert!(of("Bearer 00ff"));
        for other in
            ["Bearer 00fe", "Bearer 00f", "Bearer 00ff0", "bearer 00ff", "00ff", "", "Bearer ", "Basic 00ff"]
        {
            assert!(!of(other), "{other}");
        }
        assert!(check_token(&HeaderMap::new(), "00ff").is_err());
    }
}
