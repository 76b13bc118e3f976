//! Requests of the servers: a ready number, a number of numbers within bounds, a lease; and the reload of definitions.

pub(crate) mod active_key;
mod behind_check;
pub(crate) mod behind_reports;
pub(crate) mod burn;
pub(crate) mod dense;
mod key_loader;
pub(crate) mod minimum;
pub(crate) mod next_period;
pub(crate) mod registry;
pub(crate) mod request;
pub(crate) mod request_clock;
pub(crate) mod request_types;
pub(crate) mod retention;
pub(crate) mod shape;

#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use sequent_buffer::TakeError;
use sequent_core::{Blocks, Condition, Event, Key, SequenceName};

use crate::{
    catalog::Entry,
    config::Config,
    definition::{Body, capacity::AtRisk},
    engine::Engine,
    error::{EngineError, OpenError},
    issue::{
        active_key::{ActiveKey, Ready, ReadyBlock},
        burn::BurnRules,
        request::{ResolvedRequest, refuse_what_is_not_plain},
        request_types::{Issued, NextRequest, Way},
    },
    ledger_timeout::not_found,
};

/// Upper limit of attempts when the key's reservoir is closed during a take.
const TRIES_MAX: u32 = 3;

/// The purpose that numbers are taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Issued at once.
    Now,
    /// Held by the caller for later.
    Later,
}

impl Use {
    /// The source of the numbers, for metrics.
    fn way(self, waited: bool) -> Way {
        match self {
            Self::Later => Way::Lease,
            Self::Now if waited => Way::Direct,
            Self::Now => Way::Reservoir,
        }
    }
}

impl Engine {
    /// A number that is ready, or `None`. `None` means that the sequence is not in use yet, that no number is ready,
    /// that the text is not a name, or that the numbers have texts. Never waits. Creates no task, no text and no key,
    /// and reads one shared table.
    ///
    /// If a sequence is in use and nothing is ready, a refill begins: [`take`](Self::take) then waits for it.
    pub fn try_next(&self, name: &str) -> Option<Ready> {
        self.0.keys.get(name)?.try_next()
    }

    /// At most `most` numbers that are ready, in one block, under the conditions of [`try_next`](Self::try_next).
    pub fn try_take(&self, name: &str, most: u64) -> Option<ReadyBlock> {
        self.0.keys.get(name)?.try_take(most)
    }

    /// `count` numbers, all or nothing. The caller must have checked `count` against bounds of its own.
    pub async fn take(
        &self,
        name: &SequenceName,
        count: u64,
        deadline: Instant,
    ) -> Result<Issued, EngineError> {
        self.give(&NextRequest::of(name.clone()).count(count), deadline).await
    }

    /// The numbers of a request, all or nothing. The API must have checked the count against bounds of its own.
    pub async fn give(&self, request: &NextRequest, deadline: Instant) -> Result<Issued, EngineError> {
        self.given(request, Use::Now, deadline).await
    }

    /// At most as many numbers as a request asks for, for a holder that issues them by itself. They come from the same
    /// reservoir. A lease holds at most a thousandth of what is left of the key, since the numbers are lost if the
    /// holder fails. The numbers have no texts: the holder renders them.
    pub async fn lend(&self, request: &NextRequest, deadline: Instant) -> Result<Issued, EngineError> {
        self.given(request, Use::Later, deadline).await
    }

    /// [`lend`](Self::lend) of a sequence without a template.
    pub async fn lease(
        &self,
        name: &SequenceName,
        count: u64,
        deadline: Instant,
    ) -> Result<Issued, EngineError> {
        self.lend(&NextRequest::of(name.clone()).count(count), deadline).await
    }

    /// The effect of a name's first use: the sequence is defined if `auto_create` allows that.
    ///
    /// # Errors
    ///
    /// `SEQUENCE_NOT_FOUND` if `auto_create` does not allow it; errors of the ledger.
    pub async fn first_use(&self, name: &SequenceName) -> Result<(), EngineError> {
        self.0.entry(name).await.map(drop)
    }

