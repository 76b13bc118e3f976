//! Rule S8: the numbers of a book never wrap. A warning: obfuscated numbers do not look like a run on paper.

use crate::{
    analyze::analysis::Analysis,
    error::{Fault, Rule},
    settings::Placement,
    template::Overflow,
};

pub(in crate::analyze) fn check(analysis: &Analysis, faults: &mut Vec<Fault>) {
    let (part, seq) = analysis.seq();
    if analysis.settings.placement != Placement::Book || !matches!(seq.over, Overflow::Wrap { .. }) {
        return;
    }
    let what = format!(
        "a book keeps one entry for each number for ever: after {} a wrapped {} would be a second entry of that text",
        analysis.codec.last, seq.start
    );
    faults.push(Fault::new(Rule::S8, part.column, what, "take over=error or over=widen"));
}

/// An auditor looks for gaps in the numbers on paper.
pub(in crate::analyze) fn warnings(analysis: &Analysis) -> Option<Fault> {
    let (part, seq) = analysis.seq();
    let warned = analysis.settings.placement == Placement::Book && seq.obfuscated.is_some();
    warned.then(|| {
        let what = "the book has no gaps, but with obf its numbers on paper no longer look like a run";
        Fault::new(Rule::S8, part.column, what, "leave obf out where an auditor reads the texts")
    })
}
