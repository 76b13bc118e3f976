//! What becomes of an opening and of a raise: the guard's two rules of the ledger, the same for every engine.

use super::{Counter, Opened, Opening, Over, PastEpoch, Raise, Raised, Row};
use crate::{Block, Epoch, InstanceId};

/// What the row of a counter that was claimed names in place of a store.
const CLAIMED: &str = "claimed";

/// The same of one that was announced with its key.
const ANNOUNCED: &str = "announced";

impl Row {
    /// Whether somebody is about to begin this counter, and has not yet: nothing was ever given under it.
    pub fn is_claim(&self) -> bool {
        is_claimed(&self.store)
    }

    /// Whether its key began in another slot, and nobody was about to begin it here: nothing was ever given under it. A counter
    /// *without* a row beside others of its key has lost it.
    pub fn is_announced(&self) -> bool {
        is_announced(&self.store)
    }

    /// Whether nothing was ever given by this row, nor can have been.
    pub fn is_unbegun(&self) -> bool {
        self.is_claim() || self.is_announced()
    }

    /// How far its counter has come, as it says: where its epoch began, or what was reported of it.
    pub fn reached(&self) -> u64 {
        self.base.max(self.seen)
    }

    /// What it leaves in the history. What never began leaves nothing.
    pub fn ended(&self) -> Option<PastEpoch> {
        let Self { epoch, base, ceiling, .. } = *self;
        (!self.is_unbegun()).then_some(PastEpoch { epoch, base, ceiling })
    }
}

fn is_claimed(store: &InstanceId) -> bool {
    *store == InstanceId::nobody(CLAIMED)
}

fn is_announced(store: &InstanceId) -> bool {
    *store == InstanceId::nobody(ANNOUNCED)
}

impl Opening {
    /// A claim on a counter that has no row, or was announced alone: of many servers that meet at it one shall begin it. No cell is
    /// closed for it, and it permits nothing: it tells the others that somebody is about to open an epoch that does.
    ///
    /// ```
    /// use sequent_core::{InstanceId, Key, Epoch, ledger::{Counter, Opened, Opening}};
    /// let counter = Counter { slot: 0, key: Key::from_stored("order") };
    /// let (claim, ledger) = (Opening::claim(counter, Epoch::from_stored(7)), InstanceId::new("ledger"));
    /// let Opened::Row(row) = claim.of(None, 30, &ledger, 0) else { panic!() };
    /// assert_eq!((row.is_claim(), row.base, row.ceiling, row.ended()), (true, 30, 30, None));
    /// assert_eq!(claim.of(Some(&row), 30, &ledger, 0), Opened::Known(row));
    /// ```
    pub fn claim(counter: Counter, epoch: Epoch) -> Self {
        Self {
            counter,
            epoch,
            over: Over::Any,
            store: InstanceId::nobody(CLAIMED),
            value: 0,
            beside: 0,
            ahead: 0,
            leap_max: 0,
        }
    }

    /// Whether it is one.
    pub fn is_claim(&self) -> bool {
        is_claimed(&self.store)
    }

    /// The word that a key has begun in another slot, and not in this one yet. It permits nothing, and whoever claims the counter goes
    /// over it.
    ///
    /// ```
    /// use sequent_core::{InstanceId, Key, Epoch, ledger::{Counter, Opened, Opening}};
    /// let (counter, ledger) = (Counter { slot: 1, key: Key::from_stored("order") }, InstanceId::new("ledger"));
    /// let word = Opening::announcement(counter.clone(), Epoch::from_stored(7));
    /// let Opened::Row(row) = word.of(None, 0, &ledger, 0) else { panic!() };
    /// assert_eq!((row.is_announced(), row.ceiling, row.ended()), (true, 0, None));
    /// assert_eq!(word.of(Some(&row), 0, &ledger, 0), Opened::Known(row.clone()));
    /// let claim = Opening::claim(counter, Epoch::from_stored(8));
    /// assert!(matches!(claim.of(Some(&row), 0, &ledger, 0), Opened::Row(row) if row.is_claim()));
    /// ```
    pub fn announcement(counter: Counter, epoch: Epoch) -> Self {
        Self { store: InstanceId::nobody(ANNOUNCED), ..Self::claim(counter, epoch) }
    }

    /// Whether it permits nothing, so that no id rests on it.
    pub fn is_word(&self) -> bool {
        self.is_claim() || is_announced(&self.store)
    }

    /// Whether it writes nothing where a counter has this row.
    pub fn yields_to(&self, row: &Row) -> bool {
        is_announced(&self.store) || self.is_claim() && !row.is_announced()
    }

