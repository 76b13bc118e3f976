//! Periods that are over for good: their counters may go, since the ledger never lets another begin in their place.
//!
//! A *fence* of a sequence says up to which period of one kind (years, days, …) that is. It is kept as an [`Advanced`] whose
//! key is no counter's, so it only rises, and every server hears of it with the definitions. Whoever begins a counter reads
//! its fence once its life is in the ledger, and before its cell counts: `guard.md` says why that is enough. A dense counter
//! begins in the ledger, which looks at the fence itself.

use super::{Advanced, Counter};
use crate::{BoxFuture, ErrorKind, Key, SlotIndex, SourceError};

/// What stands between a sequence's name and the kind of a fence; no counter's key has it there.
const FENCE: &str = "|~";

/// What follows in the note of numbers that may have been given twice.
const ABOVE: &str = "above";

impl Advanced {
    /// The fence right behind a key's period: the key is over where the ledger holds as much, or more, for it. `None` for a
    /// key without a period.
    ///
    /// ```
    /// use sequent_core::{Key, ledger::Advanced};
    /// let fence = |key: &str| Advanced::fence(&Key::from_stored(key)).map(|fence| (fence.key.to_string(), fence.to));
    /// assert_eq!(fence("order|8:20170304|3:010"), Some(("order|~day".to_owned(), 20_170_304)));
    /// assert_eq!(fence("plan|7:2026W53"), Some(("plan|~isoweek".to_owned(), 202_653)));
    /// assert_eq!((fence("order"), fence("order|0:|3:010"), fence("order|8:birthday")), (None, None, None));
    /// ```
    pub fn fence(key: &Key) -> Option<Self> {
        let period = key.period();
        let is_ascii = period.is_ascii();
        let kind = match (period.len(), period.as_bytes()) {
            _ if !is_ascii => return None,
            (4, _) => "year",
            (6, [b'F', b'Y', ..]) => "fy",
            (6, [_, _, _, _, b'Q', _]) => "quarter",
            (6, _) => "month",
            (7, [_, _, _, _, b'W', ..]) => "isoweek",
            (8, _) => "day",
            (10, _) => "hour",
            _ => return None,
        };
        // Two letters before the digits of a fiscal year, one amid those of a quarter or a week.
        let digits: String =
            period.chars().filter(|letter| !matches!(letter, 'F' | 'Y' | 'Q' | 'W')).collect();
        let letters = match kind {
            "fy" => 2,
            "quarter" | "isoweek" => 1,
            _ => 0,
        };
        let to = digits.parse().ok().filter(|_| digits.len() + letters == period.len())?;
        Some(Self { key: Key::from_stored(&format!("{}{FENCE}{kind}", key.sequence())), to })
    }

    /// The note of which version the ledger had when the layout of an epoch was fenced: servers of that layout left no higher
    /// mark. No sequence is without a name, so no fence has this key.
    ///
    /// ```
    /// use sequent_core::ledger::Advanced;
    /// let ended = Advanced::layout_ended(3, 70);
    /// assert_eq!((ended.key.as_str(), ended.to, ended.is_fence()), ("|~epoch3", 70, true));
    /// ```
    pub fn layout_ended(epoch: u64, version: u64) -> Self {
        Self { key: Key::from_stored(&format!("{FENCE}epoch{epoch}")), to: version }
    }

    /// The note of up to which raw id a server gave numbers of a key under a life that had ended, above where the next one began: they
    /// may have been given twice.
    ///
    /// ```
    /// use sequent_core::{Key, ledger::Advanced};
    /// let note = Advanced::given_above(&Key::from_stored("order|8:20170304"), 7);
    /// assert_eq!((note.key.as_str(), note.given_above_of()), ("order|~above|8:20170304", Some(Key::from_stored("order|8:20170304"))));
    /// assert_eq!(Advanced::floor(1, 7).given_above_of(), None);
    /// ```
    pub fn given_above(key: &Key, raw: u64) -> Self {
        let (sequence, rest) = key.as_str().split_at(key.sequence().len());
        Self { key: Key::from_stored(&format!("{sequence}{FENCE}{ABOVE}{rest}")), to: raw }
    }

    /// The key of such a note; `None` of any other.
    pub fn given_above_of(&self) -> Option<Key> {
        let sequence = self.key.sequence();
        let rest = self.key.as_str()[sequence.len()..].strip_prefix(FENCE)?.strip_prefix(ABOVE)?;
        (rest.is_empty() || rest.starts_with('|')).then(|| Key::from_stored(&format!("{sequence}{rest}")))
    }

    /// The note of up to which raw id lives of a key begin at an operator's word: it is there before any of them, and tells that
    /// no hand wrote them.
    ///
    /// ```
    /// use sequent_core::{Key, ledger::Advanced};
    /// let note = |key: &str| Advanced::begun_at(&Key::from_stored(key), 7).key.to_string();
    /// assert_eq!([note("order"), note("order|8:20170304|3:010")], ["order|~raw", "order|~raw|8:20170304|3:010"]);
    /// ```
    pub fn begun_at(key: &Key, raw: u64) -> Self {
        let (sequence, rest) = key.as_str().split_at(key.sequence().len());
        Self { key: Key::from_stored(&format!("{sequence}{FENCE}raw{rest}")), to: raw }
    }

    /// The note that a loss was named under the layout of an epoch: marks of layouts before it accuse nobody any more.
    pub fn loss_named(epoch: u64) -> Self {
        Self { key: Key::from_stored(&format!("{FENCE}named")), to: epoch }
    }

    /// The note of the version that the ledger had when a loss was named last, amid a resize or after one.
    pub fn loss_named_at(version: u64) -> Self {
        Self { key: Key::from_stored(&format!("{FENCE}namedat")), to: version }
    }

    /// The note of the version at which a resize found that it had written rows without a loss that was named meanwhile.
    pub fn loss_dropped(version: u64) -> Self {
        Self { key: Key::from_stored(&format!("{FENCE}dropped")), to: version }
    }

    /// The note that counters without a row begin above this raw id of an epoch's layout, at least. A resize counts it anew.
    ///
    /// ```
    /// use sequent_core::ledger::Advanced;
    /// let note = Advanced::floor(3, 9);
    /// assert_eq!((note.key.as_str(), note.to, note.is_fence()), ("|~floor3", 9, true));
    /// ```
    pub fn floor(epoch: u64, raw: u64) -> Self {
        Self { key: Key::from_stored(&format!("{FENCE}floor{epoch}")), to: raw }
    }

    /// The note that dense counters were forgotten: where there is none now, there were some.
    pub fn dense_forgotten() -> Self {
        Self { key: Key::from_stored(&format!("{FENCE}dense")), to: 1 }
    }

    /// Whether it is a fence, or another of the notes here, and no counter's.
    pub fn is_fence(&self) -> bool {
        self.key.as_str()[self.key.sequence().len()..].starts_with(FENCE)
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

    /// Notes a fence as [`Catalog::advance`](super::Catalog::advance) does, and in the same step forgets counters that are
    /// behind it, with all that is held of them. At most 4096; the version goes up by one where any was there.
    fn forget<'a>(
        &'a self,
        fence: &'a Advanced,
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
        fence: &'a Advanced,
        keys: &'a [Key],
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        let _ = (fence, keys);
        Box::pin(std::future::ready(kept()))
    }

    /// What is held for a fence; 0 where there is none.
    fn fence<'a>(&'a self, fence: &'a Advanced) -> BoxFuture<'a, Result<u64, SourceError>> {
        let _ = fence;
        Box::pin(std::future::ready(kept()))
    }
}
