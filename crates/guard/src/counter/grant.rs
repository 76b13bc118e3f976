//! Grant: a server's copy of a row. It permits the release of ids of that epoch up to that ceiling.

use sequent_core::{Rule, SourceError, ledger::Row};

use super::{CounterState, Guarded};

/// The grant of a counter.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    /// The row that was joined or opened.
    pub(crate) row: Row,
    /// The highest acknowledged ceiling of the row.
    pub(crate) ceiling: u64,
    /// The highest id that the store gave under it, whether or not it left.
    pub(super) drawn: u64,
}

impl Grant {
    pub(crate) fn of(row: Row) -> Self {
        let ceiling = row.ceiling;
        Self { row, ceiling, drawn: 0 }
    }
}

impl Guarded {
    /// The present grant if it is valid; otherwise one first touch for all callers.
    pub(super) async fn grant(&self, want: u64) -> Result<Grant, SourceError> {
        if let Some(grant) = self.valid_grant() {
            return Ok(grant);
        }
        let _one_at_a_time = self.touch.lock().await;
        match self.valid_grant() {
            Some(grant) => Ok(grant),
            None => self.first_touch(want).await,
        }
    }

    /// The grant, if its instances of store and ledger are still the present ones.
    pub(super) fn valid_grant(&self) -> Option<Grant> {
        let (rules, client) = (self.shared.rules, &self.shared.client);
        let grant = self.state().grant().cloned()?;
        let same_store =
            self.shard.instance().as_ref() == Some(&grant.row.store) || !rules.keep(Rule::SameConnection);
        let same_ledger = client.speaks_as(&grant.row.ledger) || !rules.keep(Rule::SameLedger);
        (same_store && same_ledger).then_some(grant)
    }

    /// Takes a joined or opened row as the grant. The row's `seen` counts as seen here.
    pub(super) fn take_up(&self, row: Row) -> Grant {
        let grant = Grant::of(row);
        let mut state = self.state();
        if state.grant().is_some_and(|held| held.row.epoch != grant.row.epoch) {
            state.lay_down(CounterState::Closed);
        }
        let seen = state.seen.max(grant.row.seen);
        // R18
        let floor = if self.shared.rules.keep(Rule::OrderAtFirstTouch) { seen } else { state.order.floor() };
        state.saw(grant.row.seen, grant.row.base);
        state.order.restart(floor);
        state.position = grant.row.reached();
        state.compare_former(&grant.row);
        state.enter(CounterState::Open(grant.clone()));
        grant
    }
}
