//! Not one of the named rules, but as needed: there must be numbers to render.

use crate::{
    Fault,
    prove::{Claim, claim::missing},
};

pub(super) fn check(claim: &Claim, faults: &mut Vec<Fault>) {
    let (part, seq) = claim.seq();
    if seq.start > claim.numbering.top {
        let what =
            format!("start is {}: the last number that has a text is {}", seq.start, claim.numbering.top);
        faults.push(missing(part.column, what, "give w more digits, or lower start"));
    }
}
