//! S8: a book's numbers do not begin again; and on paper they had better look like a run.

use crate::{Fault, Placement, Rule, prove::Claim, template::Overflow};

pub(super) fn check(claim: &Claim, faults: &mut Vec<Fault>) {
    let (part, seq) = claim.seq();
    if claim.settings.placement != Placement::Book || !matches!(seq.over, Overflow::Wrap { .. }) {
        return;
    }
    let what = format!(
        "a book keeps one entry for each number for ever: after {} a wrapped {} would be a second entry of that text",
        claim.numbering.top, seq.start
    );
    faults.push(Fault::new(Rule::S8, part.column, what, "take over=error or over=widen"));
}

/// An auditor who looks for gaps looks at the numbers on paper.
pub(super) fn warnings(claim: &Claim) -> Option<Fault> {
    let (part, seq) = claim.seq();
    let warned = claim.settings.placement == Placement::Book && seq.obfuscated.is_some();
    warned.then(|| {
        let what = "the book has no gaps, but with obf its numbers on paper no longer look like a run";
        Fault::new(Rule::S8, part.column, what, "leave obf out where an auditor reads the texts")
    })
}
