//! The sequences with metric series of their own: the first ones that the configuration names. The number is limited,
//! so that a long configuration causes no long scrape.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use sequent_core::SequenceName;

use super::metric_table::{EXHAUSTION, HEADROOM, OUTAGE_LEFT_OF, UNLISTED};
use crate::status::capacity_left::Headroom;

/// Upper limit of the sequences with series of their own: those that the configuration names first.
pub(super) const SEQUENCES_MAX: usize = 50;

/// The value of a series that has ended. A recorder can't remove a series, so the exporter omits it.
const GONE: f64 = f64::NAN;

/// The sequences that may have series of their own, and those that have.
#[derive(Debug)]
pub(crate) struct Listed {
    names: Arc<[SequenceName]>,
    /// Number of further configured sequences, which have no series.
    beyond: u32,
    shown: BTreeSet<SequenceName>,
}

impl Listed {
    /// The first [`SEQUENCES_MAX`] of the names.
    pub(crate) fn of(mut names: impl Iterator<Item = SequenceName>) -> Self {
        let first = names.by_ref().take(SEQUENCES_MAX).collect();
        let beyond = u32::try_from(names.count()).unwrap_or(u32::MAX);
        Self { names: first, beyond, shown: BTreeSet::new() }
    }

    pub(crate) fn names(&self) -> Arc<[SequenceName]> {
        Arc::clone(&self.names)
    }

    /// Reports how many have no series: as a gauge, and a log line if there are any. Called once, and whenever a
    /// reload changes it.
    pub(crate) fn tell(&self) {
        metrics::gauge!(UNLISTED).set(f64::from(self.beyond));
        if self.beyond > 0 {
            let (most, beyond) = (SEQUENCES_MAX, self.beyond);
            tracing::warn!(
                most,
                beyond,
                "more sequences are named than have series of their own: those beyond are in the sums alone"
            );
        }
    }

    /// Replaces the configured sequences. The series of removed ones [end](GONE): at their last values they would keep
    /// an alert firing for ever.
    pub(crate) fn replace(&mut self, names: impl Iterator<Item = SequenceName>) {
        let fresh = Self::of(names);
        if fresh.beyond != self.beyond {
            fresh.tell();
        }
        self.end(|name| !fresh.names.contains(name));
        *self = Self { shown: std::mem::take(&mut self.shown), ..fresh };
    }

    /// Sets the series of the sequences in use. The series of a sequence that is no longer in use ends: its use by
    /// other servers is not known here, and its last rate no longer holds.
    pub(crate) fn show(
        &mut self,
        in_use: &BTreeMap<SequenceName, Headroom>,
        outages: &BTreeMap<SequenceName, Duration>,
    ) {
        self.end(|name| !in_use.contains_key(name));
        // A reload since the values were computed has ended some.
        for (name, room) in in_use.iter().filter(|(name, _)| self.names.contains(name)) {
            // A dense sequence has nothing prefetched, and a sequence without demand uses up nothing.
            let outage = outages.get(name).map_or(GONE, Duration::as_secs_f64);
            set(name, room.ratio, room.lasts_s, outage);
            if !self.shown.contains(name) {
                self.shown.insert(name.clone());
            }
        }
    }

    fn end(&mut self, is_over: impl Fn(&SequenceName) -> bool) {
        self.shown.retain(|name| {
            let over = is_over(name);
            if over {
                set(name, GONE, GONE, GONE);
            }
            !over
        });
    }
}

fn set(name: &SequenceName, ratio: f64, lasts_s: f64, outage_left_s: f64) {
    metrics::gauge!(OUTAGE_LEFT_OF, "sequence" => name.to_string()).set(outage_left_s);
    metrics::gauge!(HEADROOM, "sequence" => name.to_string()).set(ratio);
    metrics::gauge!(EXHAUSTION, "sequence" => name.to_string()).set(lasts_s);
}
