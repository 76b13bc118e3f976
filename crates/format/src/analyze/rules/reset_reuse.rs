//! Rule S6: numbers wrap per period, or after the time of `reuse_after`.

use crate::{
    analyze::analysis::Analysis,
    date::Reset,
    error::{Fault, Rule},
    template::Overflow,
};

pub(in crate::analyze) fn check(analysis: &Analysis, faults: &mut Vec<Fault>) {
    let (part, seq) = analysis.seq();
    if seq.over != (Overflow::Wrap { reuse_after: None }) || analysis.reset != Reset::Never {
        return;
    }
    let what =
        format!("after {} comes {} again, and its text is in use already", analysis.codec.last, seq.start);
    let fix = "show a date, so that each period has texts of its own, or say after what time a text may be used \
                again: reuse_after=24mo; or take over=error";
    faults.push(Fault::new(Rule::S6, part.column, what, fix));
}

/// A warning about `reuse_after`: no server starts a second round.
pub(in crate::analyze) fn warnings(analysis: &Analysis) -> Option<Fault> {
    let (part, seq) = analysis.seq();
    let Overflow::Wrap { reuse_after: Some(_) } = seq.over else { return None };
    let what = format!(
        "a server gives nothing after {}: it does not know when a text was last used, so it uses none again, whatever \
         reuse_after says",
        analysis.codec.last
    );
    let fix = "take a w= for which one round is enough for ever, or for a period";
    Some(Fault::new(Rule::S6, part.column, what, fix))
}
