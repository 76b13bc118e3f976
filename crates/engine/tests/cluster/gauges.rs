//! The gauges of single sequences: how many there are at most, and when they end. In memory, with paused time.

use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Recorder, SharedString, Unit};
use sequent_core::Env;
use sequent_engine::{Engine, NextRequest, Options};
use sequent_testkit::PausedClock;
use tracing::{Metadata, Subscriber, span};

use super::Place;

const NAMED: usize = 60;

/// The sequences that have series of their own, at most.
const MOST: usize = 50;

fn config(named: usize) -> String {
    let mut text = "[ring]\nshard_bits = 0\nallow_volatile = true\n[ledger]\nstore = \"memory\"\n\
                    [[shard]]\nslot = 0\nstore = \"memory\"\n"
        .to_owned();
    for at in 0..named {
        write!(text, "[[sequence]]\nname = \"n{at}\"\nversion = 1\n").unwrap();
    }
    text
}

async fn open(place: &Place) -> Engine {
    let env = Env { clock: Arc::new(PausedClock::new()), ..Env::default() };
    Engine::open(place.config(), Options { env, ..Options::default() }).await.unwrap()
}

/// A recorder of gauges that keeps them until they are set again, as Prometheus's does.
#[derive(Default)]
struct Held(Mutex<BTreeMap<String, Arc<AtomicU64>>>);

impl Held {
    /// The gauges with their labels' values; those that have ended have no number.
    fn shown(&self) -> BTreeMap<String, f64> {
        let held = self.0.lock().unwrap();
        let values =
            held.iter().map(|(name, bits)| (name.clone(), f64::from_bits(bits.load(Ordering::Relaxed))));
        values.filter(|(_, value)| !value.is_nan()).collect()
    }
}

impl Recorder for Held {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, _: &Key, _: &metrics::Metadata<'_>) -> Counter {
        Counter::noop()
    }

    fn register_gauge(&self, key: &Key, _: &metrics::Metadata<'_>) -> Gauge {
        let labels: Vec<&str> = key.labels().map(metrics::Label::value).collect();
        let mut held = self.0.lock().unwrap();
        let bits = held.entry(format!("{} {}", key.name(), labels.join(" "))).or_default();
        Gauge::from_arc(Arc::clone(bits))
    }

    fn register_histogram(&self, _: &Key, _: &metrics::Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

fn of<'a>(shown: &'a BTreeMap<String, f64>, metric: &str) -> Vec<(&'a str, f64)> {
    shown.iter().filter_map(|(name, value)| Some((name.strip_prefix(metric)?.trim(), *value))).collect()
}

async fn take(engine: &Engine, name: &str) {
    engine.next(&NextRequest::new(name).unwrap()).await.unwrap();
}

