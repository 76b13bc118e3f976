//! The page of events is what the table says. `SEQUENT_GENERATE=1` writes it instead of comparing.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::Path,
};

use super::{
    super::{
        samples::samples,
        telling::{InStatus, Telling},
    },
    *,
};

const PAGE: &str = "../../docs/reference/events.md";

const HEAD: &str = "# Events

What a server tells when something happens, each in one sentence: as a log line with these fields, in these [metrics](metrics.md), and in \
`events` of `/v1/status`, which the [console](../operating/watching.md) shows. Nothing is told per number.

- `name` is stable, for filters; the field `event` of a log line and `name` in a status have it. Sentences may change.
- Every line has the fields `slot`, `key` and `kind` (the class of the cause) where they apply.
- A status has the latest 50 events. *Collapsed*: repetitions share an entry, which counts them. *Hidden*: none is shown, because they happen \
all the time.
- *Throttled*: callers cause it, so log and status have at most one a second, and the metric counts all.

Generated from the table in `crates/engine/src/telemetry/events/table.rs` by its test, `SEQUENT_GENERATE=1 cargo test -p sequent-engine \
page_of_events`. The sentences are those of samples: 1 is the slot, `order` the key, `why` the cause.

";

fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut seen = BTreeSet::new();
    let words: Vec<String> =
        words.filter(|word| seen.insert(*word)).map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

/// All samples of an event, as a row.
fn row(name: &str, told: &[Telling]) -> String {
    let mut sentences = BTreeSet::new();
    let mut said = Vec::new();
    for one in told {
        let level = level(one.severity).to_string();
        let sentence = if name == "discarded" { "numbers discarded: why" } else { &one.text };
        if sentences.insert((level.clone(), sentence)) {
            said.push(format!("{level}: {sentence}"));
        }
    }
    let fields = joined(told.iter().flat_map(|one| one.fields.iter().map(|(field, _)| *field)));
    let metrics = joined(told.iter().flat_map(|one| one.changes.iter().map(|change| change.metric)));
    let none: BTreeSet<&str> = told.iter().filter_map(|one| one.uncounted).collect();
    let none: Vec<String> = none.into_iter().map(|why| format!("none: {why}")).collect();
    let counted: Vec<String> = [metrics].into_iter().chain(none).filter(|cell| !cell.is_empty()).collect();
    let status = match told[0].in_status {
        InStatus::Each => "each",
        InStatus::Collapsed => "collapsed",
        InStatus::Hidden => "hidden",
    };
    let throttled = if told[0].is_throttled { ", throttled" } else { "" };
    format!(
        "| `{name}` | {} | {fields} | {} | {status}{throttled} |\n",
        said.join("<br>"),
        counted.join("<br>")
    )
}

#[test]
fn the_page_of_events_is_that_of_the_table() {
    let mut events: BTreeMap<&str, Vec<Telling>> = BTreeMap::new();
    for told in samples(1).iter().map(tell) {
        events.entry(told.name).or_default().push(told);
    }
    let head = "| name | level: sentence | fields | metrics | in the status |\n|---|---|---|---|---|\n";
    let rows: String = events.iter().map(|(name, told)| row(name, told)).collect();
    let page = [HEAD, head, &rows].concat();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if env::var_os("SEQUENT_GENERATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/reference/events.md is stale: SEQUENT_GENERATE=1 cargo test -p sequent-engine page_of_events"
    );
}
