//! Span: the mapping from encoded numbers to users' numbers, up to an end. It is `start + step * (encoded - 2^(n+m))`, or
//! the encoded number itself.

use std::str::FromStr;

use crate::{Block, FieldFault, Layout, word_enum};

word_enum! {
    /// Integer type that every number of a sequence must fit, so that no reader rounds or wraps it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Fits {
        /// At most 2^53 - 1: exact in JavaScript and in every f64. The default.
        #[default]
        Js = "js",
        /// At most 2^31 - 1.
        Int32 = "int32",
        /// At most 2^32 - 1.
        Uint32 = "uint32",
        /// At most 2^63 - 1.
        Int64 = "int64",
    }
}

impl Fits {
    /// The highest number that fits.
    pub const fn limit(self) -> u64 {
        match self {
            Self::Js => (1 << 53) - 1,
            Self::Int32 => (1 << 31) - 1,
            Self::Uint32 => (1 << 32) - 1,
            Self::Int64 => Block::NUMBER_MAX,
        }
    }
}

impl FromStr for Fits {
    type Err = FieldFault;

    fn from_str(text: &str) -> Result<Self, FieldFault> {
        let fault =
            || FieldFault::new("fits", format!("{text:?}"), "js, int32, uint32 and int64 are allowed");
        Self::from_word(text).ok_or_else(fault)
    }
}

word_enum! {
    /// How encoded numbers become users' numbers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Numbering {
        /// `start + step * (encoded - 2^(n+m))`: the first number of slot 0 is `start`, in every layout.
        #[default]
        Ordinal = "ordinal",
        /// The encoded number itself, `(raw << n | slot) << m | low`: its low bits name the slot.
        Encoded = "encoded",
    }
}

impl FromStr for Numbering {
    type Err = FieldFault;

    fn from_str(text: &str) -> Result<Self, FieldFault> {
        let fault = || FieldFault::new("numbering", format!("{text:?}"), "ordinal and encoded are allowed");
        Self::from_word(text).ok_or_else(fault)
    }
}

/// Numbers of a sequence: from `start`, `step` apart, up to `end` and the limit of `fits`.
///
/// ```
/// use sequent_core::{Block, Fits, Layout, Span};
/// let layout = Layout::new(2, 0)?;
/// let span = Span::new(1000, 10, None, Fits::Js)?;
/// let encoded = Block::new(4, 1, 3)?;                       // the first three ids of a ring of four
/// assert_eq!(span.numbers(layout, encoded), Some(Block::new(1000, 10, 3)?));
/// assert_eq!(span.encoded(layout, 1020), Some(6));
/// let itself = Span::itself(None, Fits::Js)?;
/// assert_eq!(itself.numbers(layout, encoded), Some(encoded), "4 is raw id 1 of slot 0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    start: u64,
    step: u64,
    limit: u64,
    numbering: Numbering,
}

impl Default for Span {
    fn default() -> Self {
        Self { start: 1, step: 1, limit: Fits::Js.limit(), numbering: Numbering::Ordinal }
    }
}

impl Span {
    /// A span, checked: bounds that leave a sequence no number, or make numbers equal, are refused.
    pub fn new(start: u64, step: u64, end: Option<u64>, fits: Fits) -> Result<Self, FieldFault> {
        let limit = fits.limit();
        let beyond = || format!("fits = \"{fits}\" allows at most {limit}");
        if start > Block::NUMBER_MAX {
            return Err(FieldFault::new("start", start, format!("0 to {} are allowed", Block::NUMBER_MAX)));
        }
        if step == 0 {
            return Err(FieldFault::new("step", step, "at least 1 is allowed"));
        }
        if start > limit {
            return Err(FieldFault::new("start", start, beyond()));
        }
        match end {
            Some(end) if end < start => {
                Err(FieldFault::new("end", end, format!("at least start, {start}, is allowed")))
            }
            Some(end) if end > limit => Err(FieldFault::new("end", end, beyond())),
            _ => Ok(Self { start, step, limit: end.unwrap_or(limit), numbering: Numbering::Ordinal }),
        }
    }

    /// The span of encoded numbers as they are, up to an end.
    pub fn itself(end: Option<u64>, fits: Fits) -> Result<Self, FieldFault> {
        Self::new(0, 1, end, fits).map(|span| Self { numbering: Numbering::Encoded, ..span })
    }

    /// The same without an end of its own.
    #[must_use]
    pub const fn endless(self) -> Self {
        Self { limit: Block::NUMBER_MAX, ..self }
    }

    /// How encoded numbers become these.
    pub const fn numbering(self) -> Numbering {
        self.numbering
    }

    /// The encoded number that is `start`.
    pub const fn zero(self, layout: Layout) -> u64 {
        match self.numbering {
            Numbering::Ordinal => layout.origin(),
            Numbering::Encoded => 0,
        }
    }

    /// The number of a place, counted from 0 in a layout as [`Layout::place_of`] does. It may be above the limit.
    pub const fn number_at(self, layout: Layout, place: u64) -> u64 {
        let steps = place.saturating_add(layout.origin() - self.zero(layout));
        self.step.saturating_mul(steps).saturating_add(self.start)
    }

    /// The place of the highest number up to `number`; `None` if every number is above it.
    pub const fn place_up_to(self, layout: Layout, number: u64) -> Option<u64> {
        match number.checked_sub(self.start) {
            Some(above) => (above / self.step).checked_sub(layout.origin() - self.zero(layout)),
            None => None,
        }
    }

