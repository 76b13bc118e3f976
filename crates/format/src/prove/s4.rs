//! S4: a counter begins again with the finest unit shown, a day at least; what is finer must be asked for, and is an hour at least.

use crate::{Fault, Rule, date::Reset, prove::Claim, template::ResetWord};

pub(super) fn check(claim: &Claim, faults: &mut Vec<Fault>) {
    let (_, seq) = claim.seq();
    let ResetWord::TooFine(word) = seq.reset.value else { return };
    let what = format!(
        "reset={word} would begin again at {} every {word}: a clock that is set back a {word} repeats its texts' dates, and \
         each {word} leaves a counter behind",
        seq.start
    );
    let mend =
        "take reset=hour and show HH, or reset=day; the text may show minutes and seconds all the same";
    faults.push(Fault::new(Rule::S4, seq.reset.column, what, mend));
}

/// A date that is shown but begins nothing: allowed where it is said, and worth a word.
pub(super) fn warnings(claim: &Claim) -> Option<Fault> {
    let (_, seq) = claim.seq();
    if seq.reset.value != ResetWord::Named(Reset::Never) || claim.facts.is_empty() {
        return None;
    }
    let what = "the text shows a date, but the counter does not begin again with it";
    let mend = "leave reset out if it should";
    Some(Fault::new(Rule::S4, seq.reset.column, what, mend))
}
