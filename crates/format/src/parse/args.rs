//! The arguments of a part, taken one by one; what nobody took is a fault that names its nearest neighbour.

use std::fmt::Display;

use crate::{TemplateError, parse::lexer::Arg};

/// The arguments of one part.
pub(crate) struct Args {
    /// Where the part begins.
    pub(crate) column: usize,
    kind: String,
    bare: Option<Arg>,
    named: Vec<Arg>,
    known: Vec<&'static str>,
}

/// A value, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed<T> {
    pub(crate) column: usize,
    pub(crate) value: T,
}

impl Args {
    pub(crate) fn new(column: usize, kind: &str, args: Vec<Arg>) -> Result<Self, TemplateError> {
        let mut bare = None;
        let mut named: Vec<Arg> = Vec::new();
        for (at, arg) in args.into_iter().enumerate() {
            match &arg.name {
                None if at == 0 => bare = Some(arg),
                None => {
                    let cut = named.last().and_then(|arg| cut_short(arg.name.as_deref()?, &arg.value));
                    let alone = || "only the first value may stand alone; write name=value".to_owned();
                    return Err(TemplateError::new(arg.column, format!("{:?} has no name", arg.value))
                        .hint(cut.unwrap_or_else(alone)));
                }
                Some(name) if named.iter().any(|other| other.name.as_ref() == Some(name)) => {
                    return Err(TemplateError::new(arg.column, format!("{name} is given twice")));
                }
                Some(_) => named.push(arg),
            }
        }
        Ok(Self { column, kind: kind.to_owned(), bare, named, known: Vec::new() })
    }

    /// The bare value in front.
    pub(crate) fn bare(&mut self) -> Option<Placed<String>> {
        self.bare.take().map(|arg| Placed { column: arg.column, value: arg.value })
    }

    /// The bare value, or the fault that it is missing.
    pub(crate) fn needed(&mut self, what: &str, example: &str) -> Result<Placed<String>, TemplateError> {
        let column = self.column;
        self.bare().ok_or_else(|| {
            TemplateError::new(column, format!("{} names no {what}", self.kind))
                .hint(format!("write {example}"))
        })
    }

    /// A value by its name.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<Placed<String>> {
        self.known.push(name);
        let at = self.named.iter().position(|arg| arg.name.as_deref() == Some(name))?;
        let arg = self.named.remove(at);
        Some(Placed { column: arg.column, value: arg.value })
    }

    /// A number by its name, within bounds.
    pub(crate) fn number(
        &mut self,
        name: &'static str,
        low: u64,
        high: u64,
    ) -> Result<Option<u64>, TemplateError> {
        let Some(given) = self.take(name) else { return Ok(None) };
        let number = given.value.parse().ok().filter(|number| (low..=high).contains(number));
        let fault = || given.fault(name, format!("{low} to {high} are allowed"));
        number.map(Some).ok_or_else(fault)
    }

    /// A count by its name, within bounds.
    pub(crate) fn count(
        &mut self,
        name: &'static str,
        low: usize,
        high: usize,
    ) -> Result<Option<usize>, TemplateError> {
        let number = self.number(name, low as u64, high as u64)?;
        Ok(number.and_then(|number| usize::try_from(number).ok()))
    }

    /// One of a few words by its name.
    pub(crate) fn word<T: Copy>(
        &mut self,
        name: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<Placed<T>>, TemplateError> {
        let Some(given) = self.take(name) else { return Ok(None) };
        let found = words.iter().find(|(word, _)| *word == given.value);
        let column = given.column;
        found.map(|(_, value)| Some(Placed { column, value: *value })).ok_or_else(|| {
            let list: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            given.fault(name, format!("{} are allowed", list.join(", "))).hint(nearest(&given.value, &list))
        })
    }

    /// All named values that are left, for functions, which know their own.
    pub(crate) fn rest(&mut self) -> Vec<(String, String)> {
        let named = std::mem::take(&mut self.named).into_iter();
        named.filter_map(|arg| Some((arg.name?, arg.value))).collect()
    }

    /// Refuses what nobody took.
    pub(crate) fn finish(mut self) -> Result<(), TemplateError> {
        if let Some(bare) = self.bare.take() {
            let what = format!("{} takes no value such as {:?}", self.kind, bare.value);
            return Err(TemplateError::new(bare.column, what));
        }
        let Some(arg) = self.named.first() else { return Ok(()) };
        let name = arg.name.clone().unwrap_or_default();
        let what = format!("{} takes no {name:?}: {} are allowed", self.kind, self.known.join(", "));
        Err(TemplateError::new(arg.column, what).hint(nearest(&name, &self.known)))
    }
}

impl<T: Display> Placed<T> {
    /// The fault that this value is not allowed: field, value, bound.
    pub(crate) fn fault(&self, name: &str, bound: impl Display) -> TemplateError {
        TemplateError::new(self.column, format!("{name} is {}: {bound}", self.value))
    }
}

/// A bare value ends at a brace or a comma, which counted repetitions have: what to write instead, where one was cut short.
/// What of it comes behind the cut is read as something else, and not shown.
pub(crate) fn cut_short(name: &str, value: &str) -> Option<String> {
    let is_cut = value.rfind('{').is_some_and(|at| !value[at..].contains('}'));
    is_cut.then(|| format!("put all of it in double quotes: {name}=\"{value}…\""))
}

/// How alike two words must be for one to be meant by the other, of 1.
const ALIKE: f64 = 0.75;

/// A word that ends in what was given is meant by it, from so many bytes on: `week` is `isoweek`.
const ENDING_MIN: usize = 3;

/// The word that was probably meant, as a hint; empty where none is near.
///
/// ```
/// assert_eq!(sequent_format::nearest("oder", &["order", "invoice"]), "did you mean order?");
/// assert_eq!(sequent_format::nearest("zebra", &["order", "invoice"]), "");
/// ```
pub fn nearest(given: &str, words: &[&str]) -> String {
    let rate = |word: &str| match word.strip_suffix(given) {
        Some(_) if given.len() >= ENDING_MIN => 1.0,
        _ => strsim::jaro_winkler(given, word),
    };
    let rated = words.iter().map(|word| (rate(word), *word));
    let best = rated.filter(|(rate, _)| *rate >= ALIKE).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or_else(String::new, |(_, word)| format!("did you mean {word}?"))
}
