//! For how long numbers go on without the ledger: what is left under the ceilings, at the rate of the last two minutes.

use std::{ops::Bound, sync::Arc, time::Duration};

use sequent_core::{Key, SlotIndex, ledger::Counter};

use super::Guard;
use crate::counter::{Guarded, PAGE};

/// A time without an end is shown as a hundred years.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

impl Guard {
    /// For how long a key goes on if the ledger is away from now on: what is left in those of its slots that serve, since any of them will
    /// do, at the rate of all, since those that serve take over from the others. `None` where nothing of it was taken in the last two
    /// minutes.
    pub fn outage_left(&self, key: &Key, serves: impl Fn(SlotIndex) -> bool) -> Option<Duration> {
        let now = self.shared.env.clock.now();
        let (mut left, mut rate) = (0_u64, 0.0);
        for guarded in self.alive(key) {
            let (more, ids) = guarded.under_ceiling(now);
            rate += ids;
            if serves(guarded.counter.slot) {
                left = left.saturating_add(more);
            }
        }
        lasts(left, rate)
    }

    /// Tells of each counter in demand how long it goes on alone; no key ends before its first counter does. Others run between two
    /// pages of counters, of which there may be a million.
    pub async fn each_outage_left(&self, mut tell: impl FnMut(&Key, Duration)) {
        let mut after = None;
        loop {
            let page = self.page_after(after.as_ref());
            let now = self.shared.env.clock.now();
            for guarded in &page {
                let (left, rate) = guarded.under_ceiling(now);
                if let Some(left) = lasts(left, rate) {
                    tell(&guarded.counter.key, left);
                }
            }
            let Some(last) = page.last().filter(|_| page.len() == PAGE) else { return };
            after = Some(last.counter.clone());
            tokio::task::yield_now().await;
        }
    }

    fn page_after(&self, after: Option<&Counter>) -> Vec<Arc<Guarded>> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let registry = self.registry();
        registry.range((from, Bound::Unbounded)).take(PAGE).map(|(_, guarded)| Arc::clone(guarded)).collect()
    }
}

/// How long so many ids last at a rate of ids a second; `None` where there is no demand.
#[allow(clippy::cast_precision_loss, reason = "a time that is shown")]
fn lasts(left: u64, rate: f64) -> Option<Duration> {
    (rate > 0.0).then(|| Duration::try_from_secs_f64(left as f64 / rate).unwrap_or(LONGEST).min(LONGEST))
}
