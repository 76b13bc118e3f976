//! Renders parts out of order, for derived parts that read single parts or stand before their input. Each part has a slot in
//! the text; slots of parts that come later are filled with placeholders first.

use crate::{
    error::RenderError,
    limits::{PARTS_MAX, TEXT_BYTES_MAX, WIDTH_MAX},
    registry::Function,
    template::{Inputs, Kind},
};

use super::context::RenderContext;

/// A text under construction.
struct TextBuffer {
    bytes: [u8; TEXT_BYTES_MAX],
    length: usize,
}

impl RenderContext {
    /// Appends the text of a number to `out`.
    pub(super) fn write_by_slots(&self, number: u64, out: &mut String) -> Result<(), RenderError> {
        let mut buffer = TextBuffer { bytes: [0; TEXT_BYTES_MAX], length: 0 };
        self.fill(number, &mut buffer)?;
        let text = std::str::from_utf8(&buffer.bytes[..buffer.length]);
        out.push_str(text.map_err(|_| broken("text", "", "characters"))?);
        Ok(())
    }

    fn fill(&self, number: u64, buffer: &mut TextBuffer) -> Result<(), RenderError> {
        let mut slots = [(0, 0); PARTS_MAX];
        let parts = &self.format.template().parts;
        for (at, part) in parts.iter().enumerate() {
            let begin = buffer.length;
            match (&part.kind, part.inputs()) {
                (Kind::Seq(_), _) => {
                    let mut digits = [0; WIDTH_MAX];
                    buffer.push(self.format.codec().write(number, &self.tweak, &mut digits)?)?;
                }
                (_, Some(_)) if self.format.is_left_to_right(at) => self.derive(at, &slots, buffer, begin)?,
                (_, Some(_)) => buffer.push(&[b'?'; TEXT_BYTES_MAX][..self.format.shapes()[at].max])?,
                _ => {
                    let (from, to) = self.spans[at];
                    buffer.push(&self.fixed.as_bytes()[from..to])?;
                }
            }
            slots[at] = (begin, buffer.length);
        }
        let end = buffer.length;
        for &at in self.format.template().derived.iter().filter(|at| !self.format.is_left_to_right(**at)) {
            buffer.length = slots[at].0;
            self.derive(at, &slots, buffer, slots[at].0)?;
        }
        buffer.length = end;
        Ok(())
    }

    /// Appends a derived part to the buffer. `slots` are the byte ranges of the parts, and `left` is the start of this part.
    fn derive(
        &self,
        at: usize,
        slots: &[(usize, usize)],
        buffer: &mut TextBuffer,
        left: usize,
    ) -> Result<(), RenderError> {
        let part = &self.format.template().parts[at];
        let whole = [(0, left)];
        let mut some = [(0, 0); PARTS_MAX];
        let inputs: &[(usize, usize)] = match part.inputs() {
            Some(Inputs::Parts(of)) => {
                for (slot, input) in some.iter_mut().zip(of) {
                    *slot = slots[*input];
                }
                &some[..of.len().min(PARTS_MAX)]
            }
            _ => &whole,
        };
        match (&part.kind, &self.format.analysis().functions[at]) {
            (Kind::Check(check), _) => {
                let algorithm = &*check.algorithm;
                let fold =
                    |state, &(begin, end): &(usize, usize)| algorithm.fold(state, &buffer.bytes[begin..end]);
                let state = inputs.iter().fold(algorithm.start, fold);
                buffer.push(&algorithm.finish(state)[..algorithm.length])
            }
            (_, Some(function)) => self.call(at, function, inputs, buffer),
            _ => Ok(()),
        }
    }

    /// Appends the text of a function after checking what the function has promised.
    fn call(
        &self,
        at: usize,
        function: &Function,
        inputs: &[(usize, usize)],
        buffer: &mut TextBuffer,
    ) -> Result<(), RenderError> {
        let name = self.format.template().parts[at].label();
        let mut input = String::new();
        for &(begin, end) in inputs {
            input.push_str(std::str::from_utf8(&buffer.bytes[begin..end]).unwrap_or_default());
        }
        let mut given = String::new();
        function.call(&input, &mut given).map_err(|_| broken(&name, &given, "an error"))?;
        let shape = &self.format.shapes()[at];
        let chars = given.chars().count();
        if chars < shape.min || chars > shape.max || !given.chars().all(|c| shape.charset.contains(c)) {
            let promised =
                format!("{} to {} characters of [{}] were promised", shape.min, shape.max, function.charset);
            return Err(broken(&name, &given, &promised));
        }
        buffer.push(given.as_bytes())
    }
}

fn broken(name: &str, given: &str, promised: &str) -> RenderError {
    RenderError::Function { name: name.to_owned(), given: given.to_owned(), promised: promised.to_owned() }
}

impl TextBuffer {
    /// Rule S5 guarantees the space. If it were wrong, an error is better than a truncated text.
    fn push(&mut self, bytes: &[u8]) -> Result<(), RenderError> {
        let end = self.length + bytes.len();
        let room =
            self.bytes.get_mut(self.length..end).ok_or_else(|| broken("text", "", "to fit its bound"))?;
        room.copy_from_slice(bytes);
        self.length = end;
        Ok(())
    }
}
