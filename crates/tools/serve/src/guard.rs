//! Requests that are refused, and the headers of every answer.

use crate::page::Refusal;
use hyper::StatusCode;
use hyper::header::{self, HeaderMap, HeaderValue};
use std::net::IpAddr;

/// Nothing is loaded from elsewhere, no other site may show a page in a frame, use its content, or
/// send a form. Figures have styles of their own, and are copied as images by way of `data:`.
const HEADERS: [(&str, &str); 4] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; \
         frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Returns why a request is refused: it was sent to a foreign name or by a page of another site.
pub(crate) fn refusal(headers: &HeaderMap, ours: IpAddr) -> Option<Refusal> {
    let (status, text) = if !is_ours(headers, ours) {
        let text = "Unknown host name: open the address that `steelbench serve` printed.";
        (StatusCode::MISDIRECTED_REQUEST, text)
    } else if is_used_by_others(headers) {
        (StatusCode::FORBIDDEN, "Other sites may link to this page but not load it.")
    } else {
        return None;
    };
    Some(Refusal::new(status, text))
}

/// Adds the headers of every answer.
pub(crate) fn protect(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Returns whether a page of another site embeds this one, as browsers report
/// (<https://www.w3.org/TR/fetch-metadata/>): it could not read the answer, but could make the
/// server build pages repeatedly and time it. Another port of this machine is the same site.
fn is_used_by_others(headers: &HeaderMap) -> bool {
    let is = |name: &str, values: &[&str]| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| values.contains(&value))
    };
    is("sec-fetch-site", &["cross-site", "same-site"]) && !is("sec-fetch-mode", &["navigate"])
}

/// Returns whether a request names this server. Another site's page can resolve its own name to
/// this machine (DNS rebinding) and would then be allowed to read our pages; but it cannot make the
/// browser send another name.
fn is_ours(headers: &HeaderMap, ours: IpAddr) -> bool {
    let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else {
        return false;
    };
    // The port may be another one: that of a tunnel.
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    if name.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    // Unlike a name, an address cannot be made to resolve to another machine.
    bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip == ours || ours.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::is_ours;
    use hyper::HeaderMap;
    use std::net::IpAddr;

    fn is_accepted(host: &str, ours: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert("host", host.parse().unwrap());
        is_ours(&headers, ours.parse::<IpAddr>().unwrap())
    }

    #[test]
    fn only_our_own_names_are_answered() {
        for host in
            ["localhost", "LOCALHOST:8421", "127.0.0.1:8421", "127.0.0.1", "[::1]:8421", "[::1]"]
        {
            assert!(is_accepted(host, "127.0.0.1"), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:80",
            "10.0.0.1:8421",
            "",
            "[::2]",
            ":",
        ] {
            assert!(!is_accepted(host, "127.0.0.1"), "{host}");
        }
        assert!(
            is_accepted("10.0.0.1:8421", "10.0.0.1") && !is_accepted("10.0.0.2:8421", "10.0.0.1")
        );
        assert!(is_accepted("10.0.0.2:8421", "0.0.0.0") && !is_accepted("a-name", "0.0.0.0"));
        assert!(!is_ours(&HeaderMap::new(), "127.0.0.1".parse().unwrap()));
    }
}
