//! Helpers of all tests.

use sequent_format::{Format, RenderContext, Settings, Template, Timestamp, Unique, Values};

/// The zone of most examples.
pub(crate) const SHANGHAI: &str = "Asia/Shanghai";

/// A template, analyzed with default settings.
pub(crate) fn format(template: &str) -> Format {
    with(template, Settings::default())
}

/// A template, analyzed with the given settings.
pub(crate) fn with(template: &str, settings: Settings) -> Format {
    let read = Template::parse(template).unwrap_or_else(|error| panic!("{template}: {error}"));
    read.analyze(&settings).unwrap_or_else(|error| panic!("{template}: {error}"))
}

/// Settings with a zone.
pub(crate) fn zone(name: &str) -> Settings {
    Settings { zone: name.into(), ..Settings::default() }
}

/// Settings with a scope of uniqueness.
pub(crate) fn unique(unique: Unique) -> Settings {
    Settings { unique, ..Settings::default() }
}

/// The error of a template that must be refused.
pub(crate) fn refused(template: &str, settings: &Settings) -> String {
    let read = Template::parse(template).unwrap_or_else(|error| panic!("{template}: {error}"));
    read.analyze(settings).expect_err(template).to_string()
}

/// `a=1 b=2` as values.
pub(crate) fn values(line: &str) -> Values {
    line.split_whitespace().map(|pair| pair.split_once('=').unwrap()).collect()
}

/// An instant, written with its offset.
pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// The context of a request at an instant.
pub(crate) fn context(format: &Format, instant: &str, given: &str) -> RenderContext {
    format.context(at(instant), &values(given)).unwrap()
}

/// The text of one number, without values.
pub(crate) fn text(template: &str, number: u64) -> String {
    context(&format(template), "2026-04-01T12:00:00Z", "").text(number).unwrap()
}
