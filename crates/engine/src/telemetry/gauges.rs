//! The gauges of a running engine, computed when they are read.

use std::{
    collections::BTreeMap,
    sync::Mutex,
    time::{Duration, Instant},
};

use sequent_core::{DurabilityClass, Key, SequenceName, SlotIndex, sync};
use sequent_format::Timestamp;
use sequent_guard::{CounterStatus, GuardStatus, LedgerFault};
use sequent_ha::SlotState;

use super::{
    events::begin,
    metric_table::{
        AT_RISK, CEILINGS, DURABILITY, EXHAUSTION_LEAST, HEADROOM_LEAST, KEYS, LAYOUT, LEDGER_AGE, OUTAGE,
        OUTAGE_LEFT, QUARANTINED, RESERVE, RESERVE_SECONDS, RESTING, SLOT_LAG, WAITING,
    },
    per_sequence::Listed,
};
use crate::{
    engine::{Engine, Inner},
    issue::active_key::ActiveKey,
    status::{capacity_left::Headroom, resting_by_slot},
};

/// Upper limit of the reserve's duration in seconds: a longer one is shown as this.
const RESERVE_MAX_SECONDS: f64 = 3600.0;

/// Lowest rate that counts as demand, in numbers a second.
const DEMAND_MIN: f64 = 0.1;

/// State of the gauges from one read to the next.
#[derive(Debug)]
pub(crate) struct Gauges {
    listed: Mutex<Listed>,
    /// The ledger's version as last seen to change, and when.
    version: Mutex<Option<(u64, Instant)>>,
}

impl Gauges {
    /// Gauges with series of their own for some of the configured sequences.
    pub(crate) fn new(named: impl Iterator<Item = SequenceName>) -> Self {
        Self { listed: Mutex::new(Listed::of(named)), version: Mutex::default() }
    }

    /// Replaces the configured sequences.
    pub(crate) fn relist(&self, named: impl Iterator<Item = SequenceName>) {
        sync::lock(&self.listed).replace(named);
    }

    /// For how long, in seconds, the ledger's version has been the same.
    fn version_age(&self, version: u64, now: Instant) -> f64 {
        let mut held = sync::lock(&self.version);
        match *held {
            Some((known, since)) if known == version => now.saturating_duration_since(since).as_secs_f64(),
            _ => {
                *held = Some((version, now));
                0.0
            }
        }
    }
}

impl Engine {
    /// Sets every counter of this engine to zero, for slots with a store, and its gauges to their current values.
    /// Called once, before serving begins.
    pub async fn begin_metrics(&self) {
        let (inner, status) = (&*self.0, self.0.guard.status());
        begin(status.stores.iter().map(|(slot, ..)| *slot), answers(&status));
        sync::lock(&inner.gauges.listed).tell();
        self.measure().await;
    }

    /// Sets the gauges that are computed on read. Yields in between, since a million keys take a while.
    pub async fn measure(&self) {
        let inner = &*self.0;
        let mut sums = Sums::default();
        let listed = sync::lock(&inner.gauges.listed).names();
        let now = inner.request_clock.now(&*inner.env.clock);
        inner.keys.each(|live: &ActiveKey| sums.add(live, &listed, now)).await;
        for (_, counter) in inner.dense.in_use(inner.env.clock.now()) {
            sums.room(counter.name(), counter.headroom(now), &listed);
        }
        inner.guard.each_outage_left(|key, left| sums.outage(key, left, &listed)).await;
        set(OUTAGE, inner.outage.as_secs_f64());
        set(KEYS, whole(inner.keys.len() as u64));
        sums.show(&inner.gauges);
        let status = inner.guard.status();
        guard(&status);
        rests(inner, &status);
        let quarantined = inner.memory.quarantined.by_slot();
        of_slots(QUARANTINED, &status, &quarantined);
        set(LEDGER_AGE, inner.gauges.version_age(status.version, inner.env.clock.now()));
        layout(inner, &status);
    }
}

/// Whether the ledger responds, and accepts this server's layout.
fn answers(status: &GuardStatus) -> bool {
    let is_out = matches!(
        status.trouble,
        Some(LedgerFault::Relaid { .. } | LedgerFault::Outrun { .. } | LedgerFault::Superseded { .. })
    );
    status.away.is_none() && !is_out
}

/// Totals over all active keys.
#[derive(Debug, Default)]
struct Sums {
    ready: u64,
    at_risk: u64,
    waiting: u64,
    /// The least over the keys in demand.
    seconds: Option<f64>,
    least: Option<Headroom>,
    listed: BTreeMap<SequenceName, Headroom>,
    /// How long counters in demand last without the ledger: the least of all, and of each sequence.
    outage: Option<Duration>,
    outages: BTreeMap<SequenceName, Duration>,
}

impl Sums {
    fn add(&mut self, live: &ActiveKey, listed: &[SequenceName], now: Timestamp) {
        let stats = live.reservoir().stats();
        self.ready = self.ready.saturating_add(stats.reserve);
        self.at_risk = self.at_risk.saturating_add(stats.at_risk);
        self.waiting = self.waiting.saturating_add(stats.waiting as u64);
        let rate = stats.rate_short.max(stats.rate_long);
        if rate >= DEMAND_MIN {
            let lasts = whole(stats.reserve) / rate;
            self.seconds = Some(self.seconds.map_or(lasts, |least| least.min(lasts)));
        }
        self.room(live.entry().name(), live.headroom(now), listed);
    }

