//! `re=`: a regular expression that takes linear time, with what its matches can hold and how long they can be.

use regex::{Regex, RegexBuilder};
use regex_syntax::{
    ParserBuilder,
    hir::{Class, Hir, HirKind},
};

use crate::{
    letters::Letters,
    limits::{RE_BYTES_MAX, RE_COMPILED_BYTES_MAX, RE_NEST_MAX, VALUE_CHARS_MAX},
    template::lengths::Lengths,
};

/// A pattern for whole values.
#[derive(Debug, Clone)]
pub(crate) struct Re {
    written: String,
    whole: Regex,
    pub(crate) reach: Reach,
    /// What it costs to make ready: about how many ranges of characters it has, each as often as it is repeated.
    pub(crate) weight: usize,
    hir: Hir,
}

/// What matches can hold, and between how many and how many characters.
#[derive(Debug, Clone)]
pub(crate) struct Reach {
    pub(crate) letters: Letters,
    pub(crate) min: usize,
    /// `usize::MAX` where nothing bounds it.
    pub(crate) max: usize,
}

impl Re {
    /// Reads a pattern; the error is for people.
    pub(crate) fn new(written: &str) -> Result<Self, String> {
        if written.len() > RE_BYTES_MAX {
            return Err(format!("re has {} bytes: at most {RE_BYTES_MAX} are allowed", written.len()));
        }
        let plain = |error: String| {
            let line = error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            format!("re is {written:?}: {line}")
        };
        let hir = ParserBuilder::new()
            .nest_limit(RE_NEST_MAX)
            .build()
            .parse(written)
            .map_err(|error| plain(error.to_string()))?;
        let whole = RegexBuilder::new(&format!("^(?:{written})$"))
            .nest_limit(RE_NEST_MAX + 2)
            .size_limit(RE_COMPILED_BYTES_MAX)
            .dfa_size_limit(RE_COMPILED_BYTES_MAX)
            .build()
            .map_err(|error| plain(error.to_string()))?;
        Ok(Self { written: written.to_owned(), whole, reach: reach(&hir), weight: weight(&hir), hir })
    }

    /// The pattern as it was written.
    pub(crate) fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether a value of these letters, between so many and so many characters, may match.
    pub(crate) fn has_value(&self, letters: &Letters, low: usize, high: usize) -> bool {
        Lengths::of(&self.hir, letters).all().any(|length| (low..=high).contains(&length))
    }

    /// All values that match, where they are at most so many.
    pub(crate) fn list(&self, most: usize) -> Option<Vec<String>> {
        let mut texts = texts(&self.hir, most)?;
        texts.sort();
        texts.dedup();
        Some(texts)
    }

    /// Whether a whole value matches.
    pub(crate) fn matches(&self, value: &str) -> bool {
        // `$` would let a line end pass in other engines; in this one it is the very end.
        self.whole.is_match(value)
    }
}

/// What an expression matches, at most so many texts; `None` where there are more, or where it looks at what stands around.
fn texts(hir: &Hir, most: usize) -> Option<Vec<String>> {
    let of_one = |text: &str| Some(vec![text.to_owned()]);
    let texts = match hir.kind() {
        HirKind::Empty => of_one(""),
        HirKind::Look(_) | HirKind::Class(Class::Bytes(_)) => None,
        HirKind::Literal(literal) => of_one(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(Class::Unicode(class)) => {
            let chars = class.iter().flat_map(|range| range.start()..=range.end());
            Some(chars.take(most + 1).map(String::from).collect())
        }
        HirKind::Capture(capture) => texts(&capture.sub, most),
        HirKind::Repetition(repeated) => {
            let one = texts(&repeated.sub, most)?;
            let (mut row, mut all) = (vec![String::new()], Vec::new());
            let times =
                repeated.max.filter(|max| usize::try_from(*max).is_ok_and(|max| max <= VALUE_CHARS_MAX))?;
            for count in 0..=times {
                if count > 0 {
                    row = joined(&row, &one, most)?;
                }
                if count >= repeated.min {
                    all.extend(row.iter().cloned());
                }
                if all.len() > most {
                    return None;
                }
            }
            Some(all)
        }
        HirKind::Concat(parts) => {
            parts.iter().try_fold(vec![String::new()], |all, part| joined(&all, &texts(part, most)?, most))
        }
        HirKind::Alternation(parts) => {
            let each: Option<Vec<_>> = parts.iter().map(|part| texts(part, most)).collect();
            Some(each?.concat())
        }
    };
    texts.filter(|texts| texts.len() <= most)
}

/// Each of the one with each of the other.
fn joined(one: &[String], other: &[String], most: usize) -> Option<Vec<String>> {
    let is_few = one.len().saturating_mul(other.len()) <= most;
    is_few
        .then(|| one.iter().flat_map(|one| other.iter().map(move |other| format!("{one}{other}"))).collect())
}

fn weight(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(Class::Unicode(class)) => class.ranges().len(),
        HirKind::Class(Class::Bytes(class)) => class.ranges().len(),
        HirKind::Capture(capture) => weight(&capture.sub),
        HirKind::Repetition(repeated) => {
            let times = repeated.max.unwrap_or(repeated.min.saturating_add(1)).max(1);
            weight(&repeated.sub).saturating_mul(usize::try_from(times).unwrap_or(usize::MAX))
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(weight).fold(0, usize::saturating_add)
        }
    }
}

