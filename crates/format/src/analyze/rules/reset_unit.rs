//! Rule S4: a counter resets with the finest unit shown, at most daily. A finer reset must be asked for, and is at most hourly.

use crate::{
    analyze::analysis::Analysis,
    date::Reset,
    error::{Fault, Rule},
    template::ResetWord,
};

pub(in crate::analyze) fn check(analysis: &Analysis, faults: &mut Vec<Fault>) {
    let (_, seq) = analysis.seq();
    let ResetWord::TooFine(word) = seq.reset.value else { return };
    let what = format!(
        "reset={word} would reset to {} every {word}: a clock that is set back a {word} repeats its texts' dates, and \
         each {word} leaves a counter behind",
        seq.start
    );
    let fix = "take reset=hour and show HH, or reset=day; the text may show minutes and seconds all the same";
    faults.push(Fault::new(Rule::S4, seq.reset.column, what, fix));
}

/// A warning about a date that is shown while `reset=never`: it is allowed, but may not be meant.
pub(in crate::analyze) fn warnings(analysis: &Analysis) -> Option<Fault> {
    let (_, seq) = analysis.seq();
    if seq.reset.value != ResetWord::Named(Reset::Never) || analysis.fields.is_empty() {
        return None;
    }
    let what = "the text shows a date, but the counter does not reset with it";
    let fix = "leave reset out if it should";
    Some(Fault::new(Rule::S4, seq.reset.column, what, fix))
}
