//! In place of `traces` where they are not built in.

use http::HeaderMap;
use tracing::Span;

/// Nothing.
pub(crate) fn join(_: &Span, _: &HeaderMap) {}