    /// The first number. Of encoded numbers it is 0, which is below the first that any layout gives.
    pub const fn start(self) -> u64 {
        self.start
    }

    /// The distance between neighbours.
    pub const fn step(self) -> u64 {
        self.step
    }

    /// The highest number allowed: `end`, or else the limit of the type.
    pub const fn limit(self) -> u64 {
        self.limit
    }

    /// How many numbers the span holds, from `start` on.
    pub const fn capacity(self) -> u64 {
        (self.limit - self.start) / self.step + 1
    }

    /// The highest raw id that has at least one number within the limit in some slot.
    pub const fn raw_max(self, layout: Layout) -> u64 {
        let highest = self.zero(layout) as u128 + self.capacity() as u128 - 1;
        let bounded = if highest > Block::NUMBER_MAX as u128 { Block::NUMBER_MAX as u128 } else { highest };
        #[allow(clippy::cast_possible_truncation, reason = "bounded by NUMBER_MAX just above")]
        layout.decode(bounded as u64).0
    }

    /// The users' numbers of a block of encoded numbers, cut at the limit; `None` if none is left.
    pub fn numbers(self, layout: Layout, encoded: Block) -> Option<Block> {
        let offset = encoded.first().checked_sub(self.zero(layout))?;
        let first = u128::from(self.start) + u128::from(self.step) * u128::from(offset);
        if first > u128::from(self.limit) {
            return None;
        }
        let step = u128::from(self.step) * u128::from(encoded.step());
        let fitting = (u128::from(self.limit) - first) / step + 1;
        let count = fitting.min(u128::from(encoded.count()));
        let step = if count == 1 { 1 } else { step };
        Block::new(u64::try_from(first).ok()?, u64::try_from(step).ok()?, u64::try_from(count).ok()?).ok()
    }

    /// The encoded number of a user's number; `None` if the span does not contain it.
    pub const fn encoded(self, layout: Layout, number: u64) -> Option<u64> {
        if number < self.start || number > self.limit || !(number - self.start).is_multiple_of(self.step) {
            return None;
        }
        ((number - self.start) / self.step).checked_add(self.zero(layout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bounds_name_field_value_and_bound() {
        let beyond = Block::NUMBER_MAX + 1;
        let start = FieldFault::new("start", beyond, "0 to 9223372036854775807 are allowed");
        assert_eq!(Span::new(beyond, 1, None, Fits::Js), Err(start));
        assert!(Span::new(0, 1, None, Fits::Js).is_ok());
        let step = FieldFault::new("step", 0, "at least 1 is allowed");
        assert_eq!(Span::new(1, 0, None, Fits::Js), Err(step));
        let end = FieldFault::new("end", 4, "at least start, 5, is allowed");
        assert_eq!(Span::new(5, 1, Some(4), Fits::Js), Err(end));
        let text = Span::new(1, 1, Some(1 << 31), Fits::Int32).unwrap_err().to_string();
        assert_eq!(text, "end is 2147483648: fits = \"int32\" allows at most 2147483647");
    }

    #[test]
    fn encoded_numbers_are_the_ids_themselves() {
        let (layout, span) = (Layout::new(2, 1).unwrap(), Span::itself(Some(100), Fits::Js).unwrap());
        let id = layout.encode(5, 3).unwrap() << 1;
        assert_eq!(id, (5 << 2 | 3) << 1);
        assert_eq!(span.numbers(layout, Block::new(id, 1, 2).unwrap()), Block::new(46, 1, 2).ok());
        assert_eq!((span.encoded(layout, 46), span.encoded(layout, 101)), (Some(46), None));
        assert_eq!(span.raw_max(layout), 12, "96 is raw id 12 of slot 0");
        assert_eq!(span.numbers(layout, Block::new(100, 1, 8).unwrap()), Block::new(100, 1, 1).ok());
        let place = layout.place_of(5, 3).unwrap();
        assert_eq!((span.number_at(layout, place), span.place_up_to(layout, 47)), (47, Some(place)));
        assert_eq!(span.place_up_to(layout, layout.origin() - 1), None, "no number is as low");
    }

    proptest! {
        #[test]
        fn a_place_is_the_number_of_it(
            n in 0..4_u8, m in 0..4_u8, start in 0..500_u64, step in 1..7_u64, place in 0..100_u64,
        ) {
            let layout = Layout::new(n, m).unwrap();
            for span in [Span::new(start, step, None, Fits::Js).unwrap(), Span::itself(None, Fits::Js).unwrap()] {
                let number = span.number_at(layout, place);
                prop_assert_eq!(span.place_up_to(layout, number), Some(place));
                prop_assert_eq!(span.encoded(layout, number), Some(place + layout.origin()));
            }
        }

        #[test]
        fn numbers_and_encoded_are_inverse(
            n in 0..4_u8, m in 0..4_u8, start in 0..500_u64, step in 1..7_u64, raw in 1..100_u64, count in 1..30_u64,
        ) {
            let layout = Layout::new(n, m).unwrap();
            let span = Span::new(start, step, Some(start + 900), Fits::Js).unwrap();
            let encoded = Block::new(raw << (n + m), 1, count).unwrap();
            let numbers: Vec<u64> = span.numbers(layout, encoded).iter().flat_map(Block::iter).collect();
            let back: Vec<u64> = numbers.iter().map(|&x| span.encoded(layout, x).unwrap()).collect();
            let expected: Vec<u64> =
                encoded.iter().filter(|e| start + step * (e - layout.origin()) <= start + 900).collect();
            prop_assert_eq!(back, expected);
        }
    }
}
