//! How long the matches of a regular expression can be, of these letters alone.

use regex_syntax::hir::{Hir, HirKind};

use super::re::reach;
use crate::{letters::Letters, limits::VALUE_CHARS_MAX};

/// Lengths up to the longest value, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Lengths([u64; VALUE_CHARS_MAX / 64 + 1]);

impl Lengths {
    /// How long matches of these letters are; what looks around is taken to be content.
    pub(super) fn of(hir: &Hir, letters: &Letters) -> Self {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Self::only(0),
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).unwrap_or_default();
                let is_held = Letters::of(text).without(letters).is_empty();
                if is_held { Self::only(text.chars().count()) } else { Self::default() }
            }
            HirKind::Class(_) => {
                let is_held = !reach(hir).letters.shared(letters).is_empty();
                if is_held { Self::only(1) } else { Self::default() }
            }
            HirKind::Capture(capture) => Self::of(&capture.sub, letters),
            HirKind::Repetition(repeated) => {
                Self::of(&repeated.sub, letters).repeated(repeated.min, repeated.max)
            }
            HirKind::Concat(parts) => {
                parts.iter().fold(Self::only(0), |all, part| all.then(Self::of(part, letters)))
            }
            HirKind::Alternation(parts) => {
                parts.iter().fold(Self::default(), |all, part| all.or(Self::of(part, letters)))
            }
        }
    }

    fn only(length: usize) -> Self {
        let mut lengths = Self::default();
        if length <= VALUE_CHARS_MAX {
            lengths.0[length / 64] |= 1 << (length % 64);
        }
        lengths
    }

    fn or(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own |= other);
        self
    }

    pub(super) fn all(self) -> impl Iterator<Item = usize> {
        (0..=VALUE_CHARS_MAX).filter(move |length| self.0[length / 64] >> (length % 64) & 1 == 1)
    }

    /// One after the other.
    fn then(self, other: Self) -> Self {
        self.all().fold(Self::default(), |sums, length| sums.or(other.longer_by(length)))
    }

    /// Each so much longer; what is longer than the longest value is left out.
    fn longer_by(self, length: usize) -> Self {
        let (words, bits) = (length / 64, length % 64);
        let mut longer = Self::default();
        for at in words..longer.0.len() {
            let low = if bits > 0 && at > words { self.0[at - words - 1] >> (64 - bits) } else { 0 };
            longer.0[at] = self.0[at - words] << bits | low;
        }
        longer
    }

    /// So many times at least, and at most.
    fn repeated(self, least: u32, most: Option<u32>) -> Self {
        let mut all = Self::only(0);
        for _ in 0..least {
            let next = all.then(self);
            if next == all {
                break;
            }
            all = next;
        }
        // Whoever repeats what is not empty is at the longest value by then.
        let more = most.map_or(usize::MAX, |most| most.saturating_sub(least) as usize).min(VALUE_CHARS_MAX);
        for _ in 0..more {
            let next = all.or(all.then(self));
            if next == all {
                break;
            }
            all = next;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(re: &str) -> Vec<usize> {
        let hir = regex_syntax::parse(re).unwrap();
        Lengths::of(&hir, &Letters::of("abcx-")).all().collect()
    }

    #[test]
    fn lengths_are_those_of_matches() {
        assert_eq!(of("a|bbb|[c-f]{5,7}"), [1, 3, 5, 6, 7]);
        assert_eq!(of("(ab){2}x?"), [4, 5]);
        assert_eq!(of("a*").len(), VALUE_CHARS_MAX + 1);
        assert_eq!(of("(aa)+-"), (3..=VALUE_CHARS_MAX).step_by(2).collect::<Vec<_>>());
        assert_eq!(of("a{70}b{50}"), [120]);
        assert_eq!(of("(a{70}){2}"), [0; 0], "longer than any value");
        assert_eq!(of("[yz]|ay"), [0; 0], "of other letters");
        assert_eq!(of("(a|){3}"), [0, 1, 2, 3]);
    }
}
