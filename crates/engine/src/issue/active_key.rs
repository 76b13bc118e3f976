//! A key in use: its tower of sources, from the guard's counters to the reservoir.

use std::{
    sync::{Arc, OnceLock, atomic::Ordering},
    time::Duration,
};

use sequent_buffer::{BitExpansion, RangeMapping, Reservoir};
use sequent_core::{Key, SequenceName, Source};
use sequent_format::Timestamp;

use crate::{
    catalog::{
        Entry,
        definition::{Body, Placement},
    },
    engine::{IDLE_AFTER, Inner},
    error::EngineError,
    issue::{
        behind_check::Reach,
        dense::not_leased,
        minimum::MinimumFilter,
        request::{Period, ResolvedRequest},
    },
    telemetry::MeteredSource,
};

/// A key in use.
pub(crate) struct ActiveKey {
    entry: Arc<Entry>,
    spanned: Arc<RangeMapping>,
    reservoir: Reservoir,
    /// The number that its key was advanced to; 0 where it was not.
    floor: u64,
    /// Here as well, since the hot path looks at it.
    has_texts: bool,
    is_plain: bool,
    /// `None` without a template: most keys.
    period: Option<Box<Period>>,
    /// Made where a caller tells what it was given.
    reach: OnceLock<Box<Reach>>,
}

/// Into how many leases what is left of a key would have to be cut at least.
const LEASE_PARTS: u64 = 1000;

/// A key whose period ends soon is kept idle for so long, so that the next one is made ahead for it.
const ENDING_IDLE_AFTER: Duration = Duration::from_secs(3600);

/// What soon is, in seconds.
const ENDING_WITHIN_S: i64 = 3600;

/// A key of a period that has ended is dropped when nothing was taken for so long.
const ENDED_IDLE_AFTER: Duration = Duration::from_secs(5);

/// A number that was ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The number.
    pub number: u64,
    /// The version of the definition that it was given under.
    pub version: u32,
}

impl ActiveKey {
    pub(crate) fn reservoir(&self) -> &Reservoir {
        &self.reservoir
    }

    /// The definition that it was made from.
    pub(crate) fn entry(&self) -> &Entry {
        &self.entry
    }

    /// The same, to be kept.
    pub(crate) fn shared_entry(&self) -> &Arc<Entry> {
        &self.entry
    }

    /// The number that its key had been advanced to when it was made.
    pub(crate) fn floor(&self) -> u64 {
        self.floor
    }

    pub(crate) fn version(&self) -> u32 {
        self.entry.version
    }

    /// How far it may have been taken.
    pub(crate) fn reach(&self) -> &Reach {
        self.reach.get_or_init(Box::default)
    }

    /// Whether its numbers are given without a look at the clock: they have no texts, and one version.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether it gives the numbers that a request aims at; without an aim, those of a sequence with one version and no
    /// template. Versions that share a counter have one end: any of them gives its numbers.
    pub(crate) fn serves(&self, aim: Option<&ResolvedRequest>) -> bool {
        let Some(aim) = aim else { return self.is_plain };
        let span = |entry: &Entry| entry.known().ok().map(Body::span);
        match (self.entry.is_staged(), aim.entry.is_staged()) {
            (false, false) => self.has_texts == aim.has_texts(),
            (true, true) => span(&self.entry) == span(&aim.entry),
            _ => false,
        }
    }

    /// Whether its numbers have texts, and are nobody's without.
    pub(crate) fn has_texts(&self) -> bool {
        self.has_texts
    }

    /// How long it may be idle before it is dropped. One of a period that ends within the hour is kept for the period that
    /// follows; one of a period that has ended goes at once, and only those who name that period by an instant may want
    /// it again.
    pub(crate) fn idle_after(&self, now: Timestamp) -> Duration {
        let to_come = |period: &Period| {
            let in_s = period.from.as_second() - now.as_second();
            period.from > now && in_s <= ENDING_WITHIN_S
        };
        if self.period().is_some_and(to_come) {
            // Made ahead: it is kept until somebody may want it.
            return ENDING_IDLE_AFTER;
        }
        match self.period().and_then(|period| period.until) {
            Some(until) if until <= now => ENDED_IDLE_AFTER,
            Some(until) if until.as_second() - now.as_second() <= ENDING_WITHIN_S => ENDING_IDLE_AFTER,
            None | Some(_) => IDLE_AFTER,
        }
    }

    /// Its period, if its sequence has a template.
    pub(crate) fn period(&self) -> Option<&Period> {
        self.period.as_deref()
    }

