//! The possible lengths of a regular expression's matches over a charset.

use regex_syntax::hir::{Hir, HirKind, Look};

use crate::{charset::Charset, limits::VALUE_CHARS_MAX};

use super::match_bounds::MatchBounds;

/// A set of lengths up to the longest value: one bit per length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct MatchLengths([u64; VALUE_CHARS_MAX / 64 + 1]);

/// Lengths of matches, by whether they are at the start and at the end of the value. A match at an end has no blank there, and
/// anchors match only at ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct EdgeLengths([[MatchLengths; 2]; 2]);

impl MatchLengths {
    /// The lengths of values of `charset` that match as a whole, without a blank at an end. Word boundaries are taken to match.
    pub(super) fn of(hir: &Hir, charset: &Charset) -> Self {
        EdgeLengths::of(hir, charset).0[1][1]
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

    /// The lengths in ascending order.
    pub(super) fn all(self) -> impl Iterator<Item = usize> {
        (0..=VALUE_CHARS_MAX).filter(move |length| self.0[length / 64] >> (length % 64) & 1 == 1)
    }

    /// The lengths of a concatenation.
    fn then(self, other: Self) -> Self {
        self.all().fold(Self::default(), |sums, length| sums.or(other.longer_by(length)))
    }

    /// Each length plus `length`, up to the longest value.
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

impl EdgeLengths {
    /// The recursion is bounded by the parser's nesting limit.
    fn of(hir: &Hir, charset: &Charset) -> Self {
        match hir.kind() {
            HirKind::Empty => Self::empty(),
            HirKind::Look(look) => Self::by(|first, last| match look {
                // No value has line ends, so line anchors match at ends of the value only.
                Look::Start | Look::StartLF | Look::StartCRLF if !first => MatchLengths::default(),
                Look::End | Look::EndLF | Look::EndCRLF if !last => MatchLengths::default(),
                _ => MatchLengths::only(0),
            }),
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).unwrap_or_default();
                let is_held = Charset::of(text).without(charset).is_empty();
                let blank = (text.starts_with(' '), text.ends_with(' '));
                Self::by(|first, last| {
                    let may_be = is_held && !(first && blank.0 || last && blank.1);
                    if may_be { MatchLengths::only(text.chars().count()) } else { MatchLengths::default() }
                })
            }
            HirKind::Class(_) => {
                let held = MatchBounds::of(hir).charset.shared(charset);
                let without_blank = held.without(&Charset::of(" "));
                Self::by(|first, last| {
                    let allowed = if first || last { &without_blank } else { &held };
                    if allowed.is_empty() { MatchLengths::default() } else { MatchLengths::only(1) }
                })
            }
            HirKind::Capture(capture) => Self::of(&capture.sub, charset),
            HirKind::Repetition(repeated) => {
                Self::of(&repeated.sub, charset).repeated(repeated.min, repeated.max)
            }
            HirKind::Concat(parts) => {
                parts.iter().fold(Self::empty(), |all, part| all.then(&Self::of(part, charset)))
            }
            HirKind::Alternation(parts) => {
                let none = Self::by(|_, _| MatchLengths::default());
                parts.iter().fold(none, |all, part| all.or(&Self::of(part, charset)))
            }
        }
    }

    fn empty() -> Self {
        Self::by(|_, _| MatchLengths::only(0))
    }

    /// The lengths for each combination of (at the start, at the end).
    fn by(of: impl Fn(bool, bool) -> MatchLengths) -> Self {
        Self([[of(false, false), of(false, true)], [of(true, false), of(true, true)]])
    }

    fn at(&self, first: bool, last: bool) -> MatchLengths {
        self.0[usize::from(first)][usize::from(last)]
    }

    fn or(&self, other: &Self) -> Self {
        Self::by(|first, last| self.at(first, last).or(other.at(first, last)))
    }

    /// The lengths of a concatenation. A side is at both ends if the other side is empty.
    fn then(&self, other: &Self) -> Self {
        Self::by(|first, last| {
            let mut all = MatchLengths::default();
            let (alone, followed) = (self.at(first, last), self.at(first, false));
            let (only, behind) = (other.at(first, last), other.at(false, last));
            if alone.has_empty() && only.has_empty() {
                all = MatchLengths::only(0);
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

    /// The lengths of `least` to `most` repetitions.
    fn repeated(&self, least: u32, most: Option<u32>) -> Self {
        let mut all = Self::empty();
        for _ in 0..least {
            let next = all.then(self);
            if next == all {
                break;
            }
            all = next;
        }
        // After that many repetitions a non-empty match is longer than any value.
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
        MatchLengths::of(&hir, &Charset::of("abcx-")).all().collect()
    }

    #[test]
    fn lengths_of_matches_are_exact() {
        assert_eq!(of("a|bbb|[c-f]{5,7}"), [1, 3, 5, 6, 7]);
        assert_eq!(of("(ab){2}x?"), [4, 5]);
        assert_eq!(of("a*").len(), VALUE_CHARS_MAX + 1);
        assert_eq!(of("(aa)+-"), (3..=VALUE_CHARS_MAX).step_by(2).collect::<Vec<_>>());
        assert_eq!(of("a{70}b{50}"), [120]);
        assert_eq!(of("(a{70}){2}"), [0; 0], "longer than any value");
        assert_eq!(of("[yz]|ay"), [0; 0], "of other characters");
        assert_eq!(of("(a|){3}"), [0, 1, 2, 3]);
    }

    #[test]
    fn anchors_match_only_at_ends_and_blanks_never_do() {
        for nothing in ["a^b", "a$b", "(a|b)(^c)", "(a$)+b", "^ a", "a $", " +", "[ ~]a|b[ ~]", "(?m)a^b"] {
            let hir = regex_syntax::parse(nothing).unwrap();
            assert_eq!(MatchLengths::of(&hir, &Charset::of("abc ")).all().count(), 0, "{nothing}");
        }
        let of = |re: &str| {
            let hir = regex_syntax::parse(re).unwrap();
            MatchLengths::of(&hir, &Charset::of("abc ")).all().collect::<Vec<_>>()
        };
        assert_eq!(of("^a$"), [1]);
        assert_eq!(of("(^a|$b|c)*"), (0..=VALUE_CHARS_MAX).collect::<Vec<_>>());
        assert_eq!(of("a^b|ab"), [2]);
        assert_eq!(of("(b*)^a"), [1], "only at the start");
        assert_eq!(of("a b"), [3]);
        assert_eq!(of(" ?a ?"), [1]);
        assert_eq!(of("[a ]{1,3}"), [1, 2, 3]);
        assert_eq!(of(r"a\bb"), [2], "a word boundary is taken to match");
    }
}
