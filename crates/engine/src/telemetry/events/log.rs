//! Events as log lines.

use tracing::Level;

use super::telling::{Severity, Telling};

/// Logs an event at its level. The names of fields are fixed when the program is built, so each is listed here; one that
/// an event does not have is left out.
macro_rules! line {
    ($level:ident, $told:ident) => {
        tracing::event!(
            Level::$level,
            event = $told.name,
            slot = $told.slot,
            key = $told.key.as_ref().map(sequent_core::Key::as_str),
            kind = $told.kind.map(display),
            retry_ms = $told.number_of("retry_ms"),
            after_ms = $told.number_of("after_ms"),
            count = $told.number_of("count"),
            epoch = $told.text_of("epoch").map(display),
            base = $told.number_of("base"),
            skipped = $told.number_of("skipped"),
            given = $told.number_of("given"),
            found = $told.number_of("found"),
            above = $told.number_of("above"),
            permitted = $told.number_of("permitted"),
            number = $told.number_of("number"),
            last = $told.number_of("last"),
            left = $told.number_of("left"),
            version = $told.number_of("version"),
            was = $told.text_of("was").map(display),
            is = $told.text_of("is").map(display),
            settings = $told.text_of("settings"),
            verb = $told.text_of("verb").map(display),
            who = $told.text_of("who"),
            why = $told.text_of("why"),
            left_out = $told.number_of("left_out"),
            "{}",
            $told.text
        )
    };
}

/// Logs an event.
pub(crate) fn log(told: &Telling) {
    match told.severity {
        Severity::Debug => line!(DEBUG, told),
        Severity::Info => line!(INFO, told),
        Severity::Warning => line!(WARN, told),
        Severity::Error => line!(ERROR, told),
    }
}
