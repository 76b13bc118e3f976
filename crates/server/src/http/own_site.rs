//! Check that a request comes from a client, or from a page of this server, and not from a page of another site. A
//! browser sends what such a page wants, and from where an operator's browser can reach.
//!
//! A page of another site is told by `Origin` or `Sec-Fetch-Site`. A page whose name was made to mean this server's
//! address (DNS rebinding) is told by `Host`, which names the page's own site.

use std::{
    net::{Ipv4Addr, Ipv6Addr},
    sync::Arc,
};

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Version, header};
use sequent_engine::config::ListenSection;

use crate::error::ApiError;

static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
static SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Names under which a server may be called, and pages that may call it. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnSite(Arc<Names>);

#[derive(Debug, Default)]
struct Names {
    hosts: Vec<String>,
    origins: Vec<String>,
}

/// What the headers of a request say.
#[derive(Default)]
struct Said<'a> {
    host: Option<&'a HeaderValue>,
    hosts: usize,
    origin: Option<&'a HeaderValue>,
    site: Option<&'a HeaderValue>,
    /// Whether a transfer coding other than one `chunked` is named.
    is_coded: bool,
    codings: usize,
}

impl OwnSite {
    pub(crate) fn new(listen: &ListenSection) -> Self {
        Self(Arc::new(Names { hosts: listen.hosts.clone(), origins: listen.origins.clone() }))
    }

    /// The error of a request that is refused. It costs no allocation for one that is not.
    pub(crate) fn refusal<B>(&self, request: &Request<B>) -> Option<ApiError> {
        let said = Said::of(request.headers());
        if said.is_coded || said.codings > 1 {
            let coding = request.headers().get(header::TRANSFER_ENCODING);
            let error = ApiError::field("transfer-encoding", &shown(coding), "chunked, once, is expected");
            return Some(error);
        }
        let is_required = request.version() >= Version::HTTP_11;
        if said.hosts > 1 || said.hosts == 0 && is_required {
            let found = if said.hosts == 0 { "missing" } else { "there more than once" };
            return Some(ApiError::field("host", found, "one is expected"));
        }
        // A request in absolute form names its host in both places.
        let authority = request.uri().authority().map(|authority| authority.as_str().as_bytes());
        let hosts = [said.host.map(HeaderValue::as_bytes), authority];
        if let Some(host) = hosts.into_iter().flatten().find(|host| !self.is_own(host)) {
            let bound = "an IP address, localhost or a name of listen.hosts is expected";
            return Some(ApiError::denied("host", &String::from_utf8_lossy(host), bound));
        }
        match said.origin {
            Some(origin) if !self.is_own_origin(origin.as_bytes(), said.host) => {
                let bound = "no page of another site may ask, unless listen.origins has it";
                Some(ApiError::denied("origin", &shown(Some(origin)), bound))
            }
            Some(_) => None,
            None => said.site.filter(|site| !is_own_page(site, request)).map(|site| {
                let bound = "same-origin or none is expected: no page of another site may ask";
                ApiError::denied("sec-fetch-site", &shown(Some(site)), bound)
            }),
        }
    }

    /// Whether the server may be called so: by an address, which no page of another site has as its name, or by a name
    /// of its own.
    fn is_own(&self, host: &[u8]) -> bool {
        let Some(name) = std::str::from_utf8(host).ok().and_then(without_port) else { return false };
        if let Some(six) = name.strip_prefix('[') {
            return six.strip_suffix(']').is_some_and(|six| six.parse::<Ipv6Addr>().is_ok());
        }
        let is_named = |own: &String| match own.strip_prefix('*') {
            // At least one character stands for the asterisk.
            Some(end) => {
                name.len() > end.len() && name.is_char_boundary(name.len() - end.len()) && {
                    name[name.len() - end.len()..].eq_ignore_ascii_case(end)
                }
            }
            None => name.eq_ignore_ascii_case(own),
        };
        name.parse::<Ipv4Addr>().is_ok()
            || name.eq_ignore_ascii_case("localhost")
            || self.0.hosts.iter().any(is_named)
    }

    /// Whether a page is this server's, by its host, or may ask.
    fn is_own_origin(&self, origin: &[u8], host: Option<&HeaderValue>) -> bool {
        let rest = origin.strip_prefix(b"http://").or_else(|| origin.strip_prefix(b"https://"));
        let is_own = rest.zip(host).is_some_and(|(rest, host)| rest.eq_ignore_ascii_case(host.as_bytes()));
        is_own || self.0.origins.iter().any(|own| origin.eq_ignore_ascii_case(own.as_bytes()))
    }
}

