//! How long the matches of a regular expression can be, of these letters alone.

use regex_syntax::hir::{Hir, HirKind, Look};

use super::re::reach;
use crate::{letters::Letters, limits::VALUE_CHARS_MAX};

/// Lengths up to the longest value, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Lengths([u64; VALUE_CHARS_MAX / 64 + 1]);

/// Lengths of matches by what stands around them: nothing before, nothing behind. A match at an end of a value has no blank
/// there, and anchors are ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Around([[Lengths; 2]; 2]);

impl Lengths {
    /// How long values are that match as a whole, of these letters, without a blank first or last. What looks at words is
    /// taken to be content.
    pub(super) fn of(hir: &Hir, letters: &Letters) -> Self {
        Around::of(hir, letters).0[1][1]
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

    fn has_empty(self) -> bool {
        self.0[0] & 1 == 1
    }

    fn without_empty(mut self) -> Self {
        self.0[0] &= !1;
        self
    }
}

impl Around {
    /// The parser has bounded how deep it goes.
    fn of(hir: &Hir, letters: &Letters) -> Self {
        match hir.kind() {
            HirKind::Empty => Self::empty(),
            HirKind::Look(look) => Self::by(|first, last| match look {
                // No value has a line end.
                Look::Start | Look::StartLF | Look::StartCRLF if !first => Lengths::default(),
                Look::End | Look::EndLF | Look::EndCRLF if !last => Lengths::default(),
                _ => Lengths::only(0),
            }),
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).unwrap_or_default();
                let is_held = Letters::of(text).without(letters).is_empty();
                let blank = (text.starts_with(' '), text.ends_with(' '));
                Self::by(|first, last| {
                    let may_be = is_held && !(first && blank.0 || last && blank.1);
                    if may_be { Lengths::only(text.chars().count()) } else { Lengths::default() }
                })
            }
            HirKind::Class(_) => {
                let held = reach(hir).letters.shared(letters);
                let seen = held.without(&Letters::of(" "));
                Self::by(|first, last| {
                    let letters = if first || last { &seen } else { &held };
                    if letters.is_empty() { Lengths::default() } else { Lengths::only(1) }
                })
            }
            HirKind::Capture(capture) => Self::of(&capture.sub, letters),
            HirKind::Repetition(repeated) => {
                Self::of(&repeated.sub, letters).repeated(repeated.min, repeated.max)
            }
            HirKind::Concat(parts) => {
                parts.iter().fold(Self::empty(), |all, part| all.then(&Self::of(part, letters)))
            }
            HirKind::Alternation(parts) => {
                let none = Self::by(|_, _| Lengths::default());
                parts.iter().fold(none, |all, part| all.or(&Self::of(part, letters)))
            }
        }
    }

    fn empty() -> Self {
        Self::by(|_, _| Lengths::only(0))
    }

    /// Each by whether nothing stands before, and nothing behind.
    fn by(of: impl Fn(bool, bool) -> Lengths) -> Self {
        Self([[of(false, false), of(false, true)], [of(true, false), of(true, true)]])
    }

    fn at(&self, first: bool, last: bool) -> Lengths {
        self.0[usize::from(first)][usize::from(last)]
    }

    fn or(&self, other: &Self) -> Self {
        Self::by(|first, last| self.at(first, last).or(other.at(first, last)))
    }

    /// One after the other: each is at an end also where the other one is empty.
    fn then(&self, other: &Self) -> Self {
        Self::by(|first, last| {
            let mut all = Lengths::default();
            let (alone, followed) = (self.at(first, last), self.at(first, false));
            let (only, behind) = (other.at(first, last), other.at(false, last));
            if alone.has_empty() && only.has_empty() {
                all = Lengths::only(0);
            }
            if behind.has_empty() {
                all = all.or(alone.without_empty());
            }
            if followed.has_empty() {
                all = all.or(only.without_empty());
            }
            all.or(followed.without_empty().then(behind.without_empty()))
        })
    }

    /// So many times at least, and at most.
    fn repeated(&self, least: u32, most: Option<u32>) -> Self {
        let mut all = Self::empty();
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
            let next = all.or(&all.then(self));
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

    #[test]
    fn anchors_are_ends_and_no_blank_is_at_one() {
        for nothing in ["a^b", "a$b", "(a|b)(^c)", "(a$)+b", "^ a", "a $", " +", "[ ~]a|b[ ~]", "(?m)a^b"] {
            let hir = regex_syntax::parse(nothing).unwrap();
            assert_eq!(Lengths::of(&hir, &Letters::of("abc ")).all().count(), 0, "{nothing}");
        }
        let of = |re: &str| {
            let hir = regex_syntax::parse(re).unwrap();
            Lengths::of(&hir, &Letters::of("abc ")).all().collect::<Vec<_>>()
        };
        assert_eq!(of("^a$"), [1]);
        assert_eq!(of("(^a|$b|c)*"), (0..=VALUE_CHARS_MAX).collect::<Vec<_>>());
        assert_eq!(of("a^b|ab"), [2]);
        assert_eq!(of("(b*)^a"), [1], "where nothing is before it");
        assert_eq!(of("a b"), [3]);
        assert_eq!(of(" ?a ?"), [1]);
        assert_eq!(of("[a ]{1,3}"), [1, 2, 3]);
        assert_eq!(of(r"a\bb"), [2], "what looks at words is taken to be content");
    }
}
