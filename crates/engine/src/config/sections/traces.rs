//! `[traces]`: the destination of request spans, in builds that have them.

use crate::config::reading::{
    section,
    setting::{text, whole},
};

section! {
    /// The destination of request spans, in builds with `--features otel`. None are sent unless configured.
    pub struct TracesSection(section) {
        /// A collector's address for spans by OTLP over HTTP, such as `http://127.0.0.1:4318/v1/traces`.
        endpoint: Option<String> = text("endpoint")
            .expecting("an address such as http://127.0.0.1:4318/v1/traces is expected")
            .then(|text| if is_plain(&text) { Ok(text) } else { Err(None) })
            .optional(),

        /// One trace of so many is sent, besides those that callers request.
        one_in: u32 = whole("one_in", 1..=1_000_000).or(100),
    }
}

fn is_plain(address: &str) -> bool {
    address.strip_prefix("http://").is_some_and(|rest| !rest.is_empty())
}
