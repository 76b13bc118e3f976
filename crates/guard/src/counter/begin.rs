//! A counter that nobody knows, or of which neither row nor cell says how far it was.

use std::time::Instant;

use sequent_core::{
    Life, SourceError,
    ledger::{Counter, Opened, Opening, Reading},
};

use super::{Guarded, touch::PREREAD_MAX};
use crate::{keeper::Ask, outside::Beside};

/// What was read with the rows of its key, when that came alive.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadAhead {
    /// There was no row of it.
    pub(super) is_absent: bool,
    /// How far the key's other slots were at most.
    pub(super) beside: u64,
    pub(super) at: Instant,
}

/// Who begins a counter without a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    /// This server: its claim is in the ledger.
    Own,
    /// Another one, which may be about to install its life.
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
        self.state().read_ahead.filter(|read| now.saturating_duration_since(read.at) <= PREREAD_MAX)
    }

    /// Servers that meet at a counter without a row ask the ledger who begins it, before any of them closes the cell: each close
    /// ends the life that another has begun, and what that had ahead is left out.
    ///
    /// The claim permits nothing, and no cell is ever of its life: whoever has it closes, opens and installs as ever, and so does
    /// whoever has waited for that in vain.
    pub(super) async fn claim(&self) -> Result<Begins, SourceError> {
        let life = Life::random(&*self.shared.env.entropy);
        let claim = Opening::claim(self.counter.clone(), life);
        match self.shared.ask(Ask::Open(claim)).await?.opened()? {
            Opened::Row(_) => {
                self.waits_no_more(life);
                Ok(Begins::Own)
            }
            Opened::Known(_) => Ok(Begins::Other),
            Opened::Leapt { found, bound } => Err(self.leapt(found, bound)),
        }
    }

    /// How far the key's other slots may be: a counter whose cell says nothing begins no lower. Where a hand has deleted its row as
    /// well, or lowered it, that is all that tells; and the ring would lift it as far anyway.
    pub(super) async fn beside(&self) -> Result<u64, SourceError> {
        if let Some(read) = self.fresh_read_ahead() {
            return Ok(read.beside);
        }
        let Counter { slot, key } = &self.counter;
        let others = self.shared.desk.other_slots(*slot).map(|slot| Counter { slot, key: key.clone() });
        let others: Vec<Counter> = others.collect();
        if others.is_empty() {
            return Ok(0);
        }
        let (_, Reading { rows, clock_ms }) = self.shared.desk.read(&others).await?;
        Ok(Beside::of(rows.iter().flatten(), clock_ms).most)
    }
}
