//! A counter that nobody knows, or of which neither row nor cell says how far it was.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use sequent_core::{
    Epoch, SourceError,
    ledger::{Counter, Opened, Opening, Reading},
};

use super::{Guarded, acquire::PREREAD_MAX};
use crate::{guard::Ask, jump_limit, plausibility::SiblingSlots};

/// A key that has no row in any slot: whoever begins it in one announces it in the others, so that a row that is missing later was
/// lost.
#[derive(Debug)]
pub(crate) struct FirstValue {
    counters: Vec<Counter>,
    is_announced: AtomicBool,
}

impl FirstValue {
    pub(crate) fn of(counters: &[Counter]) -> Self {
        Self { counters: counters.to_vec(), is_announced: AtomicBool::new(false) }
    }

    /// The words that are still to be said beside a claim on one of them.
    fn words(&self, claimed: &Counter, epoch: Epoch) -> Vec<Opening> {
        if self.is_announced.swap(true, Ordering::Relaxed) {
            return Vec::new();
        }
        let others = self.counters.iter().filter(|counter| *counter != claimed);
        others.map(|counter| Opening::announcement(counter.clone(), epoch)).collect()
    }
}

/// What was read with the rows of its key, when that came alive.
#[derive(Debug, Clone)]
pub(super) struct ReadAhead {
    /// There was no row of it.
    pub(super) is_absent: bool,
    /// How far the key's other slots were at most.
    pub(super) beside: u64,
    /// None of its slots had a row.
    pub(super) newborn: Option<Arc<FirstValue>>,
    pub(super) at: Instant,
}

/// Who begins a counter without a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    /// This server: its claim is in the ledger, under this epoch.
    Own(Epoch),
    /// Another one, which may be about to install its epoch.
    Other,
}

impl Guarded {
    /// Whether the rows of its key were read just now, and there was none of it: a claim will tell if there is one since.
    pub(super) fn is_absent(&self) -> bool {
        let fresh = self.fresh_read_ahead().is_some_and(|read| read.is_absent);
        let mut state = self.state();
        if let Some(read) = state.read_ahead.as_mut() {
            read.is_absent = false;
        }
        fresh && state.told.is_none() && state.refused.is_none()
    }

    fn fresh_read_ahead(&self) -> Option<ReadAhead> {
        let now = self.shared.env.clock.now();
        self.state().read_ahead.clone().filter(|read| now.saturating_duration_since(read.at) <= PREREAD_MAX)
    }

    /// Servers that meet at a counter without a row ask the ledger who begins it, before any of them closes the cell: each close
    /// ends the epoch that another has begun, and what that had ahead is left out.
    ///
    /// The claim permits nothing, and no cell is ever of its epoch: whoever has it closes, opens and installs as ever, and so does
    /// whoever has waited for that in vain.
    pub(super) async fn claim(&self, is_announced: bool) -> Result<Begins, SourceError> {
        let epoch = Epoch::random(&*self.shared.env.entropy);
        // Of a counter that was announced it is known that it never began.
        let beside = if is_announced { 0 } else { self.beside().await? };
        let leap_max = jump_limit::leap_max(0, self.raw_max(), 1);
        let claim = Opening { beside, leap_max, ..Opening::claim(self.counter.clone(), epoch) };
        let newborn = self.fresh_read_ahead().and_then(|read| read.newborn);
        let words = newborn.as_ref().map(|newborn| newborn.words(&self.counter, epoch)).unwrap_or_default();
        let claimed = self.shared.ask(Ask::Claim(claim, words)).await;
        if let (Err(_), Some(newborn)) = (&claimed, newborn) {
            newborn.is_announced.store(false, Ordering::Relaxed);
        }
        match claimed?.opened()? {
            Opened::Row(_) => {
                self.waits_no_more(epoch);
                Ok(Begins::Own(epoch))
            }
            Opened::Known(_) | Opened::Overtaken => Ok(Begins::Other),
            Opened::Leapt { found, bound } => Err(self.leapt(found, bound)),
        }
    }

    /// How far the key's other slots may be: a counter whose cell says nothing begins no lower. Where a hand has deleted its row as
    /// well, or lowered it, that is all that tells; and the ring would lift it as far anyway.
    pub(super) async fn beside(&self) -> Result<u64, SourceError> {
        let last = self.raw_max().saturating_sub(1);
        if let Some(read) = self.fresh_read_ahead() {
            return Ok(read.beside.min(last));
        }
        let Counter { slot, key } = &self.counter;
        let others = self.shared.client.other_slots(*slot).map(|slot| Counter { slot, key: key.clone() });
        let others: Vec<Counter> = others.collect();
        if others.is_empty() {
            return Ok(0);
        }
        let (_, Reading { rows, clock_ms }) = self.shared.client.read(&others).await?;
        Ok(SiblingSlots::of(rows.iter().flatten(), clock_ms).most.min(last))
    }
}
