//! Warnings about characters that a check skips: an error among them goes undetected.

use crate::{
    charset::{Charset, describe},
    error::Fault,
    template::Kind,
};

use super::analysis::Analysis;

/// Values and numbers of which a check reads only some characters. Literal text and dates need no check: an error in them does
/// not decode.
pub(super) fn warnings(analysis: &Analysis) -> Vec<Fault> {
    let parts = &analysis.template.parts;
    let mut faults = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let Kind::Check(check) = &part.kind else { continue };
        let (name, body) = (check.algorithm.name, &check.algorithm.body);
        let alphabet = Charset::of(body);
        for input in check.inputs.indexes(at) {
            let charset = match &parts[input].kind {
                Kind::Ctx(_) => analysis.shapes[input].charset.clone(),
                Kind::Seq(seq) => Charset::of(seq.alphabet.as_str()),
                _ => continue,
            };
            let Some(unread) = charset.without(&alphabet).example() else { continue };
            let what = format!(
                "check {name} reads {body} and skips all other characters: {} may hold {}, and an error there goes undetected",
                parts[input].label(),
                describe(unread)
            );
            let fix = match &parts[input].kind {
                Kind::Ctx(_) => "narrow the value by re=, or take a check that reads it",
                _ => "take a check that reads its digits",
            };
            faults.push(Fault::definition(part.column, what, fix));
        }
    }
    faults
}
