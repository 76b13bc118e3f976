//! Replacement of `traces` in builds without the feature `otel`.

use http::HeaderMap;
use tracing::Span;

/// Does nothing.
pub(crate) fn join(_: &Span, _: &HeaderMap) {}