    /// A number that is ready, of a sequence without texts.
    pub(crate) fn try_next(&self) -> Option<Ready> {
        if !self.is_plain {
            return None;
        }
        let number = self.reservoir.try_next()?;
        Some(Ready { number, version: self.version() })
    }

    /// The most numbers that one lease may hold, whatever is configured.
    pub(crate) fn lease_max(&self) -> u64 {
        lease_max_of(self.spanned.left())
    }

    /// How many numbers are left of its range, and how many there were.
    pub(crate) fn room(&self) -> (u64, u64) {
        let capacity = self.entry.known().map_or(0, |body| body.span().capacity());
        (self.spanned.left(), capacity)
    }

    /// Whether nothing has been taken for `after`; what is kept beyond need is burnt on the way.
    pub(crate) fn is_idle(&self, after: Duration) -> bool {
        self.reservoir.trim() >= after
    }
}

/// The most numbers of one lease where so many are left of a key: a thousandth of them, so that leases skip little of a
/// bounded sequence, and one number at least.
pub(crate) fn lease_max_of(left: u64) -> u64 {
    (left / LEASE_PARTS).max(1)
}

/// A live key's reservoir. While it is held, the key is not given up as idle. It is closed when the ledger went back or was
/// recovered: ask for it again then.
#[derive(Clone)]
pub struct Keyed(Arc<ActiveKey>);

impl Keyed {
    pub(crate) fn new(live: Arc<ActiveKey>) -> Self {
        Self(live)
    }

    /// Where the key's numbers are ready.
    pub fn reservoir(&self) -> &Reservoir {
        self.0.reservoir()
    }

    /// A number that is ready, or `None`: never waits. Finding nothing, it begins a refill.
    pub fn try_next(&self) -> Option<Ready> {
        self.0.try_next()
    }

    /// The version of the definition that its numbers are given under.
    pub fn version(&self) -> u32 {
        self.0.version()
    }
}

impl Inner {
    /// The definition of a name; a first use makes it where a pattern allows.
    pub(crate) async fn entry(&self, name: &SequenceName) -> Result<Arc<Entry>, EngineError> {
        self.ready_to_define(name).await?;
        self.catalog.find_or_create(name).await
    }

    /// The same, of a sequence that somebody has defined or used.
    pub(crate) async fn known_entry(&self, name: &SequenceName) -> Result<Arc<Entry>, EngineError> {
        self.ready_to_define(name).await?;
        self.catalog.find_known(name).await
    }

    async fn ready_to_define(&self, name: &SequenceName) -> Result<(), EngineError> {
        if let Some(trouble) = self.keeper.trouble() {
            // Before a definition is written into a ledger that may have to be replaced.
            return Err(EngineError::of_source(name, trouble.error()));
        }
        self.catalog.bring_pending().await.map_err(|error| EngineError::of_open(&error))
    }

    /// Builds the tower of a key, one room upon the other.
    pub(crate) async fn build(
        &self,
        name: &SequenceName,
        key: &Key,
        (period, wanted): (Option<Period>, Option<Arc<Entry>>),
    ) -> Result<ActiveKey, EngineError> {
        let top = self.entry(name).await?;
        let in_effect = || top.in_effect(self.request_clock.now(&*self.env.clock));
        let entry = wanted.filter(|wanted| top.has(wanted)).unwrap_or_else(in_effect);
        if entry.body()?.placement() == Placement::Dense {
            // It has no tower here: whoever knows that it is dense asks the ledger.
            return Err(not_leased());
        }
        let (span, has_texts) = (entry.body()?.span(), entry.body()?.texts().is_some());
        let layout = self.cluster.layout();
        let counters = self.keeper.counters(key, span.raw_max(layout)).await;
        let counters = counters.map_err(|error| EngineError::of_source(name, error))?;
        let ring: Arc<dyn Source> = self.ring.source(key.clone(), counters);
        let expanded = Arc::new(BitExpansion::new(ring, layout));
        let spanned = Arc::new(RangeMapping::new(expanded, layout, span));
        let floor = self.minimums.of(key);
        let source = MinimumFilter::of(Arc::clone(&spanned) as _, floor, self.env.events.clone());
        let source = MeteredSource::of(source, &self.refills);
        let reservoir = Reservoir::with_context(source, Arc::clone(&self.reservoir_context));
        if period.as_ref().is_some_and(|period| period.until.is_some()) {
            self.dated.store(true, Ordering::Relaxed);
        }
        Ok(ActiveKey {
            is_plain: !has_texts && !entry.is_staged(),
            entry,
            spanned,
            reservoir,
            floor,
            has_texts,
            period: period.map(Box::new),
            reach: OnceLock::new(),
        })
    }
}
