//! States of a counter: whether blocks may leave, and what the next take does. `guard.md` has the same table.

use sequent_core::{Epoch, Transitions};

use super::{State, grant::Grant};

/// The legal transitions of a counter. Tests compare them with `guard.md`, and see each of them happen.
pub static COUNTER_TRANSITIONS: Transitions = Transitions::new(
    "counter",
    &[
        ("Closed", "Open"),
        ("Closed", "Refused"),
        ("Refused", "Closed"),
        ("Refused", "Open"),
        ("Open", "Closed"),
        ("Open", "Refused"),
        ("Open", "Barred"),
        ("Barred", "Closed"),
        ("Barred", "Refused"),
        ("Barred", "Open"),
    ],
);

/// A counter's state in this process.
#[derive(Debug, Default)]
pub(crate) enum CounterState {
    /// There is no grant. The next take joins the row's epoch, or opens one.
    #[default]
    Closed,
    /// There is no grant, and the store has refused this epoch. It is joined again only after a wait for its opener.
    Refused(Epoch),
    /// Blocks leave under this grant.
    Open(Grant),
    /// As `Open`, but the last raise failed, and its block was dropped. With nothing left under the ceiling, the next take
    /// raises first.
    Barred(Grant),
}

impl CounterState {
    fn name(&self) -> &'static str {
        match self {
            Self::Closed => "Closed",
            Self::Refused(_) => "Refused",
            Self::Open(_) => "Open",
            Self::Barred(_) => "Barred",
        }
    }
}

impl State {
    /// Changes the state. Nothing else does.
    pub(super) fn enter(&mut self, next: CounterState) {
        COUNTER_TRANSITIONS.check(self.current.name(), next.name());
        self.current = next;
    }

    /// The grant, if there is one. Its instances may have ended.
    pub(crate) fn grant(&self) -> Option<&Grant> {
        match &self.current {
            CounterState::Open(grant) | CounterState::Barred(grant) => Some(grant),
            CounterState::Closed | CounterState::Refused(_) => None,
        }
    }

    /// The grant, if it is of this epoch.
    pub(super) fn held(&self, epoch: Epoch) -> Option<&Grant> {
        self.grant().filter(|grant| grant.row.epoch == epoch)
    }

    /// As [`held`](Self::held), to be changed.
    pub(super) fn held_mut(&mut self, epoch: Epoch) -> Option<&mut Grant> {
        match &mut self.current {
            CounterState::Open(grant) | CounterState::Barred(grant) => {
                Some(grant).filter(|grant| grant.row.epoch == epoch)
            }
            CounterState::Closed | CounterState::Refused(_) => None,
        }
    }

    /// The epoch that the store has refused.
    pub(super) fn refused(&self) -> Option<Epoch> {
        if let CounterState::Refused(epoch) = self.current { Some(epoch) } else { None }
    }

    /// Ends a refusal: its epoch may be joined again, or another one is opened.
    pub(super) fn refused_no_more(&mut self) {
        if self.refused().is_some() {
            self.enter(CounterState::Closed);
        }
    }
}

#[cfg(test)]
mod tests {
    use sequent_core::{InstanceId, ledger::Row};

    use super::*;

    fn each_state() -> [CounterState; 4] {
        let (epoch, store, ledger) = (Epoch::from_stored(1), InstanceId::new("s"), InstanceId::new("l"));
        let row = Row { epoch, store, ledger, base: 0, ceiling: 9, seen: 0, opened_at_ms: 0 };
        let grant = Grant::of(row);
        [
            CounterState::Closed,
            CounterState::Refused(epoch),
            CounterState::Open(grant.clone()),
            CounterState::Barred(grant),
        ]
    }

    #[test]
    #[cfg_attr(not(debug_assertions), ignore = "transitions are checked where debug assertions are on")]
    fn an_unlisted_transition_panics() {
        for (from, to) in (0..4).flat_map(|from| (0..4).map(move |to| (from, to))) {
            let [before, after] = [from, to].map(|at| each_state()[at].name());
            let entered = std::panic::catch_unwind(|| {
                let [current, next] = [from, to].map(|at| each_state().into_iter().nth(at).unwrap());
                State { current, ..State::default() }.enter(next);
            });
            let is_legal = from == to || COUNTER_TRANSITIONS.legal().contains(&(before, after));
            assert_eq!(entered.is_ok(), is_legal, "from {before} to {after}");
        }
    }
}
