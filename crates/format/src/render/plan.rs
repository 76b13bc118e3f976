//! The plan of a context: the steps that write a text from left to right, computed once per request.

use std::sync::Arc;

use crate::{
    checksum::Algorithm,
    format::Format,
    template::{Inputs, Kind},
};

/// A step that writes one or more parts.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Copies the known text of neighbouring parts.
    Copy { begin: usize, end: usize },
    /// Writes the number.
    Number,
    /// Writes check characters of everything to the left. `state` covers the first `read` bytes already.
    CheckLeft { algorithm: Arc<Algorithm>, state: u32, read: usize },
    /// Writes check characters of the number alone.
    CheckNumber { algorithm: Arc<Algorithm> },
    /// Writes the whole text by slots: for derived parts that read single parts.
    Slots,
}

/// The steps of a format. `fixed` is the known text of all parts, and `spans` are their byte ranges.
pub(super) fn steps(format: &Format, fixed: &str, spans: &[(usize, usize)]) -> Vec<Step> {
    let parts = &format.template().parts;
    let mut steps: Vec<Step> = Vec::new();
    let number = format.template().seq;
    for (at, part) in parts.iter().enumerate() {
        let (begin, end) = spans[at];
        let step = match (&part.kind, part.inputs()) {
            (Kind::Seq(_), _) => Step::Number,
            (Kind::Check(check), Some(Inputs::Left)) if format.is_left_to_right(at) => {
                let algorithm = Arc::clone(&check.algorithm);
                let (state, read) = read_ahead(format, (fixed, spans), at, &algorithm);
                Step::CheckLeft { algorithm, state, read }
            }
            (Kind::Check(check), Some(Inputs::Parts(of))) if *of == [number] && number < at => {
                Step::CheckNumber { algorithm: Arc::clone(&check.algorithm) }
            }
            (_, Some(_)) => return vec![Step::Slots],
            _ => Step::Copy { begin, end },
        };
        match (steps.last_mut(), step) {
            // Consecutive copies are adjacent in `fixed`, since parts between them are empty there.
            (Some(Step::Copy { end, .. }), Step::Copy { end: more, .. }) => *end = more,
            (_, step) => steps.push(step),
        }
    }
    steps
}

/// The state of an algorithm after the known text before the first unknown part, and the length of that text.
fn read_ahead(
    format: &Format,
    (fixed, spans): (&str, &[(usize, usize)]),
    at: usize,
    algorithm: &Algorithm,
) -> (u32, usize) {
    let parts = &format.template().parts;
    let unknown = |at: &usize| matches!(parts[*at].kind, Kind::Seq(_)) || parts[*at].inputs().is_some();
    let first = (0..at).find(unknown).unwrap_or(at);
    let end = spans.get(first).map_or(0, |span| span.0);
    (algorithm.fold(algorithm.start, &fixed.as_bytes()[..end]), end)
}
