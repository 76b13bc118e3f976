//! Rules for openings and raises: how a call changes a row. They are the same for every ledger engine.

use super::{Counter, Opened, Opening, Over, PastEpoch, Raise, Raised, Row};
use crate::{Block, Epoch, InstanceId};

/// Store placeholder in the row of a claim.
const CLAIMED: &str = "claimed";

/// Store placeholder in the row of an announcement.
const ANNOUNCED: &str = "announced";

impl Row {
    /// Whether this row is a claim: a server is about to begin the counter. Nothing was ever given under it.
    pub fn is_claim(&self) -> bool {
        is_claimed(&self.store)
    }

    /// Whether this row is an announcement: its key began in another slot, and nobody has claimed it here. Nothing was ever
    /// given under it.
    ///
    /// A counter *without* a row, beside other rows of its key, has therefore lost its row.
    pub fn is_announced(&self) -> bool {
        is_announced(&self.store)
    }

    /// Whether nothing can ever have been given under this row.
    pub fn is_unbegun(&self) -> bool {
        self.is_claim() || self.is_announced()
    }

    /// The highest id that the row knows of: the epoch's base, or a higher id that was reported.
    pub fn reached(&self) -> u64 {
        self.base.max(self.seen)
    }

    /// The epoch's entry in the history; `None` if it never began.
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
    /// A claim on a counter that has no row or only an announcement. It makes one server of many begin the counter.
    ///
    /// No cell is closed for a claim, and it permits nothing. It tells the other servers that one of them is about to open an
    /// epoch.
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
            jump_max: 0,
        }
    }

    /// Whether this is a claim.
    pub fn is_claim(&self) -> bool {
        is_claimed(&self.store)
    }

    /// An announcement: the key began in another slot and not yet in this one. It permits nothing, and a claim replaces it.
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

    /// Whether it is a claim or an announcement. It permits nothing, so no id depends on it.
    pub fn is_word(&self) -> bool {
        self.is_claim() || is_announced(&self.store)
    }

    /// Whether it leaves this row unchanged.
    pub fn yields_to(&self, row: &Row) -> bool {
        is_announced(&self.store) || self.is_claim() && !row.is_announced()
    }

    /// The result for a counter whose row is `old`. Without a row, the counter's ceiling is `floor`, as a recovery left it.
    ///
    /// The engine writes the new row in the same transaction and adds `old` to the history.
    ///
    /// ```
    /// use sequent_core::{InstanceId, Key, Epoch, ledger::{Counter, Opened, Opening, Over}};
    /// let counter = Counter { slot: 0, key: Key::from_stored("order") };
    /// let (epoch, store) = (Epoch::from_stored(7), InstanceId::new("store"));
    /// let opening = Opening { counter, epoch, over: Over::Any, store, value: 40, beside: 0, ahead: 10, jump_max: 100 };
    /// let Opened::Row(row) = opening.of(None, 30, &InstanceId::new("ledger"), 0) else { panic!() };
    /// assert_eq!((row.base, row.ceiling, row.seen), (40, 50, 40));
    /// assert_eq!(opening.of(Some(&row), 0, &row.ledger, 0), Opened::Row(sequent_core::ledger::Row { base: 50, ceiling: 60, seen: 50, ..row.clone() }));
    /// let beside = |beside, old| Opening { beside, ..opening.clone() }.abreast(50, 40, old);
    /// assert_eq!([45, 70, 140, 1 << 62].map(|far| beside(far, Some(&row))), [50, 70, 140, 50], "the last is more than a jump");
    /// assert_eq!([45, 70, 140, 1 << 62].map(|far| beside(far, None)), [50, 70, 90, 90], "without a row: half of a jump");
    /// let overtaken = |over, old| Opening { over, ..opening.clone() }.of(old, 0, &row.ledger, 0) == Opened::Overtaken;
    /// assert!(overtaken(Over::Epoch(Epoch::from_stored(6)), Some(&row)) && !overtaken(Over::Epoch(epoch), Some(&row)));
    /// assert!(overtaken(Over::Nothing, Some(&row)) && overtaken(Over::Epoch(epoch), None) && !overtaken(Over::Nothing, None));
    /// let far = Opening { value: 1 << 62, ..opening };
    /// assert_eq!(far.of(Some(&row), 0, &row.ledger, 0), Opened::Jumped { found: 1 << 62, bound: 150 });
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
        let bound = capped_sum(known.saturating_add(self.ahead), self.jump_max);
        if found > bound {
            return Opened::Jumped { found, bound };
        }
        let base = self.abreast(found, known, old);
        Opened::Row(Row {
            epoch: self.epoch,
            store: self.store.clone(),
            ledger: ledger.clone(),
            base,
            ceiling: capped_sum(base, self.ahead),
            seen: base,
            opened_at_ms: clock_ms,
        })
    }

    /// Raises `found` to the level of the key's other slots. `old` is the counter's row.
    ///
    /// With a row, a level more than `jump_max` above `known` is ignored: otherwise the counter would climb that far each time
    /// its store forgets. Without a row nothing is known of the counter, so it follows by at most half of `jump_max`, once.
    pub fn abreast(&self, found: u64, known: u64, old: Option<&Row>) -> u64 {
        let beside = match old {
            None => self.beside.min(capped_sum(known, self.jump_max / 2)),
            Some(_) if self.beside > capped_sum(known, self.jump_max) => 0,
            Some(_) => self.beside,
        };
        found.max(beside)
    }
}

impl Raise {
    /// The result for the counter's row. `Held` contains the new content of the row. If it equals the old content, nothing has
    /// moved.
    ///
    /// ```
    /// # use sequent_core::{InstanceId, Key, Epoch, ledger::{Counter, Raise, Raised, Row}};
    /// # let counter = Counter { slot: 0, key: Key::from_stored("order") };
    /// # let instance = InstanceId::new("x");
    /// let epoch = Epoch::from_stored(7);
    /// let row = Row { epoch, base: 0, ceiling: 50, seen: 40, /* … */
    /// #   store: instance.clone(), ledger: instance, opened_at_ms: 0 };
    /// let raise = Raise { counter, epoch, ceiling: 0, seen: 45, jump_max: 8 };
    /// assert_eq!(raise.of(&row), Raised::Held { ceiling: 50, seen: 45 }, "a ceiling is never lowered");
    /// assert_eq!(Raise { seen: 59, ..raise.clone() }.of(&row), Raised::Jumped { ceiling: 50 });
    /// assert_eq!(Raise { epoch: Epoch::from_stored(8), ..raise }.of(&row), Raised::Ended { begun_at: Some(0) });
    /// ```
    pub fn of(&self, row: &Row) -> Raised {
        if row.epoch != self.epoch {
            // An epoch that never began has given nothing.
            return Raised::Ended { begun_at: (!row.is_unbegun()).then_some(row.base) };
        }
        if self.seen > capped_sum(row.ceiling, self.jump_max) {
            return Raised::Jumped { ceiling: row.ceiling };
        }
        let seen = row.seen.max(self.seen);
        // Ids already given stay below the ceiling, even if the ledger lost the raise that permitted them.
        Raised::Held { ceiling: row.ceiling.max(capped_sum(self.ceiling, 0)).max(seen), seen }
    }
}

/// The sum, capped at the highest number of a counter.
fn capped_sum(value: u64, more: u64) -> u64 {
    value.saturating_add(more).min(Block::NUMBER_MAX)
}
