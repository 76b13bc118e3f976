//! Commands of Redis that a sequence can't obey.

/// The error: what to do instead.
pub(super) fn text(name: &str, instead: &str) -> String {
    format!("ERR {} is not for sequences: {instead}", name.to_ascii_uppercase())
}
