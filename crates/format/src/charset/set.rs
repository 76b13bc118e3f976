//! A set of characters, as the rules compute with them.

use std::fmt;

use regex_syntax::{
    ParserBuilder,
    hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind},
};

/// Characters preferred in examples, the best first.
const PREFERRED: &str = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ0abcdefghijklmnopqrstuvwxyz";

/// A set of characters.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Charset(ClassUnicode);

impl Charset {
    /// The empty set.
    pub(crate) fn none() -> Self {
        Self(ClassUnicode::empty())
    }

    /// The characters of a text.
    pub(crate) fn of(text: &str) -> Self {
        Self(ClassUnicode::new(text.chars().map(|c| ClassUnicodeRange::new(c, c))))
    }

    /// `0` to `9`.
    pub(crate) fn digits() -> Self {
        Self(ClassUnicode::new([ClassUnicodeRange::new('0', '9')]))
    }

    /// A bracket expression as in regular expressions, such as `[A-Z0-9]`; `None` for any other pattern.
    pub(crate) fn class(text: &str) -> Option<Self> {
        let hir = ParserBuilder::new().nest_limit(4).build().parse(text).ok()?;
        match hir.kind() {
            HirKind::Class(Class::Unicode(class)) => Some(Self(class.clone())),
            // The parser turns a class of one character into a literal.
            HirKind::Literal(literal) => std::str::from_utf8(&literal.0).ok().map(Self::of),
            _ => None,
        }
    }

    /// Adds the characters of a regular expression's class.
    pub(crate) fn add_class(&mut self, class: &ClassUnicode) {
        self.0.union(class);
    }

    /// Adds another set.
    pub(crate) fn add(&mut self, other: &Self) {
        self.0.union(&other.0);
    }

    /// The intersection.
    pub(crate) fn shared(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.0.intersect(&other.0);
        both
    }

    /// The difference: what only this set holds.
    pub(crate) fn without(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        rest.0.difference(&other.0);
        rest
    }

    /// Whether the set holds a character.
    pub(crate) fn contains(&self, c: char) -> bool {
        self.0.ranges().iter().any(|range| (range.start()..=range.end()).contains(&c))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.ranges().is_empty()
    }

    /// A character of the set for a message: a preferred one if possible.
    pub(crate) fn example(&self) -> Option<char> {
        PREFERRED
            .chars()
            .find(|&c| self.contains(c))
            .or_else(|| self.0.ranges().first().map(ClassUnicodeRange::start))
    }

    /// A preferred character picked by `seed`; without any, the one of [`example`](Self::example).
    pub(crate) fn pick(&self, seed: u64) -> Option<char> {
        let preferred: Vec<char> = PREFERRED.chars().filter(|&c| self.contains(c)).collect();
        let at = usize::try_from(seed % (preferred.len().max(1) as u64)).unwrap_or(0);
        preferred.get(at).copied().or_else(|| self.example())
    }

    /// The UTF-8 length of its shortest character.
    pub(crate) fn bytes_min(&self) -> usize {
        self.0.ranges().first().map_or(0, |range| range.start().len_utf8())
    }

    /// The UTF-8 length of its longest character.
    pub(crate) fn bytes_max(&self) -> usize {
        self.0.ranges().last().map_or(0, |range| range.end().len_utf8())
    }
}

impl fmt::Debug for Charset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for range in self.0.ranges().iter().take(8) {
            write!(f, "{}-{}", range.start(), range.end())?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_one_bracket_expression() {
        assert_eq!(Charset::class("[-]"), Some(Charset::of("-")));
        assert_eq!(Charset::class("a+"), None);
    }
}
