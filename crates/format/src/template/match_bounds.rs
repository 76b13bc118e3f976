//! Bounds of what a regular expression matches: its characters and its lengths.

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::charset::Charset;

/// The characters of all matches, and their least and greatest length.
#[derive(Debug, Clone)]
pub(crate) struct MatchBounds {
    pub(crate) charset: Charset,
    pub(crate) min: usize,
    /// `usize::MAX` without a bound.
    pub(crate) max: usize,
}

impl MatchBounds {
    /// The bounds of an expression. The recursion is bounded by the parser's nesting limit.
    pub(super) fn of(hir: &Hir) -> Self {
        let nothing = MatchBounds { charset: Charset::none(), min: 0, max: 0 };
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => nothing,
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).unwrap_or_default();
                let count = text.chars().count();
                MatchBounds { charset: Charset::of(text), min: count, max: count }
            }
            HirKind::Class(class) => {
                let mut charset = Charset::none();
                if let Class::Unicode(class) = class {
                    charset.add_class(class);
                }
                MatchBounds { charset, min: 1, max: 1 }
            }
            HirKind::Capture(capture) => Self::of(&capture.sub),
            HirKind::Repetition(repeated) => {
                let one = Self::of(&repeated.sub);
                let times = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
                let max = repeated.max.map_or(usize::MAX, times);
                let max = if one.max == 0 { 0 } else { one.max.saturating_mul(max) };
                MatchBounds { min: one.min.saturating_mul(times(repeated.min)), max, charset: one.charset }
            }
            HirKind::Concat(parts) => parts.iter().map(Self::of).fold(nothing, |all, part| {
                let (min, max) = (all.min.saturating_add(part.min), all.max.saturating_add(part.max));
                all.joined(&part, min, max)
            }),
            HirKind::Alternation(parts) => {
                let either = parts.iter().map(Self::of).reduce(|all, part| {
                    let (min, max) = (all.min.min(part.min), all.max.max(part.max));
                    all.joined(&part, min, max)
                });
                either.unwrap_or(nothing)
            }
        }
    }

    /// The characters of both, with these lengths.
    fn joined(mut self, other: &Self, min: usize, max: usize) -> Self {
        self.charset.add(&other.charset);
        Self { min, max, ..self }
    }
}
