//! There must be a number to render. This check has no rule id: it is part of the definition.

use crate::{analyze::analysis::Analysis, error::Fault};

pub(in crate::analyze) fn check(analysis: &Analysis, faults: &mut Vec<Fault>) {
    let (part, seq) = analysis.seq();
    if seq.start > analysis.codec.last {
        let what =
            format!("start is {}: the last number that has a text is {}", seq.start, analysis.codec.last);
        faults.push(Fault::definition(part.column, what, "give w more digits, or lower start"));
    }
}
