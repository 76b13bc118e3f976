//! A probe of each slot's store. It finds a fault even if no numbers are taken.

use std::time::Duration;

use sequent_core::{
    ErrorKind, Inspection, Layout, SequenceName, SlotIndex, SourceError, Stamp,
    ledger::{SlotCommand, SlotVerb},
};
use tokio::task::JoinSet;

use crate::{
    ledger_timeout::within,
    open::bootstrap::ClusterHandle,
    status::report::{Cause, Found, ShardReport, SlotCommandReport},
    stores::Shard,
};

/// The time by which every server that reaches the ledger knows of a slot command.
pub const OBEYED_WITHIN: Duration = Duration::from_secs(2);

impl ClusterHandle {
    /// Probes each slot's store, all in parallel, each within one attempt's time limit. States are `open` (it has this
    /// cluster's stamp), `new` (it has none yet), `unreachable`, `refused` and `empty`. A store that could serve, but
    /// has a drain command, is `draining` or `drained`. Slot commands that can't be read are missing here:
    /// [`ClusterHandle::trouble`] reports why.
    pub async fn shards(&self) -> Vec<ShardReport> {
        self.shards_asked(|_| true).await
    }

    /// The same if only some of the slots serve: counters rest only because of those.
    pub(crate) async fn shards_asked(&self, asked: impl Fn(SlotIndex) -> bool) -> Vec<ShardReport> {
        let words = self.slot_commands().await.unwrap_or_default();
        let looks = self.shards.iter().map(|shard| {
            let whose = Whose::Stamped(self.stamp(shard.part.slot));
            look(shard.clone(), whose, self.limit)
        });
        let mut reports = of_all_slots(looks.collect(), self.layout()).await;
        let now_ms = self.ledgers_clock(&words).await;
        for report in &mut reports {
            report.word = word_about(&words, report.slot);
            self.drains(report, now_ms);
        }
        for counter in self.quarantined(&words) {
            if let Some(report) = reports.iter_mut().find(|report| report.slot == counter.slot) {
                report.quarantined.push(counter);
            }
        }
        self.note_resting(&mut reports, asked).await;
        reports
    }
}

impl ClusterHandle {
    /// The clock that dated the slot commands, if one of them depends on it.
    async fn ledgers_clock(&self, words: &[SlotCommand]) -> Option<u64> {
        words.iter().find(|word| word.verb == SlotVerb::Drain)?;
        self.inspected().await.ok().map(|ledger| ledger.clock_ms)
    }

    /// Sets the state of a store that could serve, but is drained by a slot command. It is `drained` once every server
    /// must know of the command, and no request from before it can be in progress.
    fn drains(&self, report: &mut ShardReport, now_ms: Option<u64>) {
        let Some(said) = report.word.as_ref().filter(|said| said.verb == SlotVerb::Drain.as_str()) else {
            return;
        };
        if report.cause.is_some() {
            return;
        }
        let longest = OBEYED_WITHIN + self.longest_ask;
        let age = now_ms.map_or(0, |now_ms| now_ms.saturating_sub(said.at_ms));
        let is_done = u128::from(age) >= longest.as_millis();
        if is_done { "drained" } else { "draining" }.clone_into(&mut report.state);
    }
}

fn word_about(words: &[SlotCommand], slot: SlotIndex) -> Option<SlotCommandReport> {
    words.iter().find(|word| word.slot == slot).map(SlotCommandReport::from)
}

/// The expected owner of a store.
pub(crate) enum Whose {
    /// The store has this stamp, or none yet.
    Stamped(Stamp),
    /// The store belongs to this cluster and is in its own slot: more can't be determined without the ledger.
    Cluster(SequenceName),
}

impl Whose {
    /// The stamp that is expected in `slot`, for the stamp found.
    fn expected(self, slot: SlotIndex, found: &Inspection) -> Option<Stamp> {
        match self {
            Self::Stamped(stamp) => Some(stamp),
            Self::Cluster(cluster) => found.stamp.clone().map(|borne| Stamp { cluster, slot, ..borne }),
        }
    }
}

pub(crate) async fn look(shard: Shard, whose: Whose, limit: Duration) -> ShardReport {
    let inspected = within(limit, "look", shard.store.inspect()).await;
    let (state, cause) = match &inspected {
        Ok(inspection) => match judge(inspection, whose.expected(shard.part.slot, inspection).as_ref()) {
            ("open", _) => write(&shard, inspection, limit).await,
            judged => judged,
        },
        Err(error) => (state_of(error), Some(cause_of(error))),
    };
    ShardReport {
        slot: shard.part.slot,
        store: shard.part.place.as_str(),
        place: shard.part.place.to_string(),
        state: state.to_owned(),
        cause,
        found: inspected.ok().map(found),
        ..ShardReport::default()
    }
}

/// Whether a store that responds is the one that belongs here.
fn judge(inspection: &Inspection, expected: Option<&Stamp>) -> (&'static str, Option<Cause>) {
    match expected.and_then(|expected| sequent_guard::misfit(inspection, expected)) {
        Some(detail) => ("refused", Some(Cause { kind: ErrorKind::Refused.as_str(), detail })),
        None if inspection.stamp.is_some() => ("open", None),
        None => ("new", None),
    }
}

/// Writes the stamp that the store has: a full disk is detected only by a write.
async fn write(shard: &Shard, found: &Inspection, limit: Duration) -> (&'static str, Option<Cause>) {
    let stamp = found.stamp.as_ref();
    let Some(same) = stamp else { return ("new", None) };
    match within(limit, "write", shard.store.stamp(&found.instance, stamp, same)).await {
        Ok(()) => ("open", None),
        Err(error) => (state_of(&error), Some(cause_of(&error))),
    }
}

fn state_of(error: &SourceError) -> &'static str {
    if error.kind() == ErrorKind::Refused { "refused" } else { "unreachable" }
}

fn cause_of(error: &SourceError) -> Cause {
    Cause { kind: error.kind().as_str(), detail: error.to_string() }
}

fn found(inspection: Inspection) -> Found {
    Found {
        version: inspection.version,
        instance: inspection.instance.to_string(),
        stamp: inspection.stamp.map(|stamp| stamp.to_string()),
        durability: inspection.durability.class.as_str(),
        settings: inspection.durability.settings,
    }
}

/// The reports of these probes, and one for each slot without a store; in the order of slots.
pub(super) async fn of_all_slots(looks: JoinSet<ShardReport>, layout: Layout) -> Vec<ShardReport> {
    let mut reports = looks.join_all().await;
    let taken: Vec<SlotIndex> = reports.iter().map(|report| report.slot).collect();
    let empty = (0..layout.slots()).filter(|slot| !taken.contains(slot));
    reports.extend(empty.map(|slot| ShardReport {
        slot,
        store: "empty",
        state: "empty".to_owned(),
        ..ShardReport::default()
    }));
    reports.sort_by_key(|report| report.slot);
    reports
}
