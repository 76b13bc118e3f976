//! `re=`: a regular expression for values, which matches in linear time.

use regex::{Regex, RegexBuilder};
use regex_syntax::{
    ParserBuilder,
    hir::{Class, Hir, HirKind},
};

use crate::{
    charset::Charset,
    limits::{RE_BYTES_MAX, RE_COMPILED_BYTES_MAX, RE_NEST_MAX, VALUE_CHARS_MAX},
};

use super::{match_bounds::MatchBounds, match_lengths::MatchLengths};

/// A regular expression that whole values must match.
#[derive(Debug, Clone)]
pub(crate) struct ValueRegex {
    written: String,
    whole: Regex,
    pub(crate) bounds: MatchBounds,
    /// The cost of compiling it: the number of character ranges, times their repetitions.
    pub(crate) weight: usize,
    hir: Hir,
}

impl ValueRegex {
    /// Parses and compiles an expression. The error is for people.
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
        Ok(Self {
            written: written.to_owned(),
            whole,
            bounds: MatchBounds::of(&hir),
            weight: weight(&hir),
            hir,
        })
    }

    /// The expression as it was written.
    pub(crate) fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether a value of `low` to `high` characters of `charset` may match.
    pub(crate) fn has_value(&self, charset: &Charset, low: usize, high: usize) -> bool {
        MatchLengths::of(&self.hir, charset).all().any(|length| (low..=high).contains(&length))
    }

    /// All matching values, sorted; `None` if there are more than `max`.
    pub(crate) fn matches_up_to(&self, max: usize) -> Option<Vec<String>> {
        let mut texts = texts(&self.hir, max)?;
        texts.sort();
        texts.dedup();
        Some(texts)
    }

    /// Whether the whole value matches.
    pub(crate) fn matches(&self, value: &str) -> bool {
        // In this engine `$` is the end of the text. In others it would also match before a final line end.
        self.whole.is_match(value)
    }
}

/// All texts that an expression matches. `None` if there are more than `max`, or if it has anchors or word boundaries.
fn texts(hir: &Hir, max: usize) -> Option<Vec<String>> {
    let of_one = |text: &str| Some(vec![text.to_owned()]);
    let texts = match hir.kind() {
        HirKind::Empty => of_one(""),
        HirKind::Look(_) | HirKind::Class(Class::Bytes(_)) => None,
        HirKind::Literal(literal) => of_one(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(Class::Unicode(class)) => {
            let chars = class.iter().flat_map(|range| range.start()..=range.end());
            Some(chars.take(max + 1).map(String::from).collect())
        }
        HirKind::Capture(capture) => texts(&capture.sub, max),
        HirKind::Repetition(repeated) => {
            let one = texts(&repeated.sub, max)?;
            let (mut row, mut all) = (vec![String::new()], Vec::new());
            let times =
                repeated.max.filter(|max| usize::try_from(*max).is_ok_and(|max| max <= VALUE_CHARS_MAX))?;
            for count in 0..=times {
                if count > 0 {
                    row = joined(&row, &one, max)?;
                }
                if count >= repeated.min {
                    all.extend(row.iter().cloned());
                }
                if all.len() > max {
                    return None;
                }
            }
            Some(all)
        }
        HirKind::Concat(parts) => {
            parts.iter().try_fold(vec![String::new()], |all, part| joined(&all, &texts(part, max)?, max))
        }
        HirKind::Alternation(parts) => {
            let each: Option<Vec<_>> = parts.iter().map(|part| texts(part, max)).collect();
            Some(each?.concat())
        }
    };
    texts.filter(|texts| texts.len() <= max)
}

/// Each text of `one` followed by each of `other`.
fn joined(one: &[String], other: &[String], max: usize) -> Option<Vec<String>> {
    let is_few = one.len().saturating_mul(other.len()) <= max;
    is_few
        .then(|| one.iter().flat_map(|one| other.iter().map(move |other| format!("{one}{other}"))).collect())
}

/// See [`ValueRegex::weight`].
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_cover_all_matches() {
        let of = |re: &str| ValueRegex::new(re).unwrap().bounds;
        assert_eq!((of("[A-Z]{2,4}").min, of("[A-Z]{2,4}").max), (2, 4));
        assert_eq!((of("(ab|京)+-?").min, of("(ab|京)+-?").max), (1, usize::MAX));
        assert_eq!(of("(ab|京)+-?").charset, Charset::of("ab京-"));
        assert_eq!(of("(?i)x|").charset, Charset::of("xX"));
        assert_eq!((of("(){9}").min, of("()*").max), (0, 0));
    }

    #[test]
    fn an_expression_of_few_matches_is_enumerated() {
        let of = |re: &str| ValueRegex::new(re).unwrap().matches_up_to(256);
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
        let re = ValueRegex::new("[0-9]+|x").unwrap();
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
            let error = ValueRegex::new(&re).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
