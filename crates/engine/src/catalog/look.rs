//! Looks in the ledger for one definition that another server may have just made. They are rare and one at a time,
//! whatever names callers ask for, so that the ledger keeps its time for counters.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use sequent_core::{SequenceName, sync};

use super::{Catalog, Entry};
use crate::{
    error::{EngineError, reason::Reason},
    ledger_timeout::within,
};

/// For how long a name that the ledger does not hold is unknown without another look.
const MISSING_FOR: Duration = Duration::from_secs(1);

/// The least time from one look to the next: at most 20 a second, of one definition each.
const LOOKS_APART: Duration = Duration::from_millis(50);

/// Upper limit of the names that wait for a look; all that ask for the same one wait together. The last name waits for
/// 1.6 s.
const NAMES_WAITING_MAX: usize = 32;

/// The names that are looked for.
#[derive(Default)]
pub(super) struct Looks(Mutex<State>);

#[derive(Default)]
struct State {
    /// How many callers wait for each name.
    waiting: HashMap<SequenceName, usize>,
    /// Names that a look did not find, and when it began. They are no more than the looks of [`MISSING_FOR`] and the
    /// names that callers wait for.
    missing: HashMap<SequenceName, Instant>,
    last: Option<Instant>,
    begun: u64,
}

/// A caller that waits for a look.
struct Waiting<'a> {
    looks: &'a Looks,
    name: &'a SequenceName,
}

impl Looks {
    /// Whether a look has just found that the ledger does not hold this name.
    fn is_missing(&self, name: &SequenceName, now: Instant) -> bool {
        sync::lock(&self.0).missing.get(name).is_some_and(|looked| now.duration_since(*looked) < MISSING_FOR)
    }

    /// Whether a look that began after `came` has found that the ledger does not hold this name, however long ago.
    fn was_missed_since(&self, name: &SequenceName, came: Instant) -> bool {
        sync::lock(&self.0).missing.get(name).is_some_and(|looked| *looked >= came)
    }

    fn wait<'a>(&'a self, name: &'a SequenceName) -> Result<Waiting<'a>, EngineError> {
        let waiting = &mut sync::lock(&self.0).waiting;
        if waiting.len() >= NAMES_WAITING_MAX && !waiting.contains_key(name) {
            let text = format!(
                "the ledger is asked for {NAMES_WAITING_MAX} sequences that this server does not know: at most \
                 {NAMES_WAITING_MAX} are allowed"
            );
            return Err(EngineError::new(Reason::QuotaExceeded, text));
        }
        *waiting.entry(name.clone()).or_insert(0) += 1;
        Ok(Waiting { looks: self, name })
    }

    /// How long the next look has to wait.
    fn pause(&self, now: Instant) -> Duration {
        let since = |last| LOOKS_APART.saturating_sub(now.duration_since(last));
        sync::lock(&self.0).last.map_or(Duration::ZERO, since)
    }

    /// Counts a look.
    fn begin(&self, now: Instant) -> u64 {
        let mut state = sync::lock(&self.0);
        state.last = Some(now);
        state.begun += 1;
        state.begun
    }

    fn miss(&self, name: &SequenceName, now: Instant) {
        let mut state = sync::lock(&self.0);
        let State { missing, waiting, .. } = &mut *state;
        // Those who wait for the same name since then are answered, too.
        missing
            .retain(|name, looked| now.duration_since(*looked) < MISSING_FOR || waiting.contains_key(name));
        missing.insert(name.clone(), now);
    }

    /// How many looks were made.
    #[cfg(test)]
    pub(super) fn begun(&self) -> u64 {
        sync::lock(&self.0).begun
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let waiting = &mut sync::lock(&self.looks.0).waiting;
        if let Some(callers) = waiting.get_mut(self.name) {
            *callers -= 1;
            if *callers == 0 {
                waiting.remove(self.name);
            }
        }
    }
}

impl Catalog {
    /// The definition of a name that is unknown here, if the ledger holds one.
    ///
    /// # Errors
    ///
    /// Errors of the ledger; `QUOTA_EXCEEDED` if too many names are looked for.
    pub(super) async fn look_for(&self, name: &SequenceName) -> Result<Option<Arc<Entry>>, EngineError> {
        let clock = &self.context.clock;
        let came = clock.now();
        if self.looks.is_missing(name, came) {
            return Ok(None);
        }
        let _waiting = self.looks.wait(name)?;
        // The turn of all reads of definitions.
        let turn = self.readings.turn.lock().await;
        // Others may have asked for the same name.
        if let Some(entry) = self.find(name) {
            return Ok(Some(entry));
        }
        if self.looks.was_missed_since(name, came) {
            return Ok(None);
        }
        tokio::time::sleep(self.looks.pause(clock.now())).await;
        let began = clock.now();
        let looks = self.looks.begin(began);
        tracing::debug!(%name, looks, "looked for a definition of another server");
        if self.lost.has(name) {
            self.refresh_in(&turn).await?;
            return Ok(self.find(name));
        }
        let read = self.context.ledger.definition(name);
        let Some(found) = within(self.context.limit, "look for a definition", read).await? else {
            self.looks.miss(name, began);
            return Ok(None);
        };
        let entry = Arc::new(self.contents.entry(found));
        self.add_fresh(&entry);
        Ok(Some(entry))
    }
}
