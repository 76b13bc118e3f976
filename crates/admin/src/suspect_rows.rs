//! Rows of the ledger that claim more than could have been taken. They are left out of sums, and reported.

use std::{collections::BTreeMap, time::Duration};

use sequent_core::{
    Condition, Key, Layout, SlotIndex, SourceError,
    ledger::{Counter, Ledger, Row},
};
use sequent_engine::{
    EngineError,
    data::leap_advice,
    ledger_timeout::{of_ledger, within},
};
use sequent_guard::{Doubt, Evidence, FAR_CEILING, LEAP_MAX, Plausibility};

use crate::admin::Admin;

/// How many rows have their history read.
const ASKED_MAX: usize = 64;

/// A row that is not trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Doubted {
    /// Its counter.
    pub(crate) counter: Counter,
    /// The reason.
    why: Doubt,
}

impl Doubted {
    /// For people: the counter, the reason, and the repair.
    pub(crate) fn line(&self) -> String {
        let Self { counter: Counter { slot, key }, why } = self;
        format!("slot {slot} key {key}: {why}; {}", leap_advice(Some(why.condition)))
    }
}

impl Admin {
    /// The untrusted rows among these, which are all rows of each key. A row whose history can't be read is
    /// left out.
    pub(crate) async fn doubted(&self, rows: &[(Counter, Row)]) -> Result<Vec<Doubted>, SourceError> {
        doubted(self.ledger(), self.layout(), rows, self.limit()).await
    }

    /// The untrusted rows of a key.
    pub(crate) async fn doubted_of(&self, key: &Key) -> Result<Vec<Doubted>, EngineError> {
        let rows = self.rows_of(key).await.map_err(|error| of_ledger(&error))?;
        self.doubted(&rows).await.map_err(|error| of_ledger(&error))
    }

    /// The rows of a key, in every slot.
    pub(crate) async fn rows_of(&self, key: &Key) -> Result<Vec<(Counter, Row)>, SourceError> {
        let under = within(self.limit(), "open the ledger", self.ledger().inspect()).await?.instance;
        let counter = |slot: SlotIndex| Counter { slot, key: key.clone() };
        let counters: Vec<Counter> = (0..self.layout().slots()).map(counter).collect();
        let mut held = Vec::new();
        for some in counters.chunks(self.ledger().batch_max()) {
            let read = within(self.limit(), "read the rows", self.ledger().read(&under, some)).await?;
            let rows = some.iter().cloned().zip(read.rows);
            held.extend(rows.filter_map(|(counter, row)| Some((counter, row?))));
        }
        Ok(held)
    }
}

async fn doubted(
    ledger: &dyn Ledger,
    layout: Layout,
    rows: &[(Counter, Row)],
    limit: Duration,
) -> Result<Vec<Doubted>, SourceError> {
    let mut by_key: BTreeMap<&Key, Vec<(SlotIndex, &Row)>> = BTreeMap::new();
    for (counter, row) in rows {
        by_key.entry(&counter.key).or_default().push((counter.slot, row));
    }
    let beside = |counter: &Counter| {
        let slots = by_key.get(&counter.key).into_iter().flatten();
        let own = counter.slot;
        slots.filter(move |(slot, _)| *slot != own).map(|(_, row)| *row)
    };
    let is_far = |(counter, row): &&(Counter, Row)| {
        let least = beside(counter).map(Row::reached).min().unwrap_or(0);
        row.reached().max(row.ceiling) > least.saturating_add(LEAP_MAX)
    };
    let far: Vec<&(Counter, Row)> = rows.iter().filter(is_far).take(ASKED_MAX).collect();
    if far.is_empty() {
        return Ok(Vec::new());
    }
    let inspection = within(limit, "open the ledger", ledger.inspect()).await?;
    let mut doubted = Vec::new();
    for (counter, row) in far {
        let read = Plausibility::read(ledger, counter, layout, (inspection.version, beside(counter)));
        let Ok(outside) = within(limit, "read a counter's history", read).await else { continue };
        let evidence = Evidence { store: &row.store, value: None, clock_ms: inspection.clock_ms, outside };
        let why = evidence.against(row).or_else(|| far_ceiling(row));
        doubted.extend(why.map(|why| Doubted { counter: counter.clone(), why }));
    }
    Ok(doubted)
}

fn far_ceiling(row: &Row) -> Option<Doubt> {
    let (ceiling, at) = (row.ceiling, row.reached());
    let doubt = || Doubt {
        condition: Condition::FarCeiling,
        text: format!(
            "{FAR_CEILING} {ceiling}, far above all that is known of it, {at}: no epoch begins above it"
        ),
    };
    (ceiling.saturating_sub(at) > LEAP_MAX).then(doubt)
}
