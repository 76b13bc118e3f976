//! The parts of a template with their options.

use std::{sync::Arc, time::Duration};

use crate::{
    check::Algorithm,
    date::{MonthDay, Pattern, Reset},
    letters::{Case, Letters},
    parse::Placed,
    radix::Digits,
    template::{Map, Re},
};

/// A part, where it stands and what others may call it.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// In characters from 1.
    pub(crate) column: usize,
    /// Other parts name it so in `over=`.
    pub(crate) id: Option<String>,
    pub(crate) kind: Kind,
}

/// What a part is.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// Text that stands for itself, `key` included.
    Text(String),
    Seq(Box<Seq>),
    Ctx(Box<Ctx>),
    Date(Date),
    Check(Check),
    Call(Call),
}

/// The number.
#[derive(Debug, Clone)]
pub(crate) struct Seq {
    /// A label for people; the counter is the definition's.
    pub(crate) label: Option<String>,
    pub(crate) digits: Digits,
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
    /// The id of the key that permutes the number.
    pub(crate) obfuscated: Option<Placed<String>>,
}

/// What happens to a number that needs more than `w` digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// The text grows, up to `wmax` digits.
    Widen,
    /// No such number is given.
    Error,
    /// It begins again at `start`; with `reuse_after`, also within a period.
    Wrap { reuse_after: Option<Duration> },
}

/// `reset=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResetWord {
    /// With the finest unit shown, a day at least.
    Auto,
    Named(Reset),
    /// `reset=minute`, `reset=second`: read so that a rule can say what is wrong with it.
    TooFine(&'static str),
}

/// A value that the caller gives.
#[derive(Debug, Clone)]
pub(crate) struct Ctx {
    pub(crate) name: String,
    /// Part of the counter's key.
    pub(crate) by: bool,
    pub(crate) show: bool,
    pub(crate) case: Case,
    pub(crate) re: Option<Re>,
    pub(crate) map: Option<Map>,
    pub(crate) chars_min: usize,
    pub(crate) chars_max: usize,
    /// What its text may hold.
    pub(crate) letters: Letters,
}

impl Ctx {
    /// The fewest bytes that a value has: where a list is closed, its shortest.
    pub(crate) fn bytes_min(&self) -> usize {
        match &self.map {
            Some(map) => map.values().map(str::len).min().unwrap_or_default(),
            None => self.chars_min * self.letters.bytes_min(),
        }
    }
}

/// A date as text.
#[derive(Debug, Clone)]
pub(crate) struct Date {
    pub(crate) pattern: Pattern,
    /// The value it comes from; `None` for the instant of issue.
    pub(crate) at: Option<String>,
}

/// Check characters over other parts.
#[derive(Debug, Clone)]
pub(crate) struct Check {
    pub(crate) algorithm: Arc<dyn Algorithm>,
    pub(crate) inputs: Inputs,
}

/// A registered function of other parts.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) function: String,
    pub(crate) args: Vec<(String, String)>,
    pub(crate) inputs: Inputs,
}

/// What a derived part is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Inputs {
    /// All that stands before it.
    Left,
    /// These, in this order.
    Parts(Vec<usize>),
}

impl Inputs {
    /// The places of the parts it reads, for a part that stands at `at`.
    pub(crate) fn places(&self, at: usize) -> Vec<usize> {
        match self {
            Self::Left => (0..at).collect(),
            Self::Parts(places) => places.clone(),
        }
    }
}

impl Part {
    /// The value that a caller must give for it.
    pub(crate) fn value_name(&self) -> Option<&str> {
        match &self.kind {
            Kind::Ctx(ctx) => Some(&ctx.name),
            Kind::Date(date) => date.at.as_deref(),
            _ => None,
        }
    }

    /// What it is made from, where it is made from other parts.
    pub(crate) fn inputs(&self) -> Option<&Inputs> {
        match &self.kind {
            Kind::Check(check) => Some(&check.inputs),
            Kind::Call(call) => Some(&call.inputs),
            _ => None,
        }
    }

    /// How messages call it.
    pub(crate) fn label(&self) -> String {
        match &self.kind {
            Kind::Text(text) => format!("{text:?}"),
            Kind::Seq(seq) => seq.label.as_ref().map_or("seq".into(), |label| format!("seq {label}")),
            Kind::Ctx(ctx) => format!("ctx {}", ctx.name),
            Kind::Date(date) => format!("date {}", date.pattern),
            Kind::Check(check) => format!("check {}", check.algorithm.name()),
            Kind::Call(call) => format!("fn {}", call.function),
        }
    }
}
