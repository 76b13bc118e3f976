//! Retention: deletion of counters whose periods are over for good. The ledger never lets such a counter start again.
//!
//! The *fence* of a sequence is the last period of one unit (years, days, …) that is over. It is a ledger note: it only rises,
//! and every server reads it with the definitions.
//!
//! A server that begins a counter reads the fence after its epoch is in the ledger and before its cell counts.
//! `crates/guard/guard.md` explains why that suffices. A dense counter begins in the ledger, which checks the fence itself.

use super::{Counter, LedgerNote, NoteSubject};
use crate::{Key, Reply, SlotIndex, word_enum};

/// All periods of one unit of a sequence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Periods {
    /// The sequence's name.
    pub sequence: String,
    /// The unit.
    pub unit: PeriodUnit,
}

word_enum! {
    /// Unit of a period, with its word in a [note](NoteSubject::PeriodsOver).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum PeriodUnit {
        /// `2017`.
        Year = "year",
        /// `FY2017`.
        FiscalYear = "fy",
        /// `2017Q1`.
        Quarter = "quarter",
        /// `201703`.
        Month = "month",
        /// `2017W09`.
        IsoWeek = "isoweek",
        /// `20170304`.
        Day = "day",
        /// `2017030415`.
        Hour = "hour",
    }
}

impl PeriodUnit {
    /// The unit of a period, and the period as a number; `None` if the text is no period.
    fn read(period: &str) -> Option<(Self, u64)> {
        if !period.is_ascii() {
            return None;
        }
        // A fiscal year has two letters before its digits; a quarter or week has one among them.
        let (unit, letters) = match (period.len(), period.as_bytes()) {
            (4, _) => (Self::Year, 0),
            (6, [b'F', b'Y', ..]) => (Self::FiscalYear, 2),
            (6, [_, _, _, _, b'Q', _]) => (Self::Quarter, 1),
            (6, _) => (Self::Month, 0),
            (7, [_, _, _, _, b'W', ..]) => (Self::IsoWeek, 1),
            (8, _) => (Self::Day, 0),
            (10, _) => (Self::Hour, 0),
            _ => return None,
        };
        let digits: String =
            period.chars().filter(|letter| !matches!(letter, 'F' | 'Y' | 'Q' | 'W')).collect();
        let number = digits.parse().ok().filter(|_| digits.len() + letters == period.len())?;
        Some((unit, number))
    }
}

/// Fence of a sequence: the last period of one unit that is over for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// Which periods.
    pub periods: Periods,
    /// The last period that is over, by its digits: 20170304 for a day, 20171 for the quarter `2017Q1`.
    pub to: u64,
}

impl Fence {
    /// The fence directly after a key's period. The key is over if the ledger holds this fence or a later one. `None` for a key
    /// without a period.
    ///
    /// ```
    /// use sequent_core::{Key, ledger::{Fence, PeriodUnit}};
    /// let fence = |key: &str| Fence::of(&Key::from_stored(key)).map(|fence| (fence.periods.unit, fence.to));
    /// assert_eq!(fence("order|8:20170304|3:010"), Some((PeriodUnit::Day, 20_170_304)));
    /// assert_eq!(fence("plan|7:2026W53"), Some((PeriodUnit::IsoWeek, 202_653)));
    /// assert_eq!((fence("order"), fence("order|0:|3:010"), fence("order|8:birthday")), (None, None, None));
    /// ```
    pub fn of(key: &Key) -> Option<Self> {
        let (unit, to) = PeriodUnit::read(key.period())?;
        Some(Self { periods: Periods { sequence: key.sequence().to_owned(), unit }, to })
    }

    /// Whether a key's period is over when the ledger holds this fence.
    ///
    /// ```
    /// use sequent_core::{Key, ledger::Fence};
    /// let key = |text: &str| Key::from_stored(text);
    /// let fence = Fence::of(&key("order|8:20170304")).unwrap();
    /// let keys = ["order|8:20170304|3:010", "order|8:20170305", "order|6:201702", "order", "bill|8:20170304"];
    /// assert_eq!(keys.map(|text| fence.covers(&key(text))), [true, false, false, false, false]);
    /// ```
    pub fn covers(&self, key: &Key) -> bool {
        Self::of(key).is_some_and(|own| own.periods == self.periods && own.to <= self.to)
    }

    /// The subject of its ledger note.
    pub fn about(&self) -> NoteSubject {
        NoteSubject::PeriodsOver(self.periods.clone())
    }

    /// Its ledger note.
    pub fn note(&self) -> LedgerNote {
        LedgerNote { about: self.about(), to: self.to }
    }
}

/// Deletion of counters whose periods are over.
pub trait Retention: Send + Sync {
    /// The keys of a slot's counters in `from .. below`, at most `most`, ascending.
    fn keys_between<'a>(
        &'a self,
        slot: SlotIndex,
        from: &'a str,
        below: &'a str,
        most: usize,
    ) -> Reply<'a, Vec<Key>>;

    /// Notes a fence as [`Catalog::note`](super::Catalog::note) does. In the same step it deletes these counters, which are
    /// behind it, with everything held about them.
    ///
    /// At most 4096 counters. The version goes up by one if any of them existed.
    fn forget<'a>(&'a self, fence: &'a Fence, counters: &'a [Counter]) -> Reply<'a, u64>;

    /// The keys of dense counters in `from .. below`, at most `most`, ascending.
    fn dense_between<'a>(&'a self, from: &'a str, below: &'a str, most: usize) -> Reply<'a, Vec<Key>>;

    /// As [`forget`](Self::forget), for dense counters.
    fn forget_dense<'a>(&'a self, fence: &'a Fence, keys: &'a [Key]) -> Reply<'a, u64>;
}
