//! Numbers to texts. Nothing is allocated but what the output needs (but by FF1 and by functions of users).

use std::sync::Arc;

use crate::{
    Issue, RenderError,
    check::{Algorithm, Characters},
    template::{Inputs, Kind},
};

/// What is done for one part of the text, from the left.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Copies known text, of one or several parts.
    Copy { begin: usize, end: usize },
    /// Writes the number.
    Number,
    /// Check characters of all to the left, of which `read` bytes are in `state` already.
    CheckLeft { algorithm: Arc<dyn Algorithm>, length: usize, state: u32, read: usize },
    /// Check characters of the number alone.
    CheckNumber { algorithm: Arc<dyn Algorithm> },
    /// All at once, with the places of single parts: for derived parts that read such.
    Places,
}

/// The steps of a format; parts that are known stand together in `fixed`.
pub(super) fn steps(issue: &Issue) -> Vec<Step> {
    let format = &issue.format;
    let parts = &format.template().parts;
    let mut steps: Vec<Step> = Vec::new();
    let number = format.template().seq;
    for (at, part) in parts.iter().enumerate() {
        let (begin, end) = issue.spans[at];
        let step = match (&part.kind, part.inputs()) {
            (Kind::Seq(_), _) => Step::Number,
            (Kind::Check(check), Some(Inputs::Left)) if format.is_straight(at) => {
                let algorithm = Arc::clone(&check.algorithm);
                let (state, read) = read_ahead(issue, at, &*algorithm);
                Step::CheckLeft { length: algorithm.length(), algorithm, state, read }
            }
            (Kind::Check(check), Some(Inputs::Parts(of))) if *of == [number] && number < at => {
                Step::CheckNumber { algorithm: Arc::clone(&check.algorithm) }
            }
            (_, Some(_)) => return vec![Step::Places],
            _ => Step::Copy { begin, end },
        };
        match (steps.last_mut(), step) {
            // Texts of neighbours are neighbours in `fixed`: what stands between has none there.
            (Some(Step::Copy { end, .. }), Step::Copy { end: more, .. }) => *end = more,
            (_, step) => steps.push(step),
        }
    }
    steps
}

/// The state of an algorithm after the known text before the first part that is not known.
fn read_ahead(issue: &Issue, at: usize, algorithm: &dyn Algorithm) -> (u32, usize) {
    let parts = &issue.format.template().parts;
    let unknown = |at: &usize| matches!(parts[*at].kind, Kind::Seq(_)) || parts[*at].inputs().is_some();
    let first = (0..at).find(unknown).unwrap_or(at);
    let end = issue.spans.get(first).map_or(0, |span| span.0);
    (algorithm.fold(algorithm.start(), &issue.fixed.as_bytes()[..end]), end)
}

impl Issue {
    /// A number's text, appended to `out`, which is left as it was where there is none.
    pub fn render(&self, number: u64, out: &mut String) -> Result<(), RenderError> {
        let before = out.len();
        let written = self.write(number, before, out);
        if written.is_err() {
            out.truncate(before);
        }
        written
    }

    /// A number's text.
    pub fn text(&self, number: u64) -> Result<String, RenderError> {
        let mut out = String::new();
        self.render(number, &mut out)?;
        Ok(out)
    }

    fn write(&self, number: u64, before: usize, out: &mut String) -> Result<(), RenderError> {
        let mut digits = before..before;
        for step in &self.steps {
            match step {
                Step::Copy { begin, end } => out.push_str(&self.fixed[*begin..*end]),
                Step::Number => {
                    let begin = out.len();
                    self.format.numbering().push(number, &self.tweak, out)?;
                    digits = begin..out.len();
                }
                Step::CheckLeft { algorithm, length, state, read } => {
                    let state = algorithm.fold(*state, &out.as_bytes()[before + read..]);
                    push(algorithm.finish(state), *length, out);
                }
                Step::CheckNumber { algorithm } => {
                    let state = algorithm.fold(algorithm.start(), &out.as_bytes()[digits.clone()]);
                    push(algorithm.finish(state), algorithm.length(), out);
                }
                Step::Places => self.write_by_places(number, out)?,
            }
        }
        Ok(())
    }
}

/// Appends check characters, which are of ASCII.
fn push(characters: Characters, length: usize, out: &mut String) {
    let [first, second] = characters;
    out.push(char::from(first));
    if length > 1 {
        out.push(char::from(second));
    }
}
