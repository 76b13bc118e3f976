//! What is told of one event: its log line, its metrics, its entry in a status.

use std::fmt::Display;

use sequent_core::{Key, SlotIndex};

use crate::telemetry::metric_table::VIOLATIONS;

/// Severity of an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// Details, which happen all the time.
    Debug,
    /// No action is needed.
    #[default]
    Info,
    /// The cluster handles it.
    Warning,
    /// An operator should look.
    Error,
}

impl Severity {
    /// The word in a status.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Debug | Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// How a status shows events of a sort.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum InStatus {
    /// Each has an entry.
    #[default]
    Each,
    /// Repetitions share an entry, which counts them: otherwise they would displace all other events.
    Collapsed,
    /// None is shown: they happen all the time, and a metric counts them.
    Hidden,
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Number(u64),
    Text(String),
}

/// How an event changes a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Amount {
    /// Adds to a counter.
    Add(u64),
    /// Sets a gauge.
    Set(f64),
}

/// A change of one series of a metric.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Change {
    pub(crate) metric: &'static str,
    pub(crate) labels: Vec<(&'static str, String)>,
    pub(crate) amount: Amount,
}

/// What is told of one event.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Telling {
    /// The stable name, for filters.
    pub(crate) name: &'static str,
    pub(crate) severity: Severity,
    /// The sentence, in logs and status alike.
    pub(crate) text: String,
    pub(crate) slot: Option<SlotIndex>,
    pub(crate) key: Option<Key>,
    /// The class of the cause, as metrics have it in the label of this name.
    pub(crate) kind: Option<&'static str>,
    /// Further fields of the log line.
    pub(crate) fields: Vec<(&'static str, Value)>,
    pub(crate) changes: Vec<Change>,
    /// Why no metric changes, if none does.
    pub(crate) uncounted: Option<&'static str>,
    pub(crate) in_status: InStatus,
    /// Whether callers cause it: then log and status have at most one a second; metrics count all.
    pub(crate) is_throttled: bool,
}

impl Telling {
    fn new(severity: Severity, name: &'static str, text: impl Into<String>) -> Self {
        Self { name, severity, text: text.into(), ..Self::default() }
    }

    pub(super) fn debug(name: &'static str, text: impl Into<String>) -> Self {
        Self::new(Severity::Debug, name, text)
    }

    pub(super) fn info(name: &'static str, text: impl Into<String>) -> Self {
        Self::new(Severity::Info, name, text)
    }

    pub(super) fn warning(name: &'static str, text: impl Into<String>) -> Self {
        Self::new(Severity::Warning, name, text)
    }

    pub(super) fn error(name: &'static str, text: impl Into<String>) -> Self {
        Self::new(Severity::Error, name, text)
    }

    pub(super) fn slot(self, slot: SlotIndex) -> Self {
        Self { slot: Some(slot), ..self }
    }

    pub(super) fn key(self, key: &Key) -> Self {
        Self { key: Some(key.clone()), ..self }
    }

    pub(super) fn kind(self, kind: &'static str) -> Self {
        Self { kind: Some(kind), ..self }
    }

    pub(super) fn number(mut self, field: &'static str, value: u64) -> Self {
        self.fields.push((field, Value::Number(value)));
        self
    }

    pub(super) fn field(mut self, field: &'static str, value: impl Display) -> Self {
        self.fields.push((field, Value::Text(value.to_string())));
        self
    }

    /// Adds to a counter.
    pub(super) fn adds(mut self, by: u64, metric: &'static str, labels: &[(&'static str, &str)]) -> Self {
        let labels = labels.iter().map(|(label, value)| (*label, (*value).to_owned())).collect();
        self.changes.push(Change { metric, labels, amount: Amount::Add(by) });
        self
    }

    /// Adds to the counter's series of the event's slot.
    pub(super) fn adds_in_slot(self, by: u64, metric: &'static str, labels: &[(&'static str, &str)]) -> Self {
        let slot = self.slot.map(|slot| slot.to_string()).unwrap_or_default();
        let labels = [&[("slot", &*slot)], labels].concat();
        self.adds(by, metric, &labels)
    }

    /// Counts a fault that endangers uniqueness, and was caught.
    pub(super) fn violation(self, kind: &'static str) -> Self {
        self.adds(1, VIOLATIONS, &[("kind", kind)])
    }

    /// Sets a gauge.
    pub(super) fn sets(mut self, metric: &'static str, value: f64) -> Self {
        self.changes.push(Change { metric, labels: Vec::new(), amount: Amount::Set(value) });
        self
    }

    pub(super) fn uncounted(self, reason: &'static str) -> Self {
        Self { uncounted: Some(reason), ..self }
    }

    pub(super) fn in_status(self, in_status: InStatus) -> Self {
        Self { in_status, ..self }
    }

    pub(super) fn throttled(self) -> Self {
        Self { is_throttled: true, ..self }
    }

    /// The number in a field, if it has that field.
    pub(super) fn number_of(&self, field: &str) -> Option<u64> {
        self.fields.iter().find_map(|(name, value)| match value {
            Value::Number(number) if *name == field => Some(*number),
            _ => None,
        })
    }

    /// The text in a field, if it has that field.
    pub(super) fn text_of(&self, field: &str) -> Option<&str> {
        self.fields.iter().find_map(|(name, value)| match value {
            Value::Text(text) if *name == field => Some(text.as_str()),
            _ => None,
        })
    }
}
