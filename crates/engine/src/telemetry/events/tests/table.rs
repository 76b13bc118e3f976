//! Each event has its row, and each row tells what it must.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs,
    path::Path,
    time::Duration,
};

use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use sequent_core::{ErrorKind, MetricKind};

use super::{
    super::{
        metric::{begin, count},
        samples::samples,
        telling::{Amount, InStatus, Telling, Value},
    },
    *,
};
use crate::telemetry::metric_table::{EVICTIONS, METRICS};

/// Events that give something up: a slot, a counter, numbers, or the certainty that a loss is noticed. Each is counted,
/// logged as INFO or above, and shown in a status.
const GIVEN_UP: [&str; 12] = [
    "evicted",
    "quarantined",
    "retired",
    "counter_went_back",
    "discarded",
    "store_stamped_again",
    "given_above_base",
    "ledger_lost",
    "ledger_behind",
    "dense_behind",
    "cluster_behind",
    "unreported",
];

fn all() -> impl Iterator<Item = (Event, Telling)> {
    samples(1).into_iter().map(|event| {
        let told = tell(&event);
        (event, told)
    })
}

/// The number of variants of `Event`, by its source.
fn variants() -> usize {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src/event.rs");
    let source = fs::read_to_string(file).unwrap();
    let body = source.split_once("pub enum Event {").unwrap().1.split_once("\n}").unwrap().0;
    let is_variant = |line: &&str| {
        line.strip_prefix("    ")
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
    };
    body.lines().filter(is_variant).count()
}

#[test]
fn every_event_has_a_sample_and_a_row_of_its_own() {
    let sorts: HashSet<_> = all().map(|(event, _)| std::mem::discriminant(&event)).collect();
    assert_eq!(sorts.len(), variants(), "`samples` has one of each event");
    let names: BTreeSet<&str> = all().map(|(_, told)| told.name).collect();
    assert_eq!(names.len(), sorts.len(), "each has a name of its own: {names:?}");
    assert!(!names.contains("other"), "an event has no row in the table");
}

#[test]
fn a_row_has_a_name_a_sentence_and_a_metric_or_why_not() {
    for (event, told) in all() {
        let is_name = told.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        assert!(is_name && told.text.len() > 10 && !told.text.ends_with('.'), "{told:?}");
        assert_eq!(
            told.changes.is_empty(),
            told.uncounted.is_some(),
            "a metric, or the reason for none: {told:?}"
        );
        let line = logged(&event);
        assert_eq!(line[..2], [level(told.severity).to_string(), format!("message={}", told.text)]);
        for (field, value) in &told.fields {
            let has = |line: &[String], value: &str| {
                line.contains(&format!("{field}={value}")) || line.contains(&format!("{field}={value:?}"))
            };
            let is_logged = match value {
                Value::Number(number) => has(&line, &number.to_string()),
                Value::Text(text) => has(&line, text),
            };
            assert!(is_logged, "`log` does not list the field {field}: {line:?}");
        }
    }
}

#[test]
fn a_row_changes_metrics_that_are_described_with_their_labels() {
    let described: BTreeMap<&str, _> = METRICS.iter().map(|metric| (metric.name, metric)).collect();
    for change in all().flat_map(|(_, told)| told.changes) {
        let metric = described[change.metric];
        let is_counter = matches!(change.amount, Amount::Add(_));
        assert_eq!(metric.kind == MetricKind::Counter, is_counter, "{change:?}");
        let labels: BTreeSet<&str> = change.labels.iter().map(|(label, _)| *label).collect();
        assert_eq!(labels, metric.labels.iter().map(|label| label.name).collect(), "{change:?}");
        let is_ledgers = change.labels.contains(&("of", "ledger".to_owned()));
        let slot = change.labels.iter().find(|(label, _)| *label == "slot");
        assert!(is_ledgers || slot.is_none_or(|(_, slot)| slot == "1"), "{change:?}");
    }
}

#[test]
fn nothing_is_given_up_without_a_metric_a_log_line_and_an_entry_in_the_status() {
    for name in GIVEN_UP {
        let rows: Vec<Telling> = all().map(|(_, told)| told).filter(|told| told.name == name).collect();
        assert!(!rows.is_empty(), "{name} is no event");
        for told in rows {
            assert!(!told.changes.is_empty(), "not counted: {told:?}");
            assert!(told.severity >= Severity::Info, "not logged: {told:?}");
            assert!(told.in_status != InStatus::Hidden, "not in the status: {told:?}");
        }
    }
    for (_, told) in all().filter(|(_, told)| told.severity >= Severity::Warning) {
        assert!(told.in_status != InStatus::Hidden, "an operator should see it: {told:?}");
    }
}

#[test]
fn a_slot_that_a_command_keeps_out_has_no_time_of_its_next_try() {
    let evicted = |retry_after| Event::Evicted {
        slot: 1,
        kind: ErrorKind::Refused,
        detail: "by hand".to_owned(),
        retry_after,
    };
    let by_itself = logged(&evicted(Some(Duration::from_millis(500))));
    assert!(by_itself.contains(&"retry_ms=500".to_owned()), "{by_itself:?}");
    let by_hand = logged(&evicted(None));
    assert!(by_hand.contains(&"slot=1".to_owned()), "{by_hand:?}");
    assert!(!by_hand.iter().any(|field| field.starts_with("retry_ms")), "{by_hand:?}");
}

#[test]
fn counters_are_at_zero_from_the_start_and_a_command_is_no_fault_of_a_store() {
    let recorder = DebuggingRecorder::new();
    let shown = recorder.snapshotter();
    let evicted = |retry_after| Event::Evicted {
        slot: 1,
        kind: ErrorKind::Unavailable,
        detail: "why".to_owned(),
        retry_after,
    };
    metrics::with_local_recorder(&recorder, || {
        begin([1].into_iter(), true);
        for retry_after in [None, None, Some(Duration::from_millis(500))] {
            count(&tell(&evicted(retry_after)));
        }
    });
    let counters = shown.snapshot().into_vec();
    let is_zero = counters.iter().filter(|(.., value)| *value == DebugValue::Counter(0)).count();
    assert!(is_zero > 40, "{is_zero} counters are at zero");
    let counted: BTreeMap<String, DebugValue> = counters
        .into_iter()
        .filter(|(key, .., value)| key.key().name() == EVICTIONS && *value != DebugValue::Counter(0))
        .filter_map(|(key, _, _, value)| {
            let kind = key.key().labels().find(|label| label.key() == "kind")?.value().to_owned();
            Some((kind, value))
        })
        .collect();
    let expected = [("unavailable", 1), ("command", 2)];
    let expected = expected.map(|(kind, times)| (kind.to_owned(), DebugValue::Counter(times)));
    assert_eq!(counted, BTreeMap::from(expected));
}
