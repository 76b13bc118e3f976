//! The arguments of a part. A parser takes the ones that it knows; any argument left over is an error with a suggestion.

use crate::{error::TemplateError, template::Placed};

use super::{lexer::Arg, suggest::did_you_mean};

/// The arguments of one part.
pub(super) struct Args {
    /// The column of the part.
    pub(super) column: usize,
    kind: String,
    bare: Option<Arg>,
    named: Vec<Arg>,
    known: Vec<&'static str>,
}

impl Args {
    pub(super) fn new(column: usize, kind: &str, args: Vec<Arg>) -> Result<Self, TemplateError> {
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

    /// Takes the first value without a name.
    pub(super) fn bare(&mut self) -> Option<Placed<String>> {
        self.bare.take().map(|arg| Placed { column: arg.column, value: arg.value })
    }

    /// Takes the first value without a name, or fails if it is missing.
    pub(super) fn required(&mut self, what: &str, example: &str) -> Result<Placed<String>, TemplateError> {
        let column = self.column;
        self.bare().ok_or_else(|| {
            TemplateError::new(column, format!("{} names no {what}", self.kind))
                .hint(format!("write {example}"))
        })
    }

    /// Takes a value by its name.
    pub(super) fn take(&mut self, name: &'static str) -> Option<Placed<String>> {
        self.known.push(name);
        let at = self.named.iter().position(|arg| arg.name.as_deref() == Some(name))?;
        let arg = self.named.remove(at);
        Some(Placed { column: arg.column, value: arg.value })
    }

    /// Whether there is one argument, and it has this name.
    pub(super) fn has_only(&self, name: &str) -> bool {
        self.bare.is_none() && matches!(&self.named[..], [arg] if arg.name.as_deref() == Some(name))
    }

    /// Takes a number within bounds by its name.
    pub(super) fn number(
        &mut self,
        name: &'static str,
        low: u64,
        high: u64,
    ) -> Result<Option<u64>, TemplateError> {
        let Some(given) = self.take(name) else { return Ok(None) };
        let number = given.value.parse().ok().filter(|number| (low..=high).contains(number));
        let error = || given.error(name, format!("{low} to {high} are allowed"));
        number.map(Some).ok_or_else(error)
    }

    /// Takes a count within bounds by its name.
    pub(super) fn count(
        &mut self,
        name: &'static str,
        low: usize,
        high: usize,
    ) -> Result<Option<usize>, TemplateError> {
        let number = self.number(name, low as u64, high as u64)?;
        Ok(number.and_then(|number| usize::try_from(number).ok()))
    }

    /// Takes one of some words by its name.
    pub(super) fn word<T: Copy>(
        &mut self,
        name: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<Placed<T>>, TemplateError> {
        let Some(given) = self.take(name) else { return Ok(None) };
        let found = words.iter().find(|(word, _)| *word == given.value);
        let column = given.column;
        found.map(|(_, value)| Some(Placed { column, value: *value })).ok_or_else(|| {
            let list: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            given
                .error(name, format!("{} are allowed", list.join(", ")))
                .hint(did_you_mean(&given.value, &list))
        })
    }

    /// Takes all named values left, for functions, which check their own arguments.
    pub(super) fn rest(&mut self) -> Vec<(String, String)> {
        let named = std::mem::take(&mut self.named).into_iter();
        named.filter_map(|arg| Some((arg.name?, arg.value))).collect()
    }

    /// Fails if an argument is left.
    pub(super) fn finish(mut self) -> Result<(), TemplateError> {
        if let Some(bare) = self.bare.take() {
            let what = format!("{} takes no value such as {:?}", self.kind, bare.value);
            return Err(TemplateError::new(bare.column, what));
        }
        let Some(arg) = self.named.first() else { return Ok(()) };
        let name = arg.name.clone().unwrap_or_default();
        let what = format!("{} takes no {name:?}: {} are allowed", self.kind, self.known.join(", "));
        Err(TemplateError::new(arg.column, what).hint(did_you_mean(&name, &self.known)))
    }
}

/// A hint for an unquoted value with a counted repetition such as `[0-9]{3}`: it ends at the brace or comma. The rest has been
/// parsed as something else, so the hint cannot repeat it.
pub(super) fn cut_short(name: &str, value: &str) -> Option<String> {
    let is_cut = value.rfind('{').is_some_and(|at| !value[at..].contains('}'));
    is_cut.then(|| format!("put all of it in double quotes: {name}=\"{value}…\""))
}
