//! What a check does not read: it passes over characters that are none of its alphabet, and a slip among them goes unnoticed.

use crate::{
    Fault, Rule,
    letters::{Letters, named},
    prove::Claim,
    template::Kind,
};

/// Values and numbers that a check reads in part only. Text that stands for itself and dates tell their own slips.
pub(super) fn warnings(claim: &Claim) -> Vec<Fault> {
    let parts = &claim.template.parts;
    let mut faults = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let Kind::Check(check) = &part.kind else { continue };
        let (name, body) = (check.algorithm.name(), check.algorithm.body());
        let alphabet = Letters::of(body);
        for input in check.inputs.places(at) {
            let letters = match &parts[input].kind {
                Kind::Ctx(_) => claim.shapes[input].letters.clone(),
                Kind::Seq(seq) => Letters::of(seq.digits.as_str()),
                _ => continue,
            };
            let Some(unread) = letters.without(&alphabet).example() else { continue };
            let what = format!(
                "check {name} reads {body} and passes over all else: {} may hold {}, and a slip there goes unnoticed",
                parts[input].label(),
                named(unread)
            );
            let mend = match &parts[input].kind {
                Kind::Ctx(_) => "narrow the value by re=, or take a check that reads it",
                _ => "take a check that reads its digits",
            };
            faults.push(Fault::new(Rule::Definition, part.column, what, mend));
        }
    }
    faults
}
