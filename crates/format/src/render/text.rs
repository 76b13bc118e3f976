//! Renders a number as a text. Only the output allocates, except for FF1 and functions of users.

use crate::{checksum::Characters, error::RenderError};

use super::{context::RenderContext, plan::Step};

impl RenderContext {
    /// Appends the text of a number to `out`. On an error `out` is unchanged.
    pub fn render(&self, number: u64, out: &mut String) -> Result<(), RenderError> {
        let before = out.len();
        let written = self.write(number, before, out);
        if written.is_err() {
            out.truncate(before);
        }
        written
    }

    /// The text of a number.
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
                    self.format.codec().push(number, &self.tweak, out)?;
                    digits = begin..out.len();
                }
                Step::CheckLeft { algorithm, state, read } => {
                    let state = algorithm.fold(*state, &out.as_bytes()[before + read..]);
                    push(algorithm.finish(state), algorithm.length, out);
                }
                Step::CheckNumber { algorithm } => {
                    let state = algorithm.fold(algorithm.start, &out.as_bytes()[digits.clone()]);
                    push(algorithm.finish(state), algorithm.length, out);
                }
                Step::Slots => self.write_by_slots(number, out)?,
            }
        }
        Ok(())
    }
}

/// Appends check characters, which are ASCII.
fn push(characters: Characters, length: usize, out: &mut String) {
    let [first, second] = characters;
    out.push(char::from(first));
    if length > 1 {
        out.push(char::from(second));
    }
}
