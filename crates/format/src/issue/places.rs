//! The general way to a text, for templates whose derived parts read single others, or stand before what they read.

use crate::{
    Function, Issue, RenderError,
    limits::{PARTS_MAX, TEXT_BYTES_MAX, WIDTH_MAX},
    template::{Inputs, Kind},
};

/// A text on its way; its parts' places are known as it grows.
struct Draft {
    bytes: [u8; TEXT_BYTES_MAX],
    length: usize,
}

impl Issue {
    /// A number's text, appended to `out`.
    pub(super) fn write_by_places(&self, number: u64, out: &mut String) -> Result<(), RenderError> {
        let mut draft = Draft { bytes: [0; TEXT_BYTES_MAX], length: 0 };
        self.draft(number, &mut draft)?;
        let text = std::str::from_utf8(&draft.bytes[..draft.length]);
        out.push_str(text.map_err(|_| broken("text", "", "characters"))?);
        Ok(())
    }

    fn draft(&self, number: u64, draft: &mut Draft) -> Result<(), RenderError> {
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
