//! From a counter's number to what is shown of it, and back: overflow, obfuscation, radix, padding.

use crate::{
    error::RenderError,
    fpe::Permutation,
    limits::{NUMBER_MAX, WIDTH_MAX},
    radix::{DigitBuffer, Digits},
    template::{Overflow, Seq},
};

/// How a definition writes its numbers.
#[derive(Debug, Clone)]
pub(crate) struct Numbering {
    pub(crate) digits: Digits,
    pub(crate) width: usize,
    pad: u8,
    start: u64,
    step: u64,
    /// The last number that has a text of its own.
    pub(crate) top: u64,
    /// How far apart two numbers with one text are, where a wrapped number may be used again.
    pub(crate) cycle: Option<u64>,
    pub(crate) permutation: Option<Permutation>,
    /// Decimal digits, padded with zeros and not permuted: what nearly all templates have.
    plain: bool,
}

/// Padding for the widest number.
const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

impl Numbering {
    pub(crate) fn new(seq: &Seq, permutation: Option<Permutation>) -> Self {
        let widest = seq.digits.highest(seq.width_max).min(NUMBER_MAX);
        let top = seq.end.map_or(widest, |end| end.min(widest));
        let count = top.saturating_sub(seq.start) / seq.step + 1;
        let cycle = match seq.over {
            Overflow::Wrap { reuse_after: Some(_) } => Some(count.saturating_mul(seq.step)),
            _ => None,
        };
        Self {
            digits: seq.digits.clone(),
            width: seq.width,
            pad: seq.pad,
            start: seq.start,
            step: seq.step,
            top,
            cycle,
            plain: permutation.is_none() && seq.digits == Digits::decimal() && seq.pad == b'0',
            permutation,
        }
    }

    /// Whether a text is the number in decimal digits, with zeros before it at most, and stands for no other.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain && self.cycle.is_none()
    }

    /// Whether the counter ever gives this number: one of its steps from the start; the error is the bound.
    pub(crate) fn check(&self, number: u64) -> Result<(), String> {
        let Self { start, step, .. } = *self;
        if number < start {
            return Err(format!("numbers begin at {start}"));
        }
        if !(number - start).is_multiple_of(step) {
            return Err(format!(
                "numbers are {start}, {}, …: in steps of {step}",
                start.saturating_add(step)
            ));
        }
        Ok(())
    }

    /// The most digits that a text has.
    pub(crate) fn width_max(&self) -> usize {
        self.digits.width_of(self.top).max(self.width)
    }

    /// Appends a number's text.
    pub(crate) fn push(&self, number: u64, tweak: &[u8], out: &mut String) -> Result<(), RenderError> {
        if self.plain {
            let shown = self.shown(number)?;
            let mut decimal = itoa::Buffer::new();
            let digits = decimal.format(shown);
            if digits.len() < self.width {
                out.push_str(&ZEROS[digits.len()..self.width]);
            }
            out.push_str(digits);
            return Ok(());
        }
        let mut buffer = [0; WIDTH_MAX];
        let text = self.write(number, tweak, &mut buffer)?;
        // Alphabets and padding are of ASCII.
        out.extend(text.iter().map(|byte| char::from(*byte)));
        Ok(())
    }

    /// Writes a number's text at the end of `buffer`.
    pub(crate) fn write<'a>(
        &self,
        number: u64,
        tweak: &[u8],
        buffer: &'a mut DigitBuffer,
    ) -> Result<&'a [u8], RenderError> {
        let shown = self.shown(number)?;
        match &self.permutation {
            None => Ok(self.digits.write(shown, self.width, self.pad, buffer)),
            Some(permutation) => self
                .hidden(permutation, shown, tweak, buffer)
                .ok_or(RenderError::Exhausted { number, end: self.top }),
        }
    }

    /// The number that a text stands for; `None` where no number renders so.
    pub(crate) fn read(&self, text: &[u8], tweak: &[u8]) -> Option<u64> {
        let shown = match &self.permutation {
            None => {
                let padding = if self.pad == self.digits.zero() {
                    0
                } else {
                    text.iter().take_while(|byte| **byte == self.pad).count()
                };
                self.digits.read(text.get(padding..).filter(|digits| !digits.is_empty())?)?
            }
            Some(permutation) => {
                let hidden: Option<Vec<u16>> =
                    text.iter().map(|byte| small(self.digits.value(*byte)?)).collect();
                let plain = permutation.reveal(tweak, hidden?)?;
                plain.iter().try_fold(0_u64, |number, digit| {
                    number.checked_mul(self.digits.radix())?.checked_add(u64::from(*digit))
                })?
            }
        };
        (shown <= self.top).then_some(shown)
    }

    /// What is shown of a number: itself, or where it wraps to.
    fn shown(&self, number: u64) -> Result<u64, RenderError> {
        if number > NUMBER_MAX || self.cycle.is_some() && number < self.start {
            let start = if self.cycle.is_some() { self.start } else { 0 };
            return Err(RenderError::Number { number, start });
        }
        match self.cycle {
            Some(cycle) if number > self.top => Ok(self.start + (number - self.start) % cycle),
            None if number > self.top => Err(RenderError::Exhausted { number, end: self.top }),
            _ => Ok(number),
        }
    }

    /// A number's digits permuted among all texts of their length: each length is a permutation of its own.
    fn hidden<'a>(
        &self,
        permutation: &Permutation,
        shown: u64,
        tweak: &[u8],
        buffer: &'a mut DigitBuffer,
    ) -> Option<&'a [u8]> {
        let plain = self.digits.write(shown, self.width, self.digits.zero(), buffer);
        let plain: Option<Vec<u16>> = plain.iter().map(|byte| small(self.digits.value(*byte)?)).collect();
        let hidden = permutation.hide(tweak, plain?)?;
        let begin = WIDTH_MAX.checked_sub(hidden.len())?;
        for (place, digit) in buffer[begin..].iter_mut().zip(hidden) {
            *place = self.digits.letter(u64::from(digit));
        }
        Some(&buffer[begin..])
    }
}

fn small(value: u64) -> Option<u16> {
    u16::try_from(value).ok()
}
