//! Second read of counters that running servers may be changing.

use std::{collections::BTreeSet, time::Duration};

use sequent_core::SlotIndex;
use sequent_engine::{status::OBEYED_WITHIN, stores::Shard};

use super::{
    Ledgered, Verdict,
    keys::{Selected, cells, cells_of},
    rows::{KeyRows, rows_of},
};
use crate::doctor::{Doctor, collect, findings::Kind};

/// Pause between two reads of counters that running servers may be changing.
const PAUSE: Duration = Duration::from_millis(200);

impl Doctor<'_> {
    /// The final verdicts. Each counter is read again, because servers may be changing it. Those above their
    /// ceilings are read once more, after the time that a raise takes.
    pub(crate) async fn confirm(
        &self,
        shards: &[Shard],
        first: Vec<Verdict>,
        known: Ledgered<'_>,
    ) -> Vec<Verdict> {
        let again = self.look_again(shards, first, known, PAUSE).await;
        let is_above = |verdict: &Verdict| verdict.fault.kind == Kind::CounterAboveCeiling;
        let (above, mut verdicts): (Vec<Verdict>, Vec<Verdict>) = again.into_iter().partition(is_above);
        // A server that was without the ledger raises at its next heartbeat.
        let patience = OBEYED_WITHIN + self.limit();
        let last = self.look_again(shards, above.clone(), known, patience).await;
        verdicts.extend(last.into_iter().filter(|verdict| !is_above(verdict) || verdict.stays_above(&above)));
        verdicts
    }

    /// The counters of these verdicts, read and judged again after a pause. What can't be read a second time
    /// keeps its verdict.
    async fn look_again(
        &self,
        shards: &[Shard],
        verdicts: Vec<Verdict>,
        known: Ledgered<'_>,
        pause: Duration,
    ) -> Vec<Verdict> {
        if verdicts.is_empty() {
            return verdicts;
        }
        tokio::time::sleep(pause).await;
        let mut selected = Selected::new();
        for Verdict { counter, .. } in &verdicts {
            selected.entry(counter.slot).or_default().push(counter.clone());
        }
        let generation = known.terms.generation;
        let asks = shards
            .iter()
            .filter_map(|shard| Some((shard.clone(), cells_of(selected.get(&shard.part.slot)?, generation))));
        let env = &self.options.env;
        let before = collect::into_ledger(&*self.ledger, env).await;
        let seen = collect::into_shards(asks.collect(), env).await;
        let after = collect::into_ledger(&*self.ledger, env).await;
        let (Ok(before), Ok(after)) = (before.found, after.found) else { return verdicts };
        if after.layout.as_ref().is_none_or(|record| record.generation != generation) {
            // After a resize in between, these are cells of the previous layout, with other raw ids.
            return Vec::new();
        }
        let (rows, by_key) = ((rows_of(&before), rows_of(&after)), KeyRows::of(&after.rows));
        let known = Ledgered { before: &rows.0, after: &rows.1, by_key: &by_key, ..known };
        let read: BTreeSet<SlotIndex> =
            seen.iter().filter(|(_, looked)| looked.found.is_ok()).map(|(slot, _)| *slot).collect();
        let mut again = known.judge(cells(&selected, &seen), &after.inspection.instance);
        again.extend(verdicts.into_iter().filter(|verdict| !read.contains(&verdict.counter.slot)));
        again
    }
}
