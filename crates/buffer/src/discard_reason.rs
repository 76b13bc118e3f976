//! The reasons for which a reservoir discards numbers.

pub(crate) const EXPIRED: &str = "numbers aged in the reservoir";
pub(crate) const CALLER_STALLED: &str = "a caller was stalled for many turns";
pub(crate) const CLOSED_DURING_REFILL: &str = "the reservoir was closed during a refill";
pub(crate) const RETURNED_AFTER_CLOSE: &str = "numbers came back to a closed reservoir";
pub(crate) const TRIMMED: &str = "an idle reservoir gave its memory back";
pub(crate) const CHUNK_REVOKED: &str = "a handle of its own held numbers that were called in";
pub(crate) const CLOSED: &str = "the reservoir was closed";
pub(crate) const DROPPED: &str = "the reservoir was dropped";

/// Every reason of a [`Reservoir`](crate::Reservoir) itself for discarding numbers. A metric label needs to know all its
/// values.
///
/// Each is the `why` of an [`Event::Dropped`](sequent_core::Event::Dropped). An owner can give another reason with
/// [`close_because`](crate::Reservoir::close_because), which is not listed here.
///
/// ```
/// assert!(sequent_buffer::DISCARD_REASONS.contains(&"the reservoir was dropped"));
/// ```
pub const DISCARD_REASONS: [&str; 8] = [
    EXPIRED,
    CALLER_STALLED,
    CLOSED_DURING_REFILL,
    RETURNED_AFTER_CLOSE,
    TRIMMED,
    CHUNK_REVOKED,
    CLOSED,
    DROPPED,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_in_the_list() {
        let code = include_str!("discard_reason.rs").split("#[cfg(test)]").next().unwrap();
        let reasons = code.split("pub(crate) const ").skip(1);
        let texts: Vec<&str> = reasons.filter_map(|reason| reason.split('"').nth(1)).collect();
        assert_eq!(texts, DISCARD_REASONS);
    }
}
