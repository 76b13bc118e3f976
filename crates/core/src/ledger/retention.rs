//! Periods that are over for good: their counters may go, since the ledger never lets another begin in their place.
//!
//! A *fence* of a sequence says up to which period of one unit (years, days, …) that is. The ledger notes it, so it only rises, and
//! every server hears of it with the definitions. Whoever begins a counter reads its fence once its epoch is in the ledger, and
//! before its cell counts: `guard.md` says why that is enough. A dense counter begins in the ledger, which looks at the fence itself.

use super::{Counter, LedgerNote, NoteSubject};
use crate::{BoxFuture, ErrorKind, Key, SlotIndex, SourceError};

/// The periods of one unit of a sequence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Periods {
    /// The sequence's name.
    pub sequence: String,
    /// How long each of them is.
    pub unit: PeriodUnit,
}

/// How long a period is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PeriodUnit {
    /// `2017`.
    Year,
    /// `FY2017`.
    FiscalYear,
    /// `2017Q1`.
    Quarter,
    /// `201703`.
    Month,
    /// `2017W09`.
    IsoWeek,
    /// `20170304`.
    Day,
    /// `2017030415`.
    Hour,
}

impl PeriodUnit {
    /// The unit of a period, and its number; `None` of what is no period.
    fn read(period: &str) -> Option<(Self, u64)> {
        if !period.is_ascii() {
            return None;
        }
        // Two letters before the digits of a fiscal year, one amid those of a quarter or a week.
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

/// Up to which period those of one unit of a sequence are over for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// Which periods.
    pub periods: Periods,
    /// The last that is over, by its digits: 20170304 of a day, 20171 of the quarter `2017Q1`.
    pub to: u64,
}

impl Fence {
    /// The fence right behind a key's period: the key is over where the ledger holds as much, or more, for it. `None` for a
    /// key without a period.
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

    /// Whether a key's period is over where the ledger holds this fence.
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

    /// What the ledger's note of it is about.
    pub fn about(&self) -> NoteSubject {
        NoteSubject::PeriodsOver(self.periods.clone())
    }

    /// The ledger's note of it.
    pub fn note(&self) -> LedgerNote {
        LedgerNote { about: self.about(), to: self.to }
    }
}

/// Where the ledger has no such page.
fn kept<T>() -> Result<T, SourceError> {
    Err(SourceError::new(ErrorKind::Refused, "this ledger keeps the counters of periods that are over"))
}

/// The counters of periods that are over.
pub trait Retention: Send + Sync {
    /// The keys of a slot's counters from `from` on and before `below`, at most `most`, ascending.
    fn keys_between<'a>(
        &'a self,
        slot: SlotIndex,
        from: &'a str,
        below: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>, SourceError>> {
        let _ = (slot, from, below, most);
        Box::pin(std::future::ready(kept()))
    }

    /// Notes a fence as [`Catalog::note`](super::Catalog::note) does, and in the same step forgets counters that are
    /// behind it, with all that is held of them. At most 4096; the version goes up by one where any was there.
    fn forget<'a>(
        &'a self,
        fence: &'a Fence,
        counters: &'a [Counter],
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        let _ = (fence, counters);
        Box::pin(std::future::ready(kept()))
    }

    /// The keys of dense counters from `from` on and before `below`, at most `most`, ascending.
    fn dense_between<'a>(
        &'a self,
        from: &'a str,
        below: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>, SourceError>> {
        let _ = (from, below, most);
        Box::pin(std::future::ready(kept()))
    }

    /// As [`forget`](Self::forget), of dense counters.
    fn forget_dense<'a>(
        &'a self,
        fence: &'a Fence,
        keys: &'a [Key],
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        let _ = (fence, keys);
        Box::pin(std::future::ready(kept()))
    }
}
