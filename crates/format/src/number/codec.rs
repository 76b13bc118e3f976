//! Encodes a counter's number as the text of its part, and decodes it: overflow, obfuscation, radix, padding.

use crate::{
    cipher::Permutation,
    error::RenderError,
    limits::{NUMBER_MAX, WIDTH_MAX},
    template::{Overflow, Seq},
};

use super::alphabet::{Alphabet, DigitBuffer};

/// How a definition writes its numbers.
#[derive(Debug, Clone)]
pub(crate) struct NumberCodec {
    pub(crate) alphabet: Alphabet,
    pub(crate) width: usize,
    pad: u8,
    start: u64,
    step: u64,
    /// The last number that has a text of its own.
    pub(crate) last: u64,
    /// The distance between two numbers with the same text, if numbers wrap with `reuse_after`.
    pub(crate) cycle: Option<u64>,
    pub(crate) permutation: Option<Permutation>,
    /// Decimal digits padded with zeros, without obfuscation. Nearly all templates are so, and they take a faster path.
    is_decimal: bool,
}

/// Padding for the widest number, [`WIDTH_MAX`] digits.
const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

impl NumberCodec {
    pub(crate) fn new(seq: &Seq, permutation: Option<Permutation>) -> Self {
        let widest = seq.alphabet.highest(seq.width_max).min(NUMBER_MAX);
        let last = seq.end.map_or(widest, |end| end.min(widest));
        let count = last.saturating_sub(seq.start) / seq.step + 1;
        let cycle = match seq.over {
            Overflow::Wrap { reuse_after: Some(_) } => Some(count.saturating_mul(seq.step)),
            _ => None,
        };
        Self {
            alphabet: seq.alphabet.clone(),
            width: seq.width,
            pad: seq.pad,
            start: seq.start,
            step: seq.step,
            last,
            cycle,
            is_decimal: permutation.is_none() && seq.alphabet == Alphabet::decimal() && seq.pad == b'0',
            permutation,
        }
    }

    /// Whether the text is the number in decimal digits, possibly with leading zeros, and no other number has this text.
    pub(crate) fn is_bare(&self) -> bool {
        self.is_decimal && self.cycle.is_none()
    }

    /// Whether the counter gives this number: a number of steps from its start. The error is the bound.
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

    /// The most digits of a text.
    pub(crate) fn width_max(&self) -> usize {
        self.alphabet.width_of(self.last).max(self.width)
    }

    /// Appends the text of a number.
    pub(crate) fn push(&self, number: u64, tweak: &[u8], out: &mut String) -> Result<(), RenderError> {
        if self.is_decimal {
            let shown = self.wrapped(number)?;
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
        // Alphabets and padding are ASCII.
        out.extend(text.iter().map(|byte| char::from(*byte)));
        Ok(())
    }

    /// Writes the text of a number at the end of `buffer`.
    pub(crate) fn write<'a>(
        &self,
        number: u64,
        tweak: &[u8],
        buffer: &'a mut DigitBuffer,
    ) -> Result<&'a [u8], RenderError> {
        let shown = self.wrapped(number)?;
        match &self.permutation {
            None => Ok(self.alphabet.write(shown, self.width, self.pad, buffer)),
            Some(permutation) => self
                .encrypted(permutation, shown, tweak, buffer)
                .ok_or(RenderError::Exhausted { number, end: self.last }),
        }
    }

    /// The number of a text; `None` if no number renders so.
    pub(crate) fn read(&self, text: &[u8], tweak: &[u8]) -> Option<u64> {
        let shown = match &self.permutation {
            None => {
                let padding = if self.pad == self.alphabet.zero() {
                    0
                } else {
                    text.iter().take_while(|byte| **byte == self.pad).count()
                };
                self.alphabet.read(text.get(padding..).filter(|digits| !digits.is_empty())?)?
            }
            Some(permutation) => {
                let encrypted: Option<Vec<u16>> =
                    text.iter().map(|byte| to_u16(self.alphabet.value(*byte)?)).collect();
                let plain = permutation.decrypt(tweak, encrypted?)?;
                plain.iter().try_fold(0_u64, |number, digit| {
                    number.checked_mul(self.alphabet.radix())?.checked_add(u64::from(*digit))
                })?
            }
        };
        (shown <= self.last).then_some(shown)
    }

    /// The number that is shown: itself, or the one that it wraps to.
    fn wrapped(&self, number: u64) -> Result<u64, RenderError> {
        if number > NUMBER_MAX || self.cycle.is_some() && number < self.start {
            let start = if self.cycle.is_some() { self.start } else { 0 };
            return Err(RenderError::Number { number, start });
        }
        match self.cycle {
            Some(cycle) if number > self.last => Ok(self.start + (number - self.start) % cycle),
            None if number > self.last => Err(RenderError::Exhausted { number, end: self.last }),
            _ => Ok(number),
        }
    }

    /// The digits of a number, encrypted. Each length is a permutation of its own.
    fn encrypted<'a>(
        &self,
        permutation: &Permutation,
        shown: u64,
        tweak: &[u8],
        buffer: &'a mut DigitBuffer,
    ) -> Option<&'a [u8]> {
        let plain = self.alphabet.write(shown, self.width, self.alphabet.zero(), buffer);
        let plain: Option<Vec<u16>> = plain.iter().map(|byte| to_u16(self.alphabet.value(*byte)?)).collect();
        let encrypted = permutation.encrypt(tweak, plain?)?;
        let begin = WIDTH_MAX.checked_sub(encrypted.len())?;
        for (slot, digit) in buffer[begin..].iter_mut().zip(encrypted) {
            *slot = self.alphabet.digit(u64::from(digit));
        }
        Some(&buffer[begin..])
    }
}

fn to_u16(value: u64) -> Option<u16> {
    u16::try_from(value).ok()
}
