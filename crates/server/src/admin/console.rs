//! Console of the admin listener: one page that shows `/v1/status`, refreshed every two seconds, without external
//! assets.

use axum::{
    http::header,
    response::{Html, IntoResponse},
};
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
pub(super) async fn page() -> impl IntoResponse {
    let nonce = format!("{:016x}{:016x}", OsEntropy.bits(), OsEntropy.bits());
    (
        [(header::CONTENT_SECURITY_POLICY, POLICY.replace(NONCE_PLACEHOLDER, &nonce))],
        [(header::X_CONTENT_TYPE_OPTIONS, "nosniff"), (header::REFERRER_POLICY, "no-referrer")],
        Html(PAGE.replace(NONCE_PLACEHOLDER, &nonce)),
    )
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

    #[tokio::test]
    async fn each_page_has_a_nonce_of_its_own() {
        let policy = async || {
            let response = page().await.into_response();
            response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned()
        };
        let (one, two) = (policy().await, policy().await);
        assert!(one != two && !one.contains(NONCE_PLACEHOLDER), "{one}");
    }
}