impl<'a> Said<'a> {
    /// One look at each header: most requests have few.
    fn of(headers: &'a HeaderMap) -> Self {
        let mut said = Self::default();
        for (name, value) in headers {
            if *name == header::HOST {
                said.host = Some(value);
                said.hosts += 1;
            } else if *name == header::TRANSFER_ENCODING {
                said.is_coded |= !value.as_bytes().eq_ignore_ascii_case(b"chunked");
                said.codings += 1;
            } else if *name == header::ORIGIN {
                said.origin = Some(value);
            } else if *name == SEC_FETCH_SITE {
                said.site = Some(value);
            }
        }
        said
    }
}

/// Whether a browser says that no page of another site asks. Following a link to a page is allowed, as its answer is
/// shown and not given to the site.
fn is_own_page<B>(site: &HeaderValue, request: &Request<B>) -> bool {
    let is_link = || {
        request.method() == Method::GET
            && request.headers().get(&SEC_FETCH_MODE).is_some_and(|mode| mode == "navigate")
    };
    site == "same-origin" || site == "none" || is_link()
}

/// A host without its port, if that is a number or missing.
fn without_port(host: &str) -> Option<&str> {
    let (name, port) = match host.rsplit_once(':') {
        // The last colon of an IPv6 address is within the brackets.
        Some((name, port)) if !port.ends_with(']') => (name, port),
        _ => (host, ""),
    };
    port.bytes().all(|byte| byte.is_ascii_digit()).then_some(name)
}

fn shown(value: Option<&HeaderValue>) -> String {
    value.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> OwnSite {
        let texts = |all: &[&str]| all.iter().map(|&text| text.to_owned()).collect();
        let (hosts, origins) = (texts(&["sequent.shop.internal", "*.svc"]), texts(&["https://ops.example"]));
        OwnSite(Arc::new(Names { hosts, origins }))
    }

    #[test]
    fn a_host_is_an_address_or_a_name_of_its_own() {
        for host in [
            "127.0.0.1:7421",
            "10.0.0.7",
            "[::1]:7421",
            "[fe80::1]",
            "localhost",
            "LocalHost:7421",
            "Sequent.shop.internal:7421",
            "sequent.shop.svc:7421",
        ] {
            assert!(site().is_own(host.as_bytes()), "{host}");
        }
        for host in [
            "",
            ":7421",
            "evil.example",
            "evil.example:7421",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "127.0.0.1:80:evil",
            "localhost:7421x",
            "[::1",
            "[::1]x",
            "[evil]",
            "sequent.shop.internal.evil.example",
            ".svc",
            "svc",
            "évil.svc\u{e9}",
        ] {
            assert!(!site().is_own(host.as_bytes()), "{host}");
        }
        assert!(!site().is_own(b"\xff"));
    }

    #[test]
    fn pages_of_other_sites_are_told_by_origin_and_sec_fetch_site() {
        let ask = |method: Method, headers: &[(&str, &str)]| {
            let mut request = Request::builder().method(method).uri("/").body(()).unwrap();
            for (name, value) in headers {
                let name = HeaderName::try_from(*name).unwrap();
                request.headers_mut().append(name, HeaderValue::try_from(*value).unwrap());
            }
            site().refusal(&request).map(|error| error.text().to_owned())
        };
        let own = ("host", "10.0.0.7:7421");
        for good in [
            &[own][..],
            &[own, ("origin", "http://10.0.0.7:7421"), ("sec-fetch-site", "same-origin")],
            &[own, ("origin", "https://ops.example"), ("sec-fetch-site", "cross-site")],
            &[own, ("sec-fetch-site", "none")],
            &[own, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")],
            &[own, ("transfer-encoding", "Chunked")],
        ] {
            assert_eq!(ask(Method::GET, good), None, "{good:?}");
        }
        for (bad, part) in [
            (&[][..], "host is \"missing\""),
            (&[own, own], "host is \"there more than once\""),
            (&[("host", "evil.example")], "host is \"evil.example\""),
            (&[own, ("origin", "http://evil.example")], "origin is \"http://evil.example\""),
            (&[own, ("origin", "http://10.0.0.7:80")], "origin is"),
            (&[own, ("origin", "null")], "origin is \"null\""),
            (&[own, ("sec-fetch-site", "cross-site")], "sec-fetch-site is \"cross-site\""),
            (&[own, ("sec-fetch-site", "same-site")], "sec-fetch-site is \"same-site\""),
            (
                &[own, ("transfer-encoding", "identity, chunked")],
                "transfer-encoding is \"identity, chunked\"",
            ),
            (&[own, ("transfer-encoding", "chunked"), ("transfer-encoding", "chunked")], "transfer-encoding"),
        ] {
            let refusal = ask(Method::GET, bad);
            assert!(refusal.as_ref().is_some_and(|text| text.contains(part)), "{bad:?}: {refusal:?}");
        }
        let link = [own, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
        assert!(ask(Method::POST, &link).is_some(), "a form is no link");
    }
}
