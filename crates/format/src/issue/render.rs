//! Numbers to texts. Nothing is allocated but what the output needs (but by FF1 and by functions of users).

use crate::{
    Function, Issue, RenderError,
    check::Algorithm,
    limits::{PARTS_MAX, TEXT_BYTES_MAX, WIDTH_MAX},
    template::{Inputs, Kind},
};

use std::sync::Arc;

/// What is done for one part of the text, from the left.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Copies known text, of one or several parts.
    Copy { begin: usize, end: usize },
    /// Writes the number.
    Number,
    /// Check characters of all to the left, of which `read` bytes are in `state` already.
    CheckLeft { algorithm: Arc<dyn Algorithm>, state: u32, read: usize },
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
                Step::CheckLeft { algorithm, state, read }
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

/// A text on its way, with the places of its parts.
struct Draft {
    bytes: [u8; TEXT_BYTES_MAX],
    length: usize,
    number: (usize, usize),
}

impl Issue {
    /// A number's text, appended to `out`, which is left as it was where there is none.
    pub fn render(&self, number: u64, out: &mut String) -> Result<(), RenderError> {
        let mut draft = Draft { bytes: [0; TEXT_BYTES_MAX], length: 0, number: (0, 0) };
        self.write(number, &mut draft)?;
        let text = std::str::from_utf8(&draft.bytes[..draft.length]);
        out.push_str(text.map_err(|_| broken("text", "", "characters"))?);
        Ok(())
    }

    /// A number's text.
    pub fn text(&self, number: u64) -> Result<String, RenderError> {
        let mut out = String::new();
        self.render(number, &mut out)?;
        Ok(out)
    }

    fn write(&self, number: u64, draft: &mut Draft) -> Result<(), RenderError> {
        for step in &self.steps {
            match step {
                Step::Copy { begin, end } => draft.push(&self.fixed.as_bytes()[*begin..*end])?,
                Step::Number => {
                    let mut buffer = [0; WIDTH_MAX];
                    let digits = self.format.numbering().write(number, &self.tweak, &mut buffer)?;
                    let begin = draft.length;
                    draft.push(digits)?;
                    draft.number = (begin, draft.length);
                }
                Step::CheckLeft { algorithm, state, read } => {
                    let state = algorithm.fold(*state, &draft.bytes[*read..draft.length]);
                    draft.push(&algorithm.finish(state)[..algorithm.length()])?;
                }
                Step::CheckNumber { algorithm } => {
                    let digits = &draft.bytes[draft.number.0..draft.number.1];
                    let state = algorithm.fold(algorithm.start(), digits);
                    draft.push(&algorithm.finish(state)[..algorithm.length()])?;
                }
                Step::Places => self.write_with_places(number, draft)?,
            }
        }
        Ok(())
    }

    /// The general way, for templates whose derived parts read single others, or stand before what they read.
    fn write_with_places(&self, number: u64, draft: &mut Draft) -> Result<(), RenderError> {
        let mut places = [(0, 0); PARTS_MAX];
        let parts = &self.format.template().parts;
        for (at, part) in parts.iter().enumerate() {
            let begin = draft.length;
            match (&part.kind, part.inputs()) {
                (Kind::Seq(_), _) => {
                    let mut buffer = [0; WIDTH_MAX];
                    draft.push(self.format.numbering().write(number, &self.tweak, &mut buffer)?)?;
                }
                (_, Some(_)) if self.format.is_straight(at) => self.derive(at, &places, draft, begin)?,
                (_, Some(_)) => draft.push(&[b'?'; TEXT_BYTES_MAX][..self.format.shapes()[at].max])?,
                _ => {
                    let (from, to) = self.spans[at];
                    draft.push(&self.fixed.as_bytes()[from..to])?;
                }
            }
            places[at] = (begin, draft.length);
        }
        let end = draft.length;
        for &at in self.format.template().derived.iter().filter(|at| !self.format.is_straight(**at)) {
            draft.length = places[at].0;
            self.derive(at, &places, draft, places[at].0)?;
        }
        draft.length = end;
        Ok(())
    }

    /// Makes a derived part at the draft's end, from the parts at `places`; `left` is where it begins.
    fn derive(
        &self,
        at: usize,
        places: &[(usize, usize)],
        draft: &mut Draft,
        left: usize,
    ) -> Result<(), RenderError> {
        let part = &self.format.template().parts[at];
        let whole = [(0, left)];
        let mut some = [(0, 0); PARTS_MAX];
        let inputs: &[(usize, usize)] = match part.inputs() {
            Some(Inputs::Parts(of)) => {
                for (place, input) in some.iter_mut().zip(of) {
                    *place = places[*input];
                }
                &some[..of.len().min(PARTS_MAX)]
            }
            _ => &whole,
        };
        match (&part.kind, &self.format.claim().functions[at]) {
            (Kind::Check(check), _) => {
                let algorithm = &*check.algorithm;
                let fold =
                    |state, &(begin, end): &(usize, usize)| algorithm.fold(state, &draft.bytes[begin..end]);
                let state = inputs.iter().fold(algorithm.start(), fold);
                draft.push(&algorithm.finish(state)[..algorithm.length()])
            }
            (_, Some(function)) => self.call(at, function, inputs, draft),
            _ => Ok(()),
        }
    }

    /// A function's text, held to its promise.
    fn call(
        &self,
        at: usize,
        function: &Function,
        inputs: &[(usize, usize)],
        draft: &mut Draft,
    ) -> Result<(), RenderError> {
        let name = self.format.template().parts[at].label();
        let mut input = String::new();
        for &(begin, end) in inputs {
            input.push_str(std::str::from_utf8(&draft.bytes[begin..end]).unwrap_or_default());
        }
        let mut given = String::new();
        function.call(&input, &mut given).map_err(|_| broken(&name, &given, "an error"))?;
        let shape = &self.format.shapes()[at];
        let chars = given.chars().count();
        if chars < shape.min || chars > shape.max || !given.chars().all(|c| shape.letters.contains(c)) {
            let promised =
                format!("{} to {} characters of [{}] were promised", shape.min, shape.max, function.letters);
            return Err(broken(&name, &given, &promised));
        }
        draft.push(given.as_bytes())
    }
}

fn broken(name: &str, given: &str, promised: &str) -> RenderError {
    RenderError::Function { name: name.to_owned(), given: given.to_owned(), promised: promised.to_owned() }
}

impl Draft {
    /// Rule S5 has shown that there is room; if not, an error is better than a cut text.
    fn push(&mut self, bytes: &[u8]) -> Result<(), RenderError> {
        let end = self.length + bytes.len();
        let room =
            self.bytes.get_mut(self.length..end).ok_or_else(|| broken("text", "", "to fit its bound"))?;
        room.copy_from_slice(bytes);
        self.length = end;
        Ok(())
    }
}