    /// Whether a request brings a key into use: its sequence is not known yet, or nobody uses its key on this server.
    /// Takes nothing, and never waits. A request that can't be resolved brings none.
    pub fn brings_a_key(&self, request: &NextRequest) -> bool {
        if request.is_plain() && self.0.keys.get(request.name.as_str()).is_some() {
            return false;
        }
        let Some(entry) = self.0.catalog.find(&request.name) else { return true };
        let resolved = self.0.resolve(entry, request);
        resolved.is_ok_and(|resolved| {
            self.0.keys.get(resolved.key.as_str()).is_none() && !self.0.dense_keys.has(&resolved.key)
        })
    }

    /// The key that a request of a known sequence resolves to, and the definition in effect. Takes nothing, and
    /// defines nothing.
    ///
    /// # Errors
    ///
    /// `SEQUENCE_NOT_FOUND` for a name that was never defined or used; errors of the request's values.
    pub async fn key_of(&self, request: &NextRequest) -> Result<(Key, Body), EngineError> {
        let entry = self.0.known_entry(&request.name).await?;
        let ResolvedRequest { entry, key, .. } = self.0.resolve(entry, request)?;
        let body = entry.body()?.clone();
        Ok((key, body))
    }

    /// The key that a definition will count by in a period, before it is defined: an import moves the counter forward before
    /// anybody can take from it.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` for a text that is not a period of the definition.
    pub fn key_of_new(name: &SequenceName, body: &Body, period: Option<&str>) -> Result<Key, EngineError> {
        let Some(period) = period else { return Ok(Key::of(name)) };
        request::key_of_period(name, body, period)
    }

    async fn given(
        &self,
        request: &NextRequest,
        what_for: Use,
        deadline: Instant,
    ) -> Result<Issued, EngineError> {
        let name = &request.name;
        let mut tries = 0;
        loop {
            if let Some(issued) = self.given_dense(request, what_for == Use::Later, deadline).await? {
                return Ok(issued);
            }
            tries += 1;
            let (live, resolved) = match self.live_for(request, deadline).await {
                // Another server has just defined the sequence.
                Err(_) if tries < TRIES_MAX && self.dense_entry(name).is_some() => continue,
                found => found?,
            };
            if !live.serves(resolved.as_ref()) {
                // The definition changed in between.
                if tries >= TRIES_MAX {
                    return Err(self.failed(name, TakeError::Closed));
                }
                // The key was made from another definition, and the change has not reached it yet: it is removed now.
                let key = resolved.as_ref().map_or_else(|| Key::of(name), |resolved| resolved.key.clone());
                self.0.let_go_of(&key, &live);
                tokio::task::yield_now().await;
                continue;
            }
            if request.above > 0 {
                let key = resolved.as_ref().map_or_else(|| Key::of(name), |resolved| resolved.key.clone());
                self.check_above(&live, &key, request.above).await?;
            }
            let count = match what_for {
                Use::Now => live.admitted(name, request.count)?,
                Use::Later => live.lease_size(request.count)?,
            };
            let (taken, waited) = self.0.waits.of(live.reservoir().take(count, Some(deadline))).await;
            match taken {
                Ok(numbers) => {
                    let way = what_for.way(waited);
                    let Some(resolved) = resolved else {
                        let (sequence, version) = (name.clone(), live.version());
                        return Ok(Issued {
                            sequence,
                            numbers,
                            version,
                            version_end: None,
                            dated: None,
                            way,
                        });
                    };
                    let end_is_told =
                        live.period().is_none_or(|period| period.is_warned.load(Ordering::Relaxed));
                    if !end_is_told && self.warn(&resolved, &numbers, false) {
                        live.period().inspect(|period| period.is_warned.store(true, Ordering::Relaxed));
                    }
                    return resolved.issued(request, (numbers, way), what_for == Use::Now).await;
                }
                // The key has just been retired: the next round uses its successor.
                Err(TakeError::Closed) if tries < TRIES_MAX => {}
                Err(TakeError::Source(error)) if error.condition() == Some(Condition::BurnLimited) => {
                    return Err(live.burn_limited(count));
                }
                // Only what is ready here: other servers may have more.
                Err(error) => return Err(self.failed(name, error).with_end(live.end(0), count)),
            }
        }
    }