/// An upper bound of what an expression matches. The parser has bounded its depth.
pub(super) fn reach(hir: &Hir) -> Reach {
    let nothing = Reach { letters: Letters::none(), min: 0, max: 0 };
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => nothing,
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).unwrap_or_default();
            let count = text.chars().count();
            Reach { letters: Letters::of(text), min: count, max: count }
        }
        HirKind::Class(class) => {
            let mut letters = Letters::none();
            if let Class::Unicode(class) = class {
                letters.add_class(class);
            }
            Reach { letters, min: 1, max: 1 }
        }
        HirKind::Capture(capture) => reach(&capture.sub),
        HirKind::Repetition(repeated) => {
            let one = reach(&repeated.sub);
            let times = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
            let max = repeated.max.map_or(usize::MAX, times);
            let max = if one.max == 0 { 0 } else { one.max.saturating_mul(max) };
            Reach { min: one.min.saturating_mul(times(repeated.min)), max, letters: one.letters }
        }
        HirKind::Concat(parts) => parts.iter().map(reach).fold(nothing, |all, part| {
            let mut letters = all.letters;
            letters.add(&part.letters);
            Reach { letters, min: all.min.saturating_add(part.min), max: all.max.saturating_add(part.max) }
        }),
        HirKind::Alternation(parts) => {
            let parts = parts.iter().map(reach);
            let either = parts.reduce(|all, part| {
                let mut letters = all.letters;
                letters.add(&part.letters);
                Reach { letters, min: all.min.min(part.min), max: all.max.max(part.max) }
            });
            either.unwrap_or(nothing)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reach_bounds_what_matches() {
        let of = |re: &str| Re::new(re).unwrap().reach;
        assert_eq!((of("[A-Z]{2,4}").min, of("[A-Z]{2,4}").max), (2, 4));
        assert_eq!((of("(ab|京)+-?").min, of("(ab|京)+-?").max), (1, usize::MAX));
        assert_eq!(of("(ab|京)+-?").letters, Letters::of("ab京-"));
        assert_eq!(of("(?i)x|").letters, Letters::of("xX"));
        assert_eq!((of("(){9}").min, of("()*").max), (0, 0));
    }

    #[test]
    fn what_few_words_match_is_a_list() {
        let of = |re: &str| Re::new(re).unwrap().list(256);
        let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(of("BC|C"), words(&["BC", "C"]));
        assert_eq!(of("(?i)a[xy]?|ax"), words(&["A", "AX", "AY", "Ax", "Ay", "a", "aX", "aY", "ax", "ay"]));
        assert_eq!(of("a{2,3}|"), words(&["", "aa", "aaa"]));
        for many in ["[0-9]{3}", "a*", "(a?){300}", "^a", ".", "((a|b){0,9}){0,9}", "(|a){130}"] {
            assert_eq!(of(many), None, "{many}");
        }
    }

    #[test]
    fn a_match_is_of_the_whole_value() {
        let re = Re::new("[0-9]+|x").unwrap();
        assert!(re.matches("12") && re.matches("x"));
        assert!(!re.matches("12x") && !re.matches("12\n") && !re.matches(""));
    }

    #[test]
    fn hostile_patterns_are_refused_with_their_bound() {
        for (re, said) in [
            ("(((a{200}){200}){200}){200}".to_owned(), "size limit"),
            ("(".repeat(40) + &")".repeat(40), "nest"),
            ("a".repeat(257), "at most 256"),
            ("[a".into(), "unclosed"),
            (r"(a)\1".into(), "backreference"),
        ] {
            let error = Re::new(&re).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
