//! Ids that left without the ledger: owed to it until it has witnessed them, with or without a permit.

use sequent_core::{
    Life, Rule,
    ledger::{Counter, Raise},
};

use super::{Guarded, State, permit::Permit};

/// What a counter let go while the ledger was away.
#[derive(Debug)]
pub(super) struct Debt {
    life: Life,
    /// The highest id that left.
    pub(super) high: u64,
}

impl Debt {
    /// Asks for a ceiling that covers it, and for nothing more. It has left: no leap is too wide.
    pub(super) fn raise(&self, counter: &Counter) -> Raise {
        let Self { life, high, .. } = *self;
        Raise { counter: counter.clone(), life, ceiling: high, seen: high, leap_max: high }
    }
}

impl State {
    /// Ids up to `high` left under `permit`, and the ledger does not know.
    pub(super) fn owe(&mut self, permit: &Permit, high: u64) {
        let high = self.debt.as_ref().map_or(0, |debt| debt.high).max(high);
        self.debt = Some(Debt { life: permit.row.life, high });
    }

    /// Whether anything left that is not known to be witnessed, by whatever ledger speaks.
    pub(super) fn owes(&self) -> bool {
        self.debt.is_some()
    }

    /// The row of `life` has this ceiling; of an ended life nothing is owed, since what was found at its end counts.
    pub(super) fn settle(&mut self, life: Life, ceiling: u64) {
        if self.debt.as_ref().is_some_and(|debt| debt.life == life && debt.high <= ceiling) {
            self.debt = None;
        }
    }

    /// Another row is taken up: only of the same life something may still be owed.
    pub(super) fn settle_other_lives(&mut self, life: Life) {
        self.debt = self.debt.take().filter(|debt| debt.life == life);
    }
}

impl Guarded {
    /// What the ledger in force does not know yet, also where it came back as another incarnation: the value found at the next
    /// close covers it only if the store has not forgotten by then, and a counter may rest for weeks. The row of that life
    /// is told, and no other; nothing is given for it, so that it is no permit of a lost history.
    pub(super) fn owed<'a>(&self, state: &'a State) -> Option<&'a Debt> {
        state.debt.as_ref().filter(|_| self.shared.rules.keep(Rule::Reassert))
    }

    /// Whether ids left without the ledger that it has not witnessed yet.
    pub(crate) fn owes(&self) -> bool {
        self.owed(&self.state()).is_some()
    }
}
