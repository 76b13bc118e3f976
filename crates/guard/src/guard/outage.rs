//! Outage endurance: how long numbers last without the ledger, by the ids left under the ceilings and the rate of two minutes.

use std::{ops::Bound, sync::Arc, time::Duration};

use sequent_core::{Key, SlotIndex, ledger::Counter};

use super::Guard;
use crate::counter::{Guarded, PAGE};

/// An unlimited time is shown as a hundred years.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

impl Guard {
    /// How long a key lasts if the ledger goes away now. It counts what is left in the slots that serve, since any of them will
    /// do, at the rate of all slots, since those that serve take over from the others. `None` if nothing was taken in the last
    /// two minutes.
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

    /// Calls `tell` with each counter in demand and how long it lasts alone. A key lasts at least as long as its first counter
    /// to end. Other tasks run between two pages of counters, of which there may be a million.
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

/// How long `left` ids last at `rate` ids per second; `None` without demand.
#[allow(clippy::cast_precision_loss, reason = "a time that is shown")]
fn lasts(left: u64, rate: f64) -> Option<Duration> {
    (rate > 0.0).then(|| Duration::try_from_secs_f64(left as f64 / rate).unwrap_or(LONGEST).min(LONGEST))
}
