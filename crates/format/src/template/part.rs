//! The parts of a template, with their options.

use std::{sync::Arc, time::Duration};

use crate::{
    charset::{Case, Charset},
    checksum::Algorithm,
    date::{MonthDay, Pattern, Reset},
    number::alphabet::Alphabet,
};

use super::{placed::Placed, value_map::ValueMap, value_regex::ValueRegex};

/// A part with its column and its id.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// The column, in characters from 1.
    pub(crate) column: usize,
    /// The name by which `over=` of other parts refers to it.
    pub(crate) id: Option<String>,
    pub(crate) kind: Kind,
}

/// The kind of a part.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// Literal text, also of `key`.
    Text(String),
    Seq(Box<Seq>),
    Ctx(Box<Ctx>),
    Date(Date),
    Check(Check),
    Call(Call),
}

/// The `seq` part: the number.
#[derive(Debug, Clone)]
pub(crate) struct Seq {
    /// A label for people.
    pub(crate) label: Option<String>,
    /// Whether `ref=` says the label: it names the sequence whose counter is drawn from.
    pub(crate) is_ref: bool,
    pub(crate) alphabet: Alphabet,
    pub(crate) width: usize,
    pub(crate) width_max: usize,
    pub(crate) pad: u8,
    pub(crate) start: u64,
    pub(crate) step: u64,
    pub(crate) end: Option<u64>,
    pub(crate) over: Overflow,
    pub(crate) reset: Placed<ResetWord>,
    pub(crate) fiscal: Option<MonthDay>,
    pub(crate) warn_percent: Option<u8>,
    /// The name of the key that encrypts the number.
    pub(crate) obfuscated: Option<Placed<String>>,
}

/// `over=`: what happens to a number of more than `w` digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// The text grows, up to `wmax` digits.
    Widen,
    /// The number is refused.
    Error,
    /// The number wraps to `start`; with `reuse_after`, also within a period.
    Wrap { reuse_after: Option<Duration> },
}

/// `reset=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResetWord {
    /// The default: with the finest unit shown, at most daily.
    Auto,
    Named(Reset),
    /// `reset=minute`, `reset=second`: parsed so that rule S4 can explain why they are refused.
    TooFine(&'static str),
}

/// The `ctx` part: a value of the caller.
#[derive(Debug, Clone)]
pub(crate) struct Ctx {
    pub(crate) name: String,
    /// Whether the value is part of the counter's key.
    pub(crate) by: bool,
    pub(crate) show: bool,
    pub(crate) case: Case,
    pub(crate) re: Option<ValueRegex>,
    pub(crate) map: Option<ValueMap>,
    pub(crate) chars_min: usize,
    pub(crate) chars_max: usize,
    /// The characters of its text.
    pub(crate) charset: Charset,
}

impl Ctx {
    /// The fewest bytes of a value; with a `map`, of its shortest value.
    pub(crate) fn bytes_min(&self) -> usize {
        match &self.map {
            Some(map) => map.values().map(str::len).min().unwrap_or_default(),
            None => self.chars_min * self.charset.bytes_min(),
        }
    }
}

/// The `date` part.
#[derive(Debug, Clone)]
pub(crate) struct Date {
    pub(crate) pattern: Pattern,
    /// The caller's value that it shows; `None` for the instant of issue.
    pub(crate) at: Option<String>,
}

/// The `check` part: check characters over other parts.
#[derive(Debug, Clone)]
pub(crate) struct Check {
    pub(crate) algorithm: Arc<Algorithm>,
    pub(crate) inputs: Inputs,
}

/// The `fn` part: a registered function of other parts.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) function: String,
    pub(crate) args: Vec<(String, String)>,
    pub(crate) inputs: Inputs,
}

/// The input of a derived part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Inputs {
    /// Everything before it.
    Left,
    /// The parts of these indexes, in this order.
    Parts(Vec<usize>),
}

impl Inputs {
    /// The indexes of the parts that the part at index `at` reads.
    pub(crate) fn indexes(&self, at: usize) -> Vec<usize> {
        match self {
            Self::Left => (0..at).collect(),
            Self::Parts(indexes) => indexes.clone(),
        }
    }
}

impl Part {
    /// The name of the value that a caller must give.
    pub(crate) fn value_name(&self) -> Option<&str> {
        match &self.kind {
            Kind::Ctx(ctx) => Some(&ctx.name),
            Kind::Date(date) => date.at.as_deref(),
            _ => None,
        }
    }

    /// The input of a derived part.
    pub(crate) fn inputs(&self) -> Option<&Inputs> {
        match &self.kind {
            Kind::Check(check) => Some(&check.inputs),
            Kind::Call(call) => Some(&call.inputs),
            _ => None,
        }
    }

    /// The name of the part in messages.
    pub(crate) fn label(&self) -> String {
        match &self.kind {
            Kind::Text(text) => format!("{text:?}"),
            Kind::Seq(seq) => seq.label.as_ref().map_or("seq".into(), |label| format!("seq {label}")),
            Kind::Ctx(ctx) => format!("ctx {}", ctx.name),
            Kind::Date(date) => format!("date {}", date.pattern),
            Kind::Check(check) => format!("check {}", check.algorithm.name),
            Kind::Call(call) => format!("fn {}", call.function),
        }
    }
}