    /// Adds how long a counter lasts without the ledger.
    fn outage(&mut self, key: &Key, left: Duration, listed: &[SequenceName]) {
        let least = |held: Option<Duration>| held.map_or(left, |held| held.min(left));
        self.outage = Some(least(self.outage));
        if let Some(name) = listed.iter().find(|name| name.as_str() == key.sequence()) {
            let held = self.outages.get(name).copied();
            self.outages.insert(name.clone(), least(held));
        }
    }

    /// Adds what is left of a counter, spread or dense.
    fn room(&mut self, name: &SequenceName, room: Headroom, listed: &[SequenceName]) {
        let least = |held: Option<Headroom>| held.map_or(room, |held| held.least(room));
        self.least = Some(least(self.least));
        if listed.contains(name) {
            let held = self.listed.get(name).copied();
            self.listed.insert(name.clone(), least(held));
        }
    }

    fn show(&self, gauges: &Gauges) {
        set(RESERVE, whole(self.ready));
        set(AT_RISK, whole(self.at_risk));
        set(WAITING, whole(self.waiting));
        // No key is in demand: whatever is ready lasts.
        let idle = if self.ready == 0 { 0.0 } else { RESERVE_MAX_SECONDS };
        set(RESERVE_SECONDS, self.seconds.unwrap_or(idle).min(RESERVE_MAX_SECONDS));
        set(OUTAGE_LEFT, self.outage.map_or(f64::INFINITY, |left| left.as_secs_f64()));
        let least = self.least.unwrap_or(Headroom::of(1, 1, 0.0));
        set(HEADROOM_LEAST, least.ratio);
        set(EXHAUSTION_LEAST, least.lasts_s);
        sync::lock(&gauges.listed).show(&self.listed, &self.outages);
    }
}

/// Ceilings held, and how far slots lag behind the front of each key.
fn guard(status: &GuardStatus) {
    let held: Vec<&CounterStatus> = status.counters.iter().filter(|held| held.grant.is_some()).collect();
    set(CEILINGS, whole(held.len() as u64));
    let lags = lags(&held);
    of_slots(SLOT_LAG, status, &lags);
}

/// How many counters of each slot rest until the others come up to them.
fn rests(inner: &Inner, status: &GuardStatus) {
    let ring = inner.ring.status();
    let is_live = |slot| ring.iter().any(|held| held.slot == slot && held.state == SlotState::Live);
    let resting = resting_by_slot(&status.counters, is_live);
    of_slots(RESTING, status, &resting);
}

/// How far each slot is behind the front of a key, in raw ids: the most over all keys.
fn lags(held: &[&CounterStatus]) -> BTreeMap<SlotIndex, u64> {
    let mut fronts: BTreeMap<&Key, u64> = BTreeMap::new();
    for status in held {
        let front = fronts.entry(&status.counter.key).or_default();
        *front = (*front).max(status.seen);
    }
    let mut lags = BTreeMap::new();
    for status in held {
        let front = fronts.get(&status.counter.key).copied().unwrap_or(0);
        let lag: &mut u64 = lags.entry(status.counter.slot).or_default();
        *lag = (*lag).max(front.saturating_sub(status.seen));
    }
    lags
}

/// Gauges that seldom change: the layout, and the durability of each store.
fn layout(inner: &Inner, status: &GuardStatus) {
    let cluster = &inner.cluster;
    let record = &cluster.record;
    let (shard_bits, memory_bits) = (record.layout.shard_bits(), record.layout.memory_bits());
    let labels = [
        ("shard_bits", shard_bits.to_string()),
        ("memory_bits", memory_bits.to_string()),
        ("generation", record.generation.to_string()),
    ];
    metrics::gauge!(LAYOUT, &labels).set(1.0);
    for (slot, _, class) in &status.stores {
        let Some(shard) = cluster.shards.iter().find(|shard| shard.part.slot == *slot) else { continue };
        let store = shard.part.place.as_str();
        for known in DurabilityClass::ALL {
            let labels =
                [("slot", slot.to_string()), ("store", store.to_owned()), ("class", known.to_string())];
            metrics::gauge!(DURABILITY, &labels).set(f64::from(u8::from(known == *class)));
        }
    }
}

/// Sets a gauge of each slot with a store; one that is not in `values` has 0.
fn of_slots(name: &'static str, status: &GuardStatus, values: &BTreeMap<SlotIndex, u64>) {
    for (slot, ..) in &status.stores {
        let value = values.get(slot).copied().unwrap_or(0);
        metrics::gauge!(name, "slot" => slot.to_string()).set(whole(value));
    }
}

fn set(name: &'static str, value: f64) {
    metrics::gauge!(name).set(value);
}

#[allow(clippy::cast_precision_loss, reason = "a gauge is a double, and shows magnitudes")]
fn whole(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::{Epoch, ledger::Counter};

    fn counter(key: &str, slot: SlotIndex, seen: u64, ceiling: u64) -> CounterStatus {
        let counter = Counter { key: Key::from_stored(key), slot };
        CounterStatus {
            counter,
            grant: Some((Epoch::random(&sequent_core::OsEntropy), ceiling)),
            seen,
            ahead: 0,
        }
    }

    #[test]
    fn a_slot_lags_by_the_most_that_one_of_its_keys_is_behind() {
        let held = [
            counter("a", 0, 100, 200),
            counter("a", 1, 40, 200),
            counter("b", 0, 5, 200),
            counter("b", 1, 7, 200),
        ];
        let held: Vec<&CounterStatus> = held.iter().collect();
        assert_eq!(lags(&held), BTreeMap::from([(0, 2), (1, 60)]));
    }
}
