//! `[traces]`: the destination of request spans, in builds that have them.

use crate::config::TableReader;

/// Default of `one_in`: one trace of this many is sent.
const ONE_IN_DEFAULT: u64 = 100;

/// `[traces]`: none are sent unless configured.
#[derive(Debug, Clone)]
pub struct TracesPart {
    /// A collector's address for spans by OTLP over HTTP, such as `http://127.0.0.1:4318/v1/traces`.
    pub endpoint: Option<String>,
    /// One trace of this many is sent, besides those that callers request.
    pub one_in: u32,
}

impl TracesPart {
    pub(crate) fn read(mut section: TableReader<'_, '_>) -> Self {
        let endpoint = section.text("endpoint").filter(|text| {
            let is_plain = text.strip_prefix("http://").is_some_and(|rest| !rest.is_empty());
            if !is_plain {
                let bound = "an address such as http://127.0.0.1:4318/v1/traces is expected";
                section.fault("endpoint", format!("{text:?}"), bound);
            }
            is_plain
        });
        let one_in = section.integer("one_in", 1..=1_000_000, ONE_IN_DEFAULT);
        section.finish();
        Self { endpoint, one_in: u32::try_from(one_in).unwrap_or(u32::MAX) }
    }
}
