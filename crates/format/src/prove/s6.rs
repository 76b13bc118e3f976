//! S6: numbers that begin again do so in another period, or not before a named time.

use crate::{Fault, Rule, date::Reset, prove::Claim, template::Overflow};

pub(super) fn check(claim: &Claim, faults: &mut Vec<Fault>) {
    let (part, seq) = claim.seq();
    if seq.over != (Overflow::Wrap { reuse_after: None }) || claim.reset != Reset::Never {
        return;
    }
    let what =
        format!("after {} comes {} again, and its text is in use already", claim.numbering.top, seq.start);
    let mend = "show a date, so that each period has texts of its own, or say after what time a text may be used \
                again: reuse_after=24mo; or take over=error";
    faults.push(Fault::new(Rule::S6, part.column, what, mend));
}

/// A round that no server begins again.
pub(super) fn warnings(claim: &Claim) -> Option<Fault> {
    let (part, seq) = claim.seq();
    let Overflow::Wrap { reuse_after: Some(_) } = seq.over else { return None };
    let what = format!(
        "a server gives nothing after {}: it does not know when a text was used last, and uses none again, whatever \
         reuse_after says",
        claim.numbering.top
    );
    let mend = "take w= so wide that a round lasts for good, or for its period";
    Some(Fault::new(Rule::S6, part.column, what, mend))
}
