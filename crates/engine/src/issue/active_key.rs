//! An active key: its stack of sources, from the guard's counters to the reservoir.

use std::{
    sync::{Arc, OnceLock, atomic::Ordering},
    time::Duration,
};

use sequent_buffer::{BitExpansion, RangeMapping, Reservoir, ReservoirContext};
use sequent_core::{Block, Key, SequenceName, Source};
use sequent_format::Timestamp;

use crate::{
    catalog::Entry,
    definition::{Body, Placement},
    engine::{IDLE_AFTER, Inner},
    error::{End, EngineError, at_its_end, reason::Reason},
    issue::{
        behind_check::Reach,
        burn::{BurnLimit, limited_source::LimitedSource},
        dense::not_leased,
        minimum::MinimumFilter,
        request::{Period, ResolvedRequest},
    },
};

/// A key in use, with its counters and its reservoir.
pub(crate) struct ActiveKey {
    entry: Arc<Entry>,
    spanned: Arc<RangeMapping>,
    burn: Arc<BurnLimit>,
    reservoir: Reservoir,
    /// The number that the key was advanced to; 0 without an advance.
    floor: u64,
    /// A copy of the entry's value: the hot path reads it.
    has_texts: bool,
    is_plain: bool,
    /// `None` without a template, which is the case for most keys.
    period: Option<Box<Period>>,
    /// Created when a caller first reports the highest number that it was given.
    reach: OnceLock<Box<Reach>>,
}

/// Idle time before a key is dropped whose period ends soon. The key must remain, so that the next period's key is
/// created ahead.
const ENDING_IDLE_AFTER: Duration = Duration::from_secs(3600);

/// Seconds before its end from which a period counts as ending soon.
const ENDING_WITHIN_S: i64 = 3600;

/// Idle time before a key of an ended period is dropped.
const ENDED_IDLE_AFTER: Duration = Duration::from_secs(5);

/// A number that was ready in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The number.
    pub number: u64,
    /// The version of the definition that the number was issued under.
    pub version: u32,
}

/// Numbers that were ready in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyBlock {
    /// The numbers.
    pub numbers: Block,
    /// The version of the definition that they were issued under.
    pub version: u32,
}

impl ActiveKey {
    pub(crate) fn reservoir(&self) -> &Reservoir {
        &self.reservoir
    }

    /// The definition that the key was made from.
    pub(crate) fn entry(&self) -> &Entry {
        &self.entry
    }

    /// The same, as a shared pointer.
    pub(crate) fn shared_entry(&self) -> &Arc<Entry> {
        &self.entry
    }

    /// The number that the key had been advanced to when it was made.
    pub(crate) fn floor(&self) -> u64 {
        self.floor
    }

    pub(crate) fn version(&self) -> u32 {
        self.entry.version
    }

    /// How far the key may have been used.
    pub(crate) fn reach(&self) -> &Reach {
        self.reach.get_or_init(Box::default)
    }

    /// Whether numbers are issued without reading the clock: the sequence has no texts and one version.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether the key serves a resolved request. A request without a resolved key needs a sequence with one version
    /// and no template. Versions that share a counter have the same end: any of them may issue its numbers.
    pub(crate) fn serves(&self, resolved: Option<&ResolvedRequest>) -> bool {
        let Some(resolved) = resolved else { return self.is_plain };
        if resolved.counter().is_some() {
            return true;
        }
        let span = |entry: &Entry| entry.known().ok().map(Body::span);
        match (self.entry.is_staged(), resolved.entry.is_staged()) {
            (false, false) => self.has_texts == resolved.has_texts(),
            (true, true) => span(&self.entry) == span(&resolved.entry),
            _ => false,
        }
    }

    /// Whether the numbers have texts. Such numbers are never issued without them.
    pub(crate) fn has_texts(&self) -> bool {
        self.has_texts
    }

    /// Idle time before the key is dropped. A key whose period ends within the hour is kept for the period that
    /// follows. A key whose period has ended is dropped soon: only requests that name that period by an instant can
    /// need it again.
    pub(crate) fn idle_after(&self, now: Timestamp) -> Duration {
        let to_come = |period: &Period| {
            let in_s = period.from.as_second() - now.as_second();
            period.from > now && in_s <= ENDING_WITHIN_S
        };
        if self.period().is_some_and(to_come) {
            // The key was created ahead: it is kept until requests can need it.
            return ENDING_IDLE_AFTER;
        }
        match self.period().and_then(|period| period.until) {
            Some(until) if until <= now => ENDED_IDLE_AFTER,
            Some(until) if until.as_second() - now.as_second() <= ENDING_WITHIN_S => ENDING_IDLE_AFTER,
            None | Some(_) => IDLE_AFTER,
        }
    }

    /// The key's period, if its sequence has a template.
    pub(crate) fn period(&self) -> Option<&Period> {
        self.period.as_deref()
    }

    /// A number that is ready, of a sequence without texts. Never waits.
    pub(crate) fn try_next(&self) -> Option<Ready> {
        if !self.is_plain {
            return None;
        }
        let number = self.reservoir.try_next()?;
        Some(Ready { number, version: self.version() })
    }

    /// The count of a request that the key has numbers for, and that the burn limit admits.
    ///
    /// It is refused before anything is taken: a part of the numbers would be of no use, and lost with this process.
    pub(crate) fn admitted(&self, name: &SequenceName, count: u64) -> Result<u64, EngineError> {
        if let Some(end) = self.lacks(count) {
            return Err(EngineError::new(Reason::SequenceExhausted, at_its_end(name)).with_end(end, count));
        }
        self.burn.admit(count, || self.spanned.left()).map(|()| count)
    }

