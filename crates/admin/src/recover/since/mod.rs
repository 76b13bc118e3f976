//! How much may have been lost since a copy was made: worked out from what may be assumed of how fast its counters went, and no
//! less than from what the ledger at hand has on record.

mod estimate;
mod pace;
mod proof;
mod rate;
mod record;
mod told;
mod uses;

#[cfg(test)]
mod tests;

use std::time::Duration;

use sequent_core::{Layout, ledger::Definition};
use sequent_engine::{Body, EngineError, Reason, Timestamp};
use serde::Serialize;

use self::{estimate::estimate, record::Record};
use crate::admin::Admin;

pub use pace::Pace;
pub use proof::Proof;
pub use rate::{Assumed, AssumedBy};
pub use uses::LossShare;

/// The highest loss that is worked out or named: beyond it the leap rule would refuse what follows.
pub const BUMP_MAX: u64 = 1 << 36;

/// The least that is named: what a slow counter takes at once, many times over.
pub const BUMP_MIN: u64 = 10_000;

/// What is said of a copy that is at hand.
#[derive(Debug, Clone, Copy)]
pub struct CopyMade {
    /// When it was made, in milliseconds since 1970.
    pub since_ms: u64,
    /// How much consumption ceilings are raised ahead.
    pub ahead: Duration,
    /// How many servers there are.
    pub servers: u64,
    /// The most numbers a second that the busiest sequence may have been asked for since, where the operator says it.
    pub at_most_per_s: Option<u64>,
}

/// A loss as it was worked out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LossEstimate {
    /// When the copy was made, in milliseconds since 1970.
    pub since_ms: u64,
    /// How long ago that is, in seconds, and what was taken just before it and reported after it.
    pub elapsed_s: u64,
    /// The rate that it was worked out with.
    pub assumed: Assumed,
    /// The counter with the highest rate on record, if any has one.
    pub fastest: Option<Pace>,
    /// How many counters have a rate on record.
    pub counters: usize,
    /// How many times the highest rate on record is reckoned with at least.
    pub factor: f64,
    /// What the fastest counter may have given in that time, in raw ids; of a dense one, in numbers.
    pub given: u64,
    /// How many restarts of databases are reckoned with: each begins a new epoch, above a ceiling that was raised ahead.
    pub restarts: u64,
    /// How much consumption ceilings are raised ahead, in seconds.
    pub ahead_s: u64,
    /// What the restarts may have left out, all together, in raw ids.
    pub leaps: u64,
    /// How far any counter may have come since the copy was made, in raw ids: what was given and what was left out; and no less
    /// than the cells at hand prove.
    pub bump: u64,
    /// The cell that proves it, where less was worked out: the copy knew of a quieter time.
    pub proof: Option<Proof>,
    /// What the bump uses up of each sequence that the ledger knows, the shortest of them first.
    pub uses: Vec<LossShare>,
}

impl Admin {
    /// What may have been lost since the copy at hand was made, and no less than the cells at hand prove. Stores that tell nothing
    /// are told of by [`check_loss`](Self::check_loss).
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` where it is no copy of then, or where a rate must be said for it; those of the ledger.
    pub async fn loss_since(&self, copy: CopyMade) -> Result<LossEstimate, EngineError> {
        let record = Record::read(self).await?;
        let bodies = self.bodies().await?;
        let Record { rows, dense, now_ms } = record.without_skipped(self, &bodies).await?;
        let worked_out = estimate(&rows, &dense, copy, now_ms)?;
        // The assumption alone is checked: what a cell proves is none, whatever share it uses up.
        worked_out.shared(&bodies, self.layout()).check_shares()?;
        let extent = self.extent().await.map_err(|error| {
            let text = format!("the cells can't be held against the ledger: {error}");
            EngineError::new(Reason::LedgerUnavailable, text)
        })?;
        Ok(worked_out.proven(extent.furthest()).shared(&bodies, self.layout()))
    }

    /// The sequences that the ledger knows, each with what is in effect of it.
    async fn bodies(&self) -> Result<Vec<(String, Body)>, EngineError> {
        let definitions = self.0.definitions().await?;
        let body = |held: &Definition| {
            let top = Body::from_text(&held.body).or_else(|_| Body::unproven(&held.body)).ok()?;
            Some((held.name.to_string(), top.in_effect(held.version, self.0.now()).1.clone()))
        };
        Ok(definitions.iter().filter_map(body).collect())
    }
}

impl LossEstimate {
    /// The same, with what it uses up of these sequences.
    fn shared(&self, bodies: &[(String, Body)], layout: Layout) -> Self {
        Self { uses: uses::all(bodies, layout, self.bump), ..self.clone() }
    }

    /// No short sequence is used up on an assumption.
    fn check_shares(&self) -> Result<(), EngineError> {
        match self.assumed.said {
            Some(_) => Ok(()),
            None => {
                uses::check(&self.uses, self.assumed.per_s).map_err(|bound| refused(self.since_ms, bound))
            }
        }
    }
}

fn refused(since_ms: u64, bound: String) -> EngineError {
    EngineError::invalid("since", shown(since_ms), bound)
}

fn shown(ms: u64) -> String {
    let instant = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    instant.map_or_else(|| format!("{ms} ms since 1970"), |instant| instant.to_string())
}
