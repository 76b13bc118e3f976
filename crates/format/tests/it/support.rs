//! Short names for what every test does.

use sequent_format::{Format, Issue, Settings, Template, Timestamp, Unique, Values};

/// The zone of most examples.
pub(crate) const SHANGHAI: &str = "Asia/Shanghai";

/// A template, proven with default settings.
pub(crate) fn format(template: &str) -> Format {
    with(template, Settings::default())
}

/// A template, proven.
pub(crate) fn with(template: &str, settings: Settings) -> Format {
    let read = Template::parse(template).unwrap_or_else(|error| panic!("{template}: {error}"));
    read.prove(&settings).unwrap_or_else(|error| panic!("{template}: {error}"))
}

/// Settings of a zone.
pub(crate) fn zone(name: &str) -> Settings {
    Settings { zone: name.into(), ..Settings::default() }
}

/// Settings for texts that are unique in something smaller than all.
pub(crate) fn unique(unique: Unique) -> Settings {
    Settings { unique, ..Settings::default() }
}

/// What a refused template is refused for.
pub(crate) fn refused(template: &str, settings: &Settings) -> String {
    let read = Template::parse(template).unwrap_or_else(|error| panic!("{template}: {error}"));
    read.prove(settings).expect_err(template).to_string()
}

/// `a=1 b=2` as values.
pub(crate) fn values(line: &str) -> Values {
    line.split_whitespace().map(|pair| pair.split_once('=').unwrap()).collect()
}

/// An instant, written with its offset.
pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// A request at an instant.
pub(crate) fn issue(format: &Format, instant: &str, given: &str) -> Issue {
    format.issue(at(instant), &values(given)).unwrap()
}

/// The text of one number, without values.
pub(crate) fn text(template: &str, number: u64) -> String {
    issue(&format(template), "2026-04-01T12:00:00Z", "").text(number).unwrap()
}
