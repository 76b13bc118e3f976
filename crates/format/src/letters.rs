//! Which characters a field can hold: what proofs of unique decoding reason with.

mod signs;
mod visible;

use std::fmt;

use regex_syntax::{
    ParserBuilder,
    hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind},
};

/// Characters that read well in a message, the best first.
const PLAIN: &str = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ0abcdefghijklmnopqrstuvwxyz";

/// A set of characters.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Letters(ClassUnicode);

impl Letters {
    /// No character at all.
    pub(crate) fn none() -> Self {
        Self(ClassUnicode::empty())
    }

    /// The characters of a text.
    pub(crate) fn of(text: &str) -> Self {
        Self(ClassUnicode::new(text.chars().map(|c| ClassUnicodeRange::new(c, c))))
    }

    /// 0 to 9.
    pub(crate) fn digits() -> Self {
        Self(ClassUnicode::new([ClassUnicodeRange::new('0', '9')]))
    }

    /// All that a value may hold where nothing narrows it: what a person can tell from others on paper, each in one
    /// spelling, so that no normalization on the way makes two values one.
    pub(crate) fn visible() -> Self {
        visible::VISIBLE.clone()
    }

    /// Whether a text may hold a character.
    pub(crate) fn is_visible(c: char) -> bool {
        c.is_ascii_graphic() || visible::VISIBLE.contains(c)
    }

    /// A class as regular expressions write it, brackets included; `None` where it is none.
    pub(crate) fn class(text: &str) -> Option<Self> {
        let hir = ParserBuilder::new().nest_limit(4).build().parse(text).ok()?;
        match hir.kind() {
            HirKind::Class(Class::Unicode(class)) => Some(Self(class.clone())),
            // A class of one character arrives as that character.
            HirKind::Literal(literal) => std::str::from_utf8(&literal.0).ok().map(Self::of),
            _ => None,
        }
    }

    /// Takes in what a class of a regular expression holds.
    pub(crate) fn add_class(&mut self, class: &ClassUnicode) {
        self.0.union(class);
    }

    /// Takes in another set.
    pub(crate) fn add(&mut self, other: &Self) {
        self.0.union(&other.0);
    }

    /// What both hold.
    pub(crate) fn shared(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.0.intersect(&other.0);
        both
    }

    /// What only this one holds.
    pub(crate) fn without(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        rest.0.difference(&other.0);
        rest
    }

    /// Whether it holds a character.
    pub(crate) fn contains(&self, c: char) -> bool {
        self.0.ranges().iter().any(|range| (range.start()..=range.end()).contains(&c))
    }

    /// Whether it holds none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.ranges().is_empty()
    }

    /// A character that it holds: one that reads well in a message, if there is one.
    pub(crate) fn example(&self) -> Option<char> {
        PLAIN
            .chars()
            .find(|&c| self.contains(c))
            .or_else(|| self.0.ranges().first().map(ClassUnicodeRange::start))
    }

    /// Any of those that read well, by chance; where it holds none of them, the one that [`example`](Self::example) shows.
    pub(crate) fn plain(&self, chance: u64) -> Option<char> {
        let plain: Vec<char> = PLAIN.chars().filter(|&c| self.contains(c)).collect();
        let at = usize::try_from(chance % (plain.len().max(1) as u64)).unwrap_or(0);
        plain.get(at).copied().or_else(|| self.example())
    }

    /// The fewest bytes that one of its characters takes.
    pub(crate) fn bytes_min(&self) -> usize {
        self.0.ranges().first().map_or(0, |range| range.start().len_utf8())
    }

    /// The most bytes that one of its characters takes.
    pub(crate) fn bytes_max(&self) -> usize {
        self.0.ranges().last().map_or(0, |range| range.end().len_utf8())
    }

    /// As it is after letters of ASCII were put into one case.
    pub(crate) fn cased(&self, case: Case) -> Self {
        let (from, to): (&str, fn(&char) -> char) = match case {
            Case::Keep => return self.clone(),
            Case::Upper => ("abcdefghijklmnopqrstuvwxyz", char::to_ascii_uppercase),
            Case::Lower => ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", char::to_ascii_lowercase),
        };
        let changed: String = from.chars().filter(|&c| self.contains(c)).map(|c| to(&c)).collect();
        let mut cased = self.without(&Self::of(from));
        cased.add(&Self::of(&changed));
        cased
    }
}

/// What happens to letters of ASCII before anything else looks at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Case {
    /// They stay.
    #[default]
    Keep,
    /// `case=upper`.
    Upper,
    /// `case=lower`.
    Lower,
}

impl Case {
    /// A text in this case.
    pub(crate) fn apply(self, text: &str) -> String {
        match self {
            Self::Keep => text.to_owned(),
            Self::Upper => text.to_ascii_uppercase(),
            Self::Lower => text.to_ascii_lowercase(),
        }
    }
}

/// A character for a message: as it is, with its code point where it is not of ASCII, and what to write instead where it
/// is another spelling.
pub(crate) fn named(c: char) -> String {
    match (c.is_ascii(), visible::twin(c)) {
        (true, _) => format!("{c:?}"),
        (_, None) => format!("{c:?} (U+{:04X})", u32::from(c)),
        (_, Some(twin)) => format!("{c:?} (U+{:04X}, another spelling of {twin:?})", u32::from(c)),
    }
}

impl fmt::Debug for Letters {
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
    fn values_hold_what_can_be_told_apart_on_paper() {
        let visible = Letters::visible();
        assert!("aZ0-/京é€".chars().all(|c| visible.contains(c)));
        let hidden = "\u{200b}\u{202e}\u{301}\u{feff}\u{ad} \u{a0}\n\u{e000}\u{fe0f}\0";
        assert!(hidden.chars().all(|c| !visible.contains(c)), "{hidden:?}");
    }

    #[test]
    fn a_character_is_named_with_what_to_write_instead() {
        assert_eq!(named('-'), "'-'");
        assert_eq!(named('京'), "'京' (U+4EAC)");
        assert_eq!(named('\u{212a}'), "'\u{212a}' (U+212A, another spelling of \"K\")");
        assert_eq!(named('\u{200b}'), "'\\u{200b}' (U+200B)");
    }

    #[test]
    fn case_moves_letters_and_leaves_the_rest() {
        let upper = Letters::class("[a-cX0é]").unwrap().cased(Case::Upper);
        assert_eq!(upper, Letters::of("ABCX0é"));
        assert_eq!(Letters::class("[-]"), Some(Letters::of("-")));
        assert_eq!(Letters::class("a+"), None);
    }
}
