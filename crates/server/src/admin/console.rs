//! Console of the admin listener: one page that shows `/v1/status`, refreshed every two seconds, without external
//! assets.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, header};
use http_body_util::Full;
use sequent_core::{Entropy, OsEntropy};

const PAGE: &str = include_str!("console.html");

/// Placeholder of the nonce in the page.
const NONCE_PLACEHOLDER: &str = "{{nonce}}";

/// Content security policy: only the page's own script and style run, and it connects only to its own origin. Trusted
/// Types keep data from becoming markup.
const POLICY: &str = "default-src 'none'; connect-src 'self'; img-src data:; script-src 'nonce-{{nonce}}'; \
style-src 'nonce-{{nonce}}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
require-trusted-types-for 'script'; trusted-types 'none'";

/// The console page with a fresh nonce.
pub(crate) fn page() -> Response<Full<Bytes>> {
    let nonce = format!("{:016x}{:016x}", OsEntropy.bits(), OsEntropy.bits());
    let mut response = Response::new(Full::new(Bytes::from(PAGE.replace(NONCE_PLACEHOLDER, &nonce))));
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::try_from(POLICY.replace(NONCE_PLACEHOLDER, &nonce)) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    let fixed: [(HeaderName, &'static str); 4] = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_needs_nothing_from_elsewhere_and_makes_no_markup_of_what_it_is_told() {
        for (what, words) in [
            ("another address", &["http://", "https://", "//cdn", "@import", "url("][..]),
            ("markup", &["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("]),
            ("an inline style or handler", &[" style=\"", " onclick", " onload", " onerror"]),
        ] {
            for word in words {
                // The URL is the SVG namespace, not an address to load from.
                let page = PAGE.replace("http://www.w3.org/2000/svg", "");
                assert!(!page.contains(word), "{what}: {word}");
            }
        }
        assert_eq!(PAGE.matches("<script").count(), 1);
        assert_eq!(PAGE.matches(NONCE_PLACEHOLDER).count(), 2, "script and style");
    }

    #[test]
    fn each_page_has_a_nonce_of_its_own() {
        let policy = || {
            let response = page();
            response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned()
        };
        let (one, two) = (policy(), policy());
        assert!(one != two && !one.contains(NONCE_PLACEHOLDER), "{one}");
    }
}
