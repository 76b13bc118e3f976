//! A grant: a server's copy of a row. It may release ids of that epoch up to that ceiling.

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
    /// The grant held, if it is still good; else by first touch, once for all callers.
    pub(super) async fn grant(&self, want: u64) -> Result<Grant, SourceError> {
        if let Some(grant) = self.good_permit() {
            return Ok(grant);
        }
        let _one_at_a_time = self.touch.lock().await;
        match self.good_permit() {
            Some(grant) => Ok(grant),
            None => self.first_touch(want).await,
        }
    }

    /// A grant counts under the instances of store and ledger that it names, and while the ledger is trusted.
    pub(super) fn good_permit(&self) -> Option<Grant> {
        let (rules, client) = (self.shared.rules, &self.shared.client);
        let grant = self.state().grant.clone()?;
        let same_store =
            self.shard.instance().as_ref() == Some(&grant.row.store) || !rules.keep(Rule::SameConnection);
        let same_ledger = client.speaks_as(&grant.row.ledger) || !rules.keep(Rule::SameLedger);
        (same_store && same_ledger).then_some(grant)
    }

    /// Takes up a row, joined or opened: what was seen under it counts as seen.
    pub(super) fn take_up(&self, row: Row) -> Grant {
        let grant = Grant::of(row);
        let mut state = self.state();
        let seen = state.seen.max(grant.row.seen);
        // R18
        let floor = if self.shared.rules.keep(Rule::OrderAtFirstTouch) { seen } else { state.order.floor() };
        state.saw(grant.row.seen, grant.row.base);
        state.order.restart(floor);
        state.position = grant.row.reached();
        if state.former.as_ref().is_some_and(|former| former.epoch == grant.row.epoch) {
            state.former = None;
        }
        state.grant = Some(grant.clone());
        grant
    }
}