    /// What it makes of a counter whose row is `old`; without one, whose ceiling is `floor`, as a recovery left it. The row
    /// is to be written in the statement's own transaction, and `old` goes into the history.
    ///
    /// ```
    /// use sequent_core::{InstanceId, Key, Epoch, ledger::{Counter, Opened, Opening, Over}};
    /// let counter = Counter { slot: 0, key: Key::from_stored("order") };
    /// let (epoch, store) = (Epoch::from_stored(7), InstanceId::new("store"));
    /// let opening = Opening { counter, epoch, over: Over::Any, store, value: 40, beside: 0, ahead: 10, leap_max: 100 };
    /// let Opened::Row(row) = opening.of(None, 30, &InstanceId::new("ledger"), 0) else { panic!() };
    /// assert_eq!((row.base, row.ceiling, row.seen), (40, 50, 40));
    /// assert_eq!(opening.of(Some(&row), 0, &row.ledger, 0), Opened::Row(sequent_core::ledger::Row { base: 50, ceiling: 60, seen: 50, ..row.clone() }));
    /// let beside = |beside, old| Opening { beside, ..opening.clone() }.abreast(50, 40, old);
    /// assert_eq!([45, 70, 140, 1 << 62].map(|far| beside(far, Some(&row))), [50, 70, 140, 50], "the last is more than a leap");
    /// assert_eq!([45, 70, 140, 1 << 62].map(|far| beside(far, None)), [50, 70, 90, 90], "nobody knows: half of a leap");
    /// let overtaken = |over, old| Opening { over, ..opening.clone() }.of(old, 0, &row.ledger, 0) == Opened::Overtaken;
    /// assert!(overtaken(Over::Epoch(Epoch::from_stored(6)), Some(&row)) && !overtaken(Over::Epoch(epoch), Some(&row)));
    /// assert!(overtaken(Over::Nothing, Some(&row)) && overtaken(Over::Epoch(epoch), None) && !overtaken(Over::Nothing, None));
    /// let far = Opening { value: 1 << 62, ..opening };
    /// assert_eq!(far.of(Some(&row), 0, &row.ledger, 0), Opened::Leapt { found: 1 << 62, bound: 150 });
    /// ```
    pub fn of(&self, old: Option<&Row>, floor: u64, ledger: &InstanceId, clock_ms: u64) -> Opened {
        if let Some(row) = old.filter(|row| self.yields_to(row)) {
            return Opened::Known(row.clone());
        }
        if !self.over.is(old) {
            return Opened::Overtaken;
        }
        let known = old.map_or(floor, Row::reached);
        let found = old.map_or(floor, |row| row.ceiling).max(self.value);
        let bound = within(known.saturating_add(self.ahead), self.leap_max);
        if found > bound {
            return Opened::Leapt { found, bound };
        }
        let base = self.abreast(found, known, old);
        Opened::Row(Row {
            epoch: self.epoch,
            store: self.store.clone(),
            ledger: ledger.clone(),
            base,
            ceiling: within(base, self.ahead),
            seen: base,
            opened_at_ms: clock_ms,
        })
    }

    /// Not behind the key's other slots, of a counter whose row is `old`. A row of theirs that says more than a leap above `known` is not
    /// followed at all, since as much would be added each time that the store forgets. Where there is no row, nobody knows:
    /// such a one is followed by half of a leap, once.
    pub fn abreast(&self, found: u64, known: u64, old: Option<&Row>) -> u64 {
        let beside = match old {
            None => self.beside.min(within(known, self.leap_max / 2)),
            Some(_) if self.beside > within(known, self.leap_max) => 0,
            Some(_) => self.beside,
        };
        found.max(beside)
    }
}

impl Raise {
    /// What it makes of its counter's row. `Held` says what the row is to hold from now on; where that is what it holds,
    /// nothing has moved.
    ///
    /// ```
    /// # use sequent_core::{InstanceId, Key, Epoch, ledger::{Counter, Raise, Raised, Row}};
    /// # let counter = Counter { slot: 0, key: Key::from_stored("order") };
    /// # let instance = InstanceId::new("x");
    /// let epoch = Epoch::from_stored(7);
    /// let row = Row { epoch, base: 0, ceiling: 50, seen: 40, /* … */
    /// #   store: instance.clone(), ledger: instance, opened_at_ms: 0 };
    /// let raise = Raise { counter, epoch, ceiling: 0, seen: 45, leap_max: 8 };
    /// assert_eq!(raise.of(&row), Raised::Held { ceiling: 50, seen: 45 }, "a ceiling is never lowered");
    /// assert_eq!(Raise { seen: 59, ..raise.clone() }.of(&row), Raised::Leapt { ceiling: 50 });
    /// assert_eq!(Raise { epoch: Epoch::from_stored(8), ..raise }.of(&row), Raised::Ended { begun_at: Some(0) });
    /// ```
    pub fn of(&self, row: &Row) -> Raised {
        if row.epoch != self.epoch {
            // By one that never began nothing is given.
            return Raised::Ended { begun_at: (!row.is_unbegun()).then_some(row.base) };
        }
        if self.seen > within(row.ceiling, self.leap_max) {
            return Raised::Leapt { ceiling: row.ceiling };
        }
        let seen = row.seen.max(self.seen);
        // What was given is below the ceiling, also where the ledger has lost the raise that permitted it.
        Raised::Held { ceiling: row.ceiling.max(within(self.ceiling, 0)).max(seen), seen }
    }
}

/// A sum that stays within what a counter can hold.
fn within(value: u64, more: u64) -> u64 {
    value.saturating_add(more).min(Block::NUMBER_MAX)
}