/// Counts the log lines that speak of sequences without series.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<usize>>);

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
        if event.metadata().fields().field("beyond").is_some() {
            *self.0.lock().unwrap() += 1;
        }
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[tokio::test(start_paused = true)]
async fn no_more_sequences_have_series_than_the_bound_allows_and_the_rest_are_counted() {
    let recorder = Held::default();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let lines = Lines::default();
    let _logging = tracing::subscriber::set_default(lines.clone());
    let mut place = Place::with(&config(NAMED));
    let engine = open(&place).await;
    engine.begin_metrics().await;
    for at in 0..NAMED {
        take(&engine, &format!("n{at}")).await;
    }
    for _ in 0..3 {
        engine.measure().await;
    }
    let now = recorder.shown();
    for metric in ["sequent_headroom_ratio", "sequent_exhaustion_seconds"] {
        let series = of(&now, metric);
        assert_eq!(series.len(), MOST, "{metric}: {series:?}");
        assert!(series.iter().all(|(name, _)| name[1..].parse::<usize>().unwrap() < MOST), "{series:?}");
    }
    assert_eq!(of(&now, "sequent_sequences_unlisted"), [("", 10.0)]);
    assert_eq!(of(&now, "sequent_live_keys"), [("", 60.0)], "they are in the sums");
    assert_eq!(*lines.0.lock().unwrap(), 1, "said once, however often somebody looks");
    place.say(&config(NAMED + 5));
    engine.reload(&place.config()).await.unwrap();
    engine.reload(&place.config()).await.unwrap();
    assert_eq!(of(&recorder.shown(), "sequent_sequences_unlisted"), [("", 15.0)]);
    assert_eq!(*lines.0.lock().unwrap(), 2, "and when it changes");
    place.say(&config(MOST));
    engine.reload(&place.config()).await.unwrap();
    assert_eq!(of(&recorder.shown(), "sequent_sequences_unlisted"), [("", 0.0)]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_sequence_that_nobody_uses_any_more_keeps_no_value() {
    let recorder = Held::default();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let place = Place::with(&config(2));
    let engine = open(&place).await;
    engine.begin_metrics().await;
    let look = async || {
        engine.measure().await;
        let now = recorder.shown();
        ["sequent_headroom_ratio", "sequent_exhaustion_seconds"].map(|metric| {
            of(&now, metric).into_iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>().join(" ")
        })
    };
    let idle = Duration::from_secs(700);
    for _ in 0..2 {
        take(&engine, "n0").await;
        take(&engine, "n1").await;
        assert_eq!(look().await, ["n0 n1", "n0 n1"]);
        // One of them is still in use, and the other is dropped as idle.
        for _ in 0..7 {
            tokio::time::sleep(idle / 7).await;
            take(&engine, "n1").await;
        }
        assert_eq!(look().await, ["n1", "n1"]);
    }
    tokio::time::sleep(idle).await;
    assert_eq!(look().await, ["", ""]);
    let now = recorder.shown();
    assert_eq!(of(&now, "sequent_live_keys"), [("", 0.0)]);
    assert_eq!(of(&now, "sequent_reserve_numbers"), [("", 0.0)]);
    assert_eq!(of(&now, "sequent_numbers_at_risk"), [("", 0.0)]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn dense_sequences_have_series_too_and_are_among_the_keys_in_use() {
    let recorder = Held::default();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let dense = "[[sequence]]\nname = \"invoice\"\nversion = 1\nplacement = \"dense\"\nend = 1000\n";
    let place =
        Place::with(&format!("{}{dense}", config(1).replace("[ledger]", "[ledger]\nallow_lossy = true")));
    let engine = open(&place).await;
    engine.begin_metrics().await;
    assert_eq!(of(&recorder.shown(), "sequent_headroom_ratio"), [], "it is not in use yet");
    for _ in 0..100 {
        take(&engine, "invoice").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    engine.measure().await;
    let now = recorder.shown();
    assert_eq!(of(&now, "sequent_headroom_ratio"), [("invoice", 0.9)]);
    assert_eq!(of(&now, "sequent_headroom_least_ratio"), [("", 0.9)]);
    for metric in ["sequent_exhaustion_seconds", "sequent_exhaustion_least_seconds"] {
        let [(_, lasts_s)] = of(&now, metric)[..] else { panic!("{metric}: {now:?}") };
        assert!((900.0..1500.0).contains(&lasts_s), "{metric}: one a second, and 900 are left: {lasts_s}");
    }
    let keys = engine.status().await.keys;
    let [key] = &keys[..] else { panic!("{keys:?}") };
    assert_eq!((key.shown.as_str(), key.placement, key.given, key.left), ("invoice", "dense", 100, 900));
    assert!((0.5..1.5).contains(&key.rate), "{key:?}");
    tokio::time::sleep(Duration::from_secs(700)).await;
    engine.measure().await;
    assert_eq!(of(&recorder.shown(), "sequent_headroom_ratio"), [], "nobody uses it any more");
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn slots_without_a_store_have_no_series() {
    let recorder = metrics_util::debugging::DebuggingRecorder::new();
    let shown = recorder.snapshotter();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let place = Place::with(&config(1).replace("shard_bits = 0", "shard_bits = 10"));
    let engine = open(&place).await;
    engine.begin_metrics().await;
    take(&engine, "n0").await;
    engine.measure().await;
    let keys: Vec<_> = shown.snapshot().into_vec().into_iter().map(|(key, ..)| key).collect();
    let of_slots: Vec<&str> = keys
        .iter()
        .flat_map(|key| key.key().labels().filter(|label| label.key() == "slot").map(metrics::Label::value))
        .filter(|slot| !slot.is_empty())
        .collect();
    assert!(of_slots.iter().all(|slot| *slot == "0"), "{of_slots:?}");
    // What an operator wants at zero of the slot that there is, and no more than that of 1,024.
    assert!((20..200).contains(&of_slots.len()) && keys.len() < 300, "{} of {}", of_slots.len(), keys.len());
    assert!(keys.iter().any(|key| key.key().name() == "sequent_quarantined_counters"));
    engine.shutdown().await;
}