    /// Logs that a key's end is near, if its template asks for that. Due if numbers are at or above the template's
    /// threshold; with `only_passing`, only if they have just passed it.
    pub(crate) fn warn(&self, resolved: &ResolvedRequest, numbers: &Blocks, only_passing: bool) -> bool {
        let Some((warn_at, last)) = resolved.warning() else { return false };
        let lowest = numbers.as_slice().first().map_or(0, sequent_core::Block::first);
        let number =
            numbers.highest().filter(|number| *number >= warn_at && !(only_passing && lowest > warn_at));
        let Some(number) = number else { return false };
        self.0.env.events.emit(Event::NearEnd { key: resolved.key.clone(), number, last });
        true
    }

    /// The active key of a request, and the resolved request if the sequence has a template.
    async fn live_for(
        &self,
        request: &NextRequest,
        deadline: Instant,
    ) -> Result<(Arc<ActiveKey>, Option<ResolvedRequest>), EngineError> {
        let name = &request.name;
        if request.is_plain()
            && let Some(live) = self.0.keys.get(name.as_str())
            && live.is_plain()
        {
            return Ok((live, None));
        }
        let entry = match self.0.catalog.find(name) {
            Some(entry) => entry,
            None if request.is_plain() => {
                // First use: the load defines the sequence, once for all that wait. It may find that another server
                // defined a template.
                let live = self.live((name, &Key::of(name)), None, || None, deadline).await?;
                if live.is_plain() {
                    return Ok((live, None));
                }
                self.0.catalog.find(name).unwrap_or_else(|| Arc::clone(live.shared_entry()))
            }
            None => self.defined(request).await?,
        };
        let resolved = self.0.resolve(entry, request)?;
        if self.0.keys.get(resolved.key.as_str()).is_none() {
            let too_long = |bound| EngineError::invalid("values", &resolved.key, bound);
            self.0.catalog.holds(&resolved.key).map_err(too_long)?;
        }
        let live = if let Some(counter) = resolved.counter() {
            // The key is that of the other sequence, and is built from its definition.
            self.live((counter, &resolved.key), None, || None, deadline).await?
        } else {
            let period = || resolved.period(request);
            self.live((name, &resolved.key), Some(&resolved.entry), period, deadline).await?
        };
        Ok((live, Some(resolved)))
    }

    /// The definition for a request with values or an instant. A first use creates no definition here: none that it
    /// creates could use them.
    async fn defined(&self, request: &NextRequest) -> Result<Arc<Entry>, EngineError> {
        match self.0.catalog.find_defined(&request.name).await? {
            Some(entry) => Ok(entry),
            None if self.0.catalog.may_create(&request.name) => {
                refuse_what_is_not_plain(request)?;
                self.0.entry(&request.name).await
            }
            None => Err(not_found(&request.name)),
        }
    }

    /// Applies the sequences and the patterns of `auto_create` of a changed configuration: all of it, or nothing and
    /// an error. A sequence that is no longer in the file stays in force, as at a start.
    pub async fn reload(&self, config: &Config) -> Result<(), OpenError> {
        self.0.guard.trusted()?;
        let catalog = &self.0.catalog;
        // The limit of the numbers held ready is fixed at start.
        let at_risk = AtRisk { held_max: catalog.at_risk().held_max, ..AtRisk::of(config) };
        let was = catalog.count_with(at_risk);
        let brought = catalog.reload(&config.sequences, &config.auto_create).await;
        if brought.is_err() {
            catalog.count_with(was);
        }
        if brought.is_ok() {
            self.0.limits.store(Arc::new(config.limits.clone()));
            self.0.burn_rules.store(Arc::new(BurnRules::of(config)));
            self.0.gauges.relist(config.sequences.iter().map(|part| part.name.clone()));
        }
        self.0.let_go();
        brought
    }
}
