//! What a template requires of the counter behind it.

use std::time::Duration;

use crate::{limits::NUMBER_MAX, template::Overflow};

use super::Format;

/// The word of older rule engines for the counter of the sequence itself.
const OWN_COUNTER: &str = "sequence";

/// What a template requires of its counter. The allocator uses it, so that it never gives a number without a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterSpec {
    /// The first number.
    pub start: u64,
    /// The distance between two numbers.
    pub step: u64,
    /// The last number with a text of its own. Numbers that wrap after a time have no last one.
    pub end: u64,
    /// The count of numbers of a key.
    pub capacity: u64,
    /// The first number that raises a warning: `warn=`.
    pub warn_at: Option<u64>,
    /// `over=wrap` with `reuse_after`: numbers a cycle apart share a text. The allocator must give them that long after each other.
    pub wrap: Option<Wrap>,
}

/// A template whose numbers wrap after a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrap {
    /// The distance between two numbers with the same text.
    pub cycle: u64,
    /// How long a text must be unused before it is given again.
    pub reuse_after: Duration,
}

impl Format {
    /// The sequence that `ref=` of the number names: the template draws from its counter. `None` if it names none, or
    /// `sequence`, the word of older rule engines for a sequence's own counter.
    pub fn counter_name(&self) -> Option<&str> {
        let (_, seq) = self.analysis().seq();
        seq.label.as_deref().filter(|label| seq.is_ref && *label != OWN_COUNTER)
    }

    /// What the template requires of its counter.
    pub fn counter_spec(&self) -> CounterSpec {
        let (_, seq) = self.analysis().seq();
        let codec = self.codec();
        let count_up_to = |high: u64| high.saturating_sub(seq.start) / seq.step + 1;
        // `warn=` refers to the planned digits, even if the text may grow.
        let planned = seq.alphabet.highest(seq.width).min(codec.last);
        let warn = |percent: u8| {
            let at = (u128::from(planned) * u128::from(percent)).div_ceil(100);
            u64::try_from(at).unwrap_or(planned).max(seq.start)
        };
        let wrap = match seq.over {
            Overflow::Wrap { reuse_after: Some(reuse_after) } => {
                codec.cycle.map(|cycle| Wrap { cycle, reuse_after })
            }
            _ => None,
        };
        CounterSpec {
            start: seq.start,
            step: seq.step,
            end: if wrap.is_some() { NUMBER_MAX } else { codec.last },
            capacity: count_up_to(codec.last),
            warn_at: seq.warn_percent.map(warn),
            wrap,
        }
    }
}
