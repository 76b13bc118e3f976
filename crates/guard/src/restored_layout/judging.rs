//! Rows of the copy that claim more than anybody can have taken: nothing follows them.

use std::collections::BTreeMap;

use sequent_core::{
    Key, SlotIndex, SourceError,
    ledger::{Counter, LayoutChange, LedgerInspection, Row},
};

use super::CatchUp;
use crate::{
    counter::Evidence,
    jump_limit,
    plausibility::Plausibility,
    resize::{no_leap, set_right, shown},
    timeouts::patiently,
};

impl CatchUp<'_> {
    /// A row that was set by hand must not take its whole key with it: the next layout begins each key above all of its rows.
    pub(super) async fn judge(
        &self,
        change: &LayoutChange,
        rows: &BTreeMap<Key, Vec<(SlotIndex, Row)>>,
    ) -> Result<(), SourceError> {
        for (key, rows) in rows {
            // Begun already: whoever replaced its rows had judged them, and those that it wrote are of other raw ids.
            if rows.iter().any(|(_, row)| row.store == change.marker()) {
                continue;
            }
            for (slot, row) in rows {
                let counter = Counter { slot: *slot, key: key.clone() };
                no_leap(&counter, row, 0)?;
                self.is_credible(change, &counter, row, rows).await?;
            }
        }
        Ok(())
    }

    async fn is_credible(
        &self,
        change: &LayoutChange,
        counter: &Counter,
        row: &Row,
        rows: &[(SlotIndex, Row)],
    ) -> Result<(), SourceError> {
        if row.reached() <= jump_limit::LEAP_CAP {
            return Ok(());
        }
        let LedgerInspection { clock_ms, version, .. } =
            patiently(self.limit, "inspect", || self.ledger.inspect()).await?;
        let others = || rows.iter().filter(|(slot, _)| *slot != counter.slot).map(|(_, row)| row);
        let layout = change.from.layout;
        let read = || Plausibility::read(self.ledger, counter, layout, (version, others()));
        let outside = patiently(self.limit, "read of a counter's history", read).await?;
        // No cell is asked: those of the layout before were closed by the resize, for epochs that no row has.
        let evidence = Evidence { store: &row.store, value: None, clock_ms, outside };
        evidence.against(row).map_or(Ok(()), |why| Err(set_right(&format!("{}: {why}", shown(counter)))))
    }
}