    /// The key's end, with what is ready and so many numbers more.
    pub(crate) fn end(&self, more: u64) -> End {
        let (limit, step) =
            self.entry.known().map_or((0, 1), |body| (body.span().limit(), body.span().step()));
        let held = self.reservoir.stats().reserve;
        // What is held came last.
        let taken = self.spanned.position().unwrap_or(0).min(limit);
        let given = taken.saturating_sub(held.saturating_mul(step));
        End { limit, given, left: held.saturating_add(more) }
    }

    /// The key's end if it is known to have fewer than `count` numbers.
    fn lacks(&self, count: u64) -> Option<End> {
        // At least so many are left. A single number that can't be had is no loss.
        if count <= self.spanned.left() || count == 1 {
            return None;
        }
        let end = self.end(self.spanned.left_at_most()?);
        (count > end.left).then_some(end)
    }

    /// How many numbers a lease has that asks for `count`.
    pub(crate) fn lease_size(&self, count: u64) -> Result<u64, EngineError> {
        let at_risk_max = self.entry.known().ok().and_then(Body::at_risk_max).unwrap_or(u64::MAX);
        self.burn.lease(count.min(at_risk_max), self.spanned.left())
    }

    /// The error for a request of `count` numbers that found the burn limit reached.
    pub(crate) fn burn_limited(&self, count: u64) -> EngineError {
        self.burn.error(count, self.spanned.left())
    }

    /// At most `most` numbers that are ready, of a sequence without texts. Never waits.
    pub(crate) fn try_take(&self, most: u64) -> Option<ReadyBlock> {
        if !self.is_plain {
            return None;
        }
        let numbers = self.reservoir.try_take(most)?;
        Some(ReadyBlock { numbers, version: self.version() })
    }

    /// The numbers left of the key's range, and the size of the range.
    pub(crate) fn room(&self) -> (u64, u64) {
        let capacity = self.entry.known().map_or(0, |body| body.span().capacity());
        (self.spanned.left(), capacity)
    }

    /// Whether nothing has been taken for `after`. Surplus of the reservoir is discarded on the way.
    pub(crate) fn is_idle(&self, after: Duration) -> bool {
        self.reservoir.trim() >= after
    }
}

/// An active key's reservoir. While this value is held, the key is not dropped as idle. The reservoir is closed when
/// the ledger went back or was recovered: request a new one then.
#[derive(Clone)]
pub struct Keyed(Arc<ActiveKey>);

impl Keyed {
    pub(crate) fn new(live: Arc<ActiveKey>) -> Self {
        Self(live)
    }

    /// The reservoir that holds the key's ready numbers.
    pub fn reservoir(&self) -> &Reservoir {
        self.0.reservoir()
    }

    /// A number that is ready, or `None`. Never waits. If nothing is ready, a refill begins.
    pub fn try_next(&self) -> Option<Ready> {
        self.0.try_next()
    }

    /// The version of the definition that the numbers are issued under.
    pub fn version(&self) -> u32 {
        self.0.version()
    }
}

impl Inner {
    /// The definition of a name. A first use creates it if an `auto_create` pattern allows that.
    pub(crate) async fn entry(&self, name: &SequenceName) -> Result<Arc<Entry>, EngineError> {
        self.ready_to_define(name).await?;
        self.catalog.find_or_create(name).await
    }

    /// The definition of a sequence that has been defined or used before.
    pub(crate) async fn known_entry(&self, name: &SequenceName) -> Result<Arc<Entry>, EngineError> {
        self.ready_to_define(name).await?;
        self.catalog.find_known(name).await
    }

    async fn ready_to_define(&self, name: &SequenceName) -> Result<(), EngineError> {
        // No definition is written into a ledger that may have to be replaced.
        self.guard.trusted().map_err(|error| EngineError::of_source(name, error))?;
        self.catalog.bring_pending().await.map_err(|error| EngineError::of_open(&error))
    }

    /// What the reservoirs of a sequence's keys share: with all others, unless it says how much is held ready.
    fn reservoir_context(&self, body: &Body) -> Arc<ReservoirContext> {
        let shared = &self.reservoir_context;
        let config = body.reservoir(shared.config);
        if config == shared.config {
            return Arc::clone(shared);
        }
        Arc::new(ReservoirContext { config, ..ReservoirContext::clone(shared) })
    }

    /// Builds the sources of a key, one layer upon the other.
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
            // Dense sequences have no sources here: their numbers are counted by the ledger.
            return Err(not_leased());
        }
        let (span, has_texts) = (entry.body()?.span(), entry.body()?.texts().is_some());
        self.catalog.check_agrees_with_old(name, key, span)?;
        let layout = self.cluster.layout();
        let counters = self.guard.counters(key, span.raw_max(layout)).await;
        let counters = counters.map_err(|error| EngineError::of_source(name, error))?;
        let ring: Arc<dyn Source> = self.ring.source(key.clone(), counters);
        let expanded = Arc::new(BitExpansion::new(ring, layout));
        let spanned = Arc::new(RangeMapping::new(expanded, layout, span));
        let floor = self.minimums.of(key);
        let source = MinimumFilter::of(Arc::clone(&spanned) as _, floor, self.env.events.clone());
        let burn = Arc::new(self.spread_burn.limit(key, span.capacity(), &self.env));
        let source = LimitedSource::of(source, &burn, &self.refills);
        let reservoir = Reservoir::with_context(source, self.reservoir_context(entry.body()?));
        if period.as_ref().is_some_and(|period| period.until.is_some()) {
            self.dated.store(true, Ordering::Relaxed);
        }
        Ok(ActiveKey {
            is_plain: !has_texts && !entry.is_staged(),
            entry,
            spanned,
            burn,
            reservoir,
            floor,
            has_texts,
            period: period.map(Box::new),
            reach: OnceLock::new(),
        })
    }
}
