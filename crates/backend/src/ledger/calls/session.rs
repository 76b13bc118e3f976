//! Ledger calls on instance, servers and instances on record, and recovery after a loss.

use sequent_core::{
    BoxFuture, ExamineLedger, Fact, InstanceId, LedgerExamination, SlotIndex, SourceError,
    ledger::{Identity, Known, LayoutPage, LedgerInspection, Loss, Recovery, ServerId},
};

use crate::ledger::{CoreLedger, Examined, LedgerEngine, Selection, rules};

impl<E: LedgerEngine> Identity for CoreLedger<E> {
    fn examiner(&self) -> Option<&dyn ExamineLedger> {
        Some(self)
    }

    fn inspect(&self) -> BoxFuture<'_, Result<LedgerInspection, SourceError>> {
        Box::pin(self.engine.inspect())
    }

    fn enlist<'a>(
        &'a self,
        under: &'a InstanceId,
        server: ServerId,
        nonce: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(async move {
            let enlist = |records: &mut _| Ok(rules::session::enlist(records, under, server, nonce)?);
            self.engine.transact("enlist with", &Selection::default(), enlist).await?;
            *self.enlisted() = Some(server);
            Ok(())
        })
    }

    fn rebear<'a>(&'a self, was: &'a InstanceId) -> BoxFuture<'a, Result<InstanceId, SourceError>> {
        Box::pin(async move {
            let selection = Selection { token: true, ..Selection::default() };
            let rotate = |records: &mut _| Ok(rules::session::rotate(records, was));
            self.engine.transact("speak anew in", &selection, rotate).await
        })
    }

    fn known(&self) -> BoxFuture<'_, Result<Known, SourceError>> {
        Box::pin(async move {
            let selection = Selection { stores: true, ..Selection::default() };
            let records = self.engine.view("read what is known from", &selection).await?;
            Ok(Known { ledger: records.accepted, stores: records.stores })
        })
    }

    fn record<'a>(
        &'a self,
        under: &'a InstanceId,
        slot: Option<SlotIndex>,
        instance: &'a InstanceId,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(async move {
            let record = |records: &mut _| Ok(rules::session::record(records, under, slot, instance)?);
            self.engine.transact("record in", &Selection::default(), record).await
        })
    }
}

impl<E: LedgerEngine> Recovery for CoreLedger<E> {
    fn recover(&self, loss: Loss, version_floor: u64) -> BoxFuture<'_, Result<InstanceId, SourceError>> {
        Box::pin(async move {
            let selection = Selection { token: true, ..Selection::default() };
            let recover = |records: &mut _| Ok(rules::recovery::recover(records, loss, version_floor));
            self.engine.transact("recover", &selection, recover).await
        })
    }
}

impl<E: LedgerEngine> ExamineLedger for CoreLedger<E> {
    fn examine(&self, most: usize) -> BoxFuture<'_, Result<LedgerExamination, SourceError>> {
        Box::pin(async move {
            let Examined { inspection, records, mut facts } = self.engine.examine(most).await?;
            let layout = match records.layout.as_ref().map(LayoutPage::record).transpose() {
                Ok(layout) => layout,
                // For example during a resize.
                Err(error) => {
                    facts.push(Fact::refused("layout", &error));
                    None
                }
            };
            let rows = records.rows.into_iter().collect();
            Ok(LedgerExamination { inspection, layout, rows, facts })
        })
    }
}
