//! Ledger calls on the layout and its change.

use sequent_core::{
    BoxFuture, SourceError,
    ledger::{Counter, LayoutBook, LayoutPage, LayoutRecord, Rebased},
};

use super::parts;
use crate::ledger::{CoreLedger, LedgerEngine, Selection, rules};

/// Records of a replaced row: the row, and the ended epoch in the history.
const RECORDS_OF_A_ROW: usize = 2;

impl<E: LedgerEngine> LayoutBook for CoreLedger<E> {
    fn layout(&self) -> BoxFuture<'_, Result<Option<LayoutRecord>, SourceError>> {
        Box::pin(async move { self.page().await?.as_ref().map(LayoutPage::record).transpose() })
    }

    fn found<'a>(&'a self, first: &'a LayoutRecord) -> BoxFuture<'a, Result<LayoutRecord, SourceError>> {
        Box::pin(async move { Ok(self.found_anew(first).await?.0) })
    }

    fn found_anew<'a>(
        &'a self,
        first: &'a LayoutRecord,
    ) -> BoxFuture<'a, Result<(LayoutRecord, bool), SourceError>> {
        Box::pin(async move {
            let initialize = |records: &mut _| Ok(rules::layout::initialize(records, first)?);
            self.engine.transact("write the first layout of", &Selection::default(), initialize).await
        })
    }

    fn page(&self) -> BoxFuture<'_, Result<Option<LayoutPage>, SourceError>> {
        Box::pin(
            async move { Ok(self.engine.view("read the layout from", &Selection::default()).await?.layout) },
        )
    }

    fn turn<'a>(
        &'a self,
        held: &'a LayoutPage,
        new: &'a LayoutPage,
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(async move {
            let replace = |records: &mut _| Ok(rules::layout::replace(records, held, new)?);
            self.engine.transact("change the layout in", &Selection::default(), replace).await
        })
    }

    fn rebase<'a>(
        &'a self,
        held: &'a LayoutPage,
        keys: &'a [Rebased],
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(async move {
            let change = rules::layout::fenced_change(held)?;
            let counters: Vec<(Counter, Option<u64>)> = rules::layout::counters(&change, keys).collect();
            let mut version = 0;
            for part in parts(&counters, E::RECORDS_MAX / RECORDS_OF_A_ROW) {
                let selection = Selection {
                    counters: part.iter().map(|(counter, _)| counter).collect(),
                    ..Selection::default()
                };
                let rebase = |records: &mut _| {
                    rules::layout::rebase(records, held, &change, part)?;
                    Ok(records.next_version())
                };
                version = self.engine.transact("rebase counters in", &selection, rebase).await?;
            }
            Ok(version)
        })
    }
}
