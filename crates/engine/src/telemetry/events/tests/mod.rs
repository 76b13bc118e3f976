//! Tests of events: the table, the recent events, and the page.

mod page;
mod recent;
mod table;

use std::sync::{Arc, Mutex};

use sequent_core::Event;
use tracing::{
    Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use super::{log::log, table::tell, telling::Severity};

/// Collects the level and the fields of each line.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Visit for Lines {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.lock().unwrap().push(format!("{field}={value:?}"));
    }
}

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        self.0.lock().unwrap().push(event.metadata().level().to_string());
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// The level and the fields of an event's log line.
fn logged(event: &Event) -> Vec<String> {
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), || log(&tell(event)));
    let fields = lines.0.lock().unwrap();
    fields.clone()
}

/// The level at which a severity is logged.
fn level(severity: Severity) -> Level {
    match severity {
        Severity::Debug => Level::DEBUG,
        Severity::Info => Level::INFO,
        Severity::Warning => Level::WARN,
        Severity::Error => Level::ERROR,
    }
}
