//! First value of a counter that is unknown, or whose row and cell do not say how far it was.

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

/// A key without a row in any slot. The server that begins it in one slot announces it in the others, so that a row missing
/// later must have been lost.
#[derive(Debug)]
pub(crate) struct FirstValue {
    counters: Vec<Counter>,
    is_announced: AtomicBool,
}

impl FirstValue {
    pub(crate) fn of(counters: &[Counter]) -> Self {
        Self { counters: counters.to_vec(), is_announced: AtomicBool::new(false) }
    }

    /// The announcements to send with a claim on one of the counters, if they were not sent yet.
    fn announcements(&self, claimed: &Counter, epoch: Epoch) -> Vec<Opening> {
        if self.is_announced.swap(true, Ordering::Relaxed) {
            return Vec::new();
        }
        let others = self.counters.iter().filter(|counter| *counter != claimed);
        others.map(|counter| Opening::announcement(counter.clone(), epoch)).collect()
    }
}

/// Data read with the rows of the key, when the key was created.
#[derive(Debug, Clone)]
pub(super) struct ReadAhead {
    /// Whether the counter had no row.
    pub(super) is_absent: bool,
    /// How far the key's other slots were at most.
    pub(super) beside: u64,
    /// The key, if none of its slots had a row.
    pub(super) newborn: Option<Arc<FirstValue>>,
    pub(super) at: Instant,
}

/// The server that begins a counter without a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    /// This server: its claim is in the ledger, under this epoch.
    Own(Epoch),
    /// Another server, which may be about to install its epoch.
    Other,
}

impl Guarded {
    /// Whether the key's rows were read just now, and none was this counter's. A claim finds out if there is one since.
    pub(super) fn is_absent(&self) -> bool {
        let fresh = self.fresh_read_ahead().is_some_and(|read| read.is_absent);
        let mut state = self.state();
        if let Some(read) = state.read_ahead.as_mut() {
            read.is_absent = false;
        }
        fresh && state.told.is_none() && state.refused().is_none()
    }

    fn fresh_read_ahead(&self) -> Option<ReadAhead> {
        let now = self.shared.env.clock.now();
        self.state().read_ahead.clone().filter(|read| now.saturating_duration_since(read.at) <= PREREAD_MAX)
    }

    /// Claims a counter without a row, so that servers that meet at it agree on who begins it before any of them closes the
    /// cell. Each close ends an epoch that another server has begun, and skips what that had ahead.
    ///
    /// The claim permits nothing, and no cell ever has its epoch. The claimer closes, opens and installs as usual, and so does
    /// a server that has waited for the claimer in vain.
    pub(super) async fn claim(&self, is_announced: bool) -> Result<Begins, SourceError> {
        let epoch = Epoch::random(&*self.shared.env.entropy);
        // An announced counter is known never to have begun.
        let beside = if is_announced { 0 } else { self.beside().await? };
        let jump_max = jump_limit::jump_max(0, self.raw_max(), 1);
        let claim = Opening { beside, jump_max, ..Opening::claim(self.counter.clone(), epoch) };
        let newborn = self.fresh_read_ahead().and_then(|read| read.newborn);
        let announcements =
            newborn.as_ref().map(|newborn| newborn.announcements(&self.counter, epoch)).unwrap_or_default();
        let claimed = self.shared.ask(Ask::Claim(claim, announcements)).await;
        if let (Err(_), Some(newborn)) = (&claimed, newborn) {
            newborn.is_announced.store(false, Ordering::Relaxed);
        }
        match claimed?.opened()? {
            Opened::Row(_) => {
                self.waits_no_more(epoch);
                Ok(Begins::Own(epoch))
            }
            Opened::Known(_) | Opened::Overtaken => Ok(Begins::Other),
            Opened::Jumped { found, bound } => Err(self.jumped(found, bound)),
        }
    }

    /// How far the key's other slots may be. A counter whose cell says nothing begins no lower. If its row was also deleted or
    /// lowered by hand, this is the only evidence; the ring would lift it as far anyway.
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
