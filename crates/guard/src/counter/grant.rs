//! A permit: a server's copy of a row. It may release ids of that epoch up to that ceiling.

use sequent_core::{Rule, SourceError, ledger::Row};

use super::Guarded;

/// What a counter may release, and under whom.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    /// The row that was joined or opened.
    pub(crate) row: Row,
    /// The highest ceiling acknowledged for it.
    pub(crate) ceiling: u64,
    /// The highest id that the store gave under it, whether it left or not.
    pub(super) drawn: u64,
    /// Whether the last raise failed, so that its block was dropped.
    pub(super) barred: bool,
}

impl Grant {
    pub(crate) fn of(row: Row) -> Self {
        let ceiling = row.ceiling;
        Self { row, ceiling, drawn: 0, barred: false }
    }
}

impl Guarded {
    /// The permit held, if it is still good; else by first touch, once for all callers.
    pub(super) async fn permit(&self, want: u64) -> Result<Grant, SourceError> {
        if let Some(permit) = self.good_permit() {
            return Ok(permit);
        }
        let _one_at_a_time = self.touch.lock().await;
        match self.good_permit() {
            Some(permit) => Ok(permit),
            None => self.first_touch(want).await,
        }
    }

    /// A permit counts under the instances of store and ledger that it names, and while the ledger is trusted.
    pub(super) fn good_permit(&self) -> Option<Grant> {
        let (rules, desk) = (self.shared.rules, &self.shared.desk);
        let permit = self.state().permit.clone()?;
        let same_store =
            self.shard.instance().as_ref() == Some(&permit.row.store) || !rules.keep(Rule::SameConnection);
        let same_ledger = desk.speaks_as(&permit.row.ledger) || !rules.keep(Rule::SameLedger);
        (same_store && same_ledger).then_some(permit)
    }

    /// Takes up a row, joined or opened: what was seen under it counts as seen.
    pub(super) fn take_up(&self, row: Row) -> Grant {
        let permit = Grant::of(row);
        let mut state = self.state();
        let seen = state.seen.max(permit.row.seen);
        // R18
        let floor = if self.shared.rules.keep(Rule::OrderAtFirstTouch) { seen } else { state.order.floor() };
        state.saw(permit.row.seen, permit.row.base);
        state.order.restart(floor);
        state.position = permit.row.reached();
        if state.former.as_ref().is_some_and(|former| former.epoch == permit.row.epoch) {
            state.former = None;
        }
        state.permit = Some(permit.clone());
        permit
    }
}
