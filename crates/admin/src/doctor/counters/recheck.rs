//! Second read of counters that running servers may be changing.

use std::time::Duration;

use sequent_core::{Examination, InstanceId, Key, SlotIndex};
use sequent_engine::{status::OBEYED_WITHIN, stores::Shard};

use super::{
    Speaks, Verdict,
    high_water::Reaches,
    history_bounds::Elsewhere,
    judge_all,
    keys::{Rows, cells_of, counters_of, rows_of},
};
use crate::doctor::{Doctor, collect};

/// Pause between two reads of counters that running servers may be changing.
const PAUSE: Duration = Duration::from_millis(200);

impl Doctor<'_> {
    /// The final verdicts on counters. Counters that servers may be changing are read again. Those still
    /// above their ceilings are read once more, after the time that a raise takes.
    pub(crate) async fn judge(
        &self,
        (shards, generation): (&[Shard], u64),
        first: Vec<Verdict>,
        elsewhere: &Elsewhere,
    ) -> Vec<Verdict> {
        let (passing, mut verdicts): (Vec<Verdict>, Vec<Verdict>) =
            first.into_iter().partition(|verdict| verdict.kind.passes());
        let again = self.look_again((shards, generation), passing, elsewhere, PAUSE).await;
        let (above, passed): (Vec<Verdict>, Vec<Verdict>) =
            again.into_iter().partition(Verdict::is_far_above);
        verdicts.extend(passed);
        // A server that was without the ledger raises at its next heartbeat.
        let patience = OBEYED_WITHIN + self.config.ring.attempt_timeout;
        let stay = self.look_again((shards, generation), above.clone(), elsewhere, patience).await;
        verdicts.extend(stay.into_iter().map(|verdict| verdict.staying(&above)));
        verdicts
    }

    /// The counters of these verdicts, read again after a pause.
    async fn look_again(
        &self,
        (shards, generation): (&[Shard], u64),
        passing: Vec<Verdict>,
        elsewhere: &Elsewhere,
        pause: Duration,
    ) -> Vec<Verdict> {
        if passing.is_empty() {
            return passing;
        }
        tokio::time::sleep(pause).await;
        let keys = |slot| {
            let of_slot = passing.iter().filter(move |verdict| verdict.counter.slot == slot);
            of_slot.map(|verdict| verdict.counter.key.clone()).collect::<Vec<Key>>()
        };
        let again = shards.iter().filter(|shard| !keys(shard.part.slot).is_empty());
        let asks = again.map(|shard| (shard.clone(), cells_of(&keys(shard.part.slot), generation))).collect();
        let env = &self.options.env;
        let before = collect::into_ledger(&*self.ledger, env).await;
        let seen = collect::into_shards(asks, env).await;
        let after = collect::into_ledger(&*self.ledger, env).await;
        match (before.found, after.found) {
            (Ok(before), Ok(after)) => {
                let speaks = &after.inspection.instance;
                // After a resize in between, these are cells of the previous layout, with other raw ids.
                let is_same = after.layout.as_ref().is_some_and(|record| record.generation == generation);
                let reaches = if is_same { self.reaches(&after).await } else { Reaches::default() };
                let nothing = Elsewhere::default();
                let elsewhere = if is_same { elsewhere } else { &nothing };
                let (before, after) = (rows_of(Some(&before)), rows_of(Some(&after)));
                judged(&seen, keys, ((&before, &after), (&reaches, elsewhere)), speaks)
            }
            // If the second read fails, the first one counts.
            _ => passing,
        }
    }
}

pub(crate) fn judged(
    seen: &[(SlotIndex, collect::Looked<Examination>)],
    keys: impl Fn(SlotIndex) -> Vec<Key>,
    (rows, reaches): ((&Rows, &Rows), (&Reaches, &Elsewhere)),
    ledger: &InstanceId,
) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (slot, looked) in seen {
        let Ok(found) = &looked.found else { continue };
        let counters = counters_of(*slot, keys(*slot));
        let cells = counters.iter().zip(&found.cells);
        let speaks = Speaks { store: &found.inspection.instance, ledger };
        verdicts.extend(judge_all(cells, rows, reaches, speaks));
    }
    verdicts
}
