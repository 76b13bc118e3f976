//! Why a reservoir burns numbers, in words that its owners count by.

pub(crate) const AGED: &str = "numbers aged in the reservoir";
pub(crate) const STALLED: &str = "a caller was stalled for many turns";
pub(crate) const CLOSED_IN_REFILL: &str = "the reservoir was closed during a refill";
pub(crate) const BACK_TOO_LATE: &str = "numbers came back to a closed reservoir";
pub(crate) const TRIMMED: &str = "an idle reservoir gave its memory back";
pub(crate) const CALLED_IN: &str = "a handle of its own held numbers that were called in";
pub(crate) const CLOSED: &str = "the reservoir was closed";
pub(crate) const DROPPED: &str = "the reservoir was dropped";

/// Every reason that a [`Reservoir`](crate::Reservoir) has of its own for burning numbers: the `why` of each
/// [`Event::Dropped`](sequent_core::Event::Dropped) that it emits, unless its owner has given another with
/// [`close_because`](crate::Reservoir::close_because). For the values of a label, which all have to be known.
///
/// ```
/// assert!(sequent_buffer::WHY_BURNT.contains(&"the reservoir was dropped"));
/// ```
pub const WHY_BURNT: [&str; 8] =
    [AGED, STALLED, CLOSED_IN_REFILL, BACK_TOO_LATE, TRIMMED, CALLED_IN, CLOSED, DROPPED];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_above_is_in_the_list() {
        let code = include_str!("burnt.rs").split("#[cfg(test)]").next().unwrap();
        let reasons = code.split("pub(crate) const ").skip(1);
        let texts: Vec<&str> = reasons.filter_map(|reason| reason.split('"').nth(1)).collect();
        assert_eq!(texts, WHY_BURNT);
    }
}
