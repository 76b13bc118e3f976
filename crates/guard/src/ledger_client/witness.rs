//! Witness of dense numbers: the version of the write that gave them is marked on another store before they leave.
//!
//! Dense numbers are kept in the ledger alone. The mark proves to every server, including the one that gave them, that a ledger
//! restored from before them is behind.

use sequent_core::{ErrorKind, InstanceId, Rule, SourceError};

use super::{LedgerClient, LedgerFault};

impl LedgerClient {
    /// Retries the mark if no store took that of the previous numbers. A refusal here uses up no number.
    pub(crate) async fn has_a_witness(&self) -> Result<(), SourceError> {
        if !self.state().unwitnessed {
            return Ok(());
        }
        let under = self.instance();
        // Stores that came back empty take no marks before they are stamped, and here possibly no take of ids ever touches
        // them.
        let mark = self.marks.admit(&under).await;
        self.meet_mark(mark).await?;
        self.witness(&under, self.version()).await
    }

    /// Marks the version of a write that gave dense numbers under the instance `under`. The mark is on a store, or for a ring
    /// without stores, in the data directory.
    ///
    /// # Errors
    ///
    /// `NoWitness` if no store takes the mark, or if the ledger's instance changed, since the new one may lack the write. The
    /// numbers are then given to nobody. `LedgerBehind` if a mark shows that the ledger is not the newest, or not the only one.
    pub(crate) async fn witness(&self, under: &InstanceId, version: u64) -> Result<(), SourceError> {
        // R26
        if !self.rules.keep(Rule::DenseWitnessed) {
            return Ok(());
        }
        let Ok(is_borne) = self.marks.witness(version).await else {
            self.set_trouble(Some(LedgerFault::Moved));
            return self.trusted();
        };
        self.state().unwitnessed = !is_borne;
        if is_borne {
            return self.still_alone(under).await;
        }
        let context = format!(
            "no store took the mark of these dense numbers (the ledger's version {version}), so they are not given; at least \
             one shard must be reachable"
        );
        Err(SourceError::new(ErrorKind::NoWitness, context))
    }

    /// Leaves the last version where it is not marked yet. A data directory that is a copy is not used any more.
    pub(crate) async fn spread_marks(&self) {
        if self.marks.spread().await.is_err() {
            self.set_trouble(Some(LedgerFault::Moved));
        }
    }

    /// Checks, after a mark was left, that no other instance of the ledger is in use.
    async fn still_alone(&self, under: &InstanceId) -> Result<(), SourceError> {
        if self.is_far(self.marks.met()) {
            let _one_at_a_time = self.writing.lock().await;
            self.is_alone().await.map_err(restarted)?;
        }
        self.still_rests_on(under).map_err(restarted)
    }
}

/// Turns `InstanceChanged` into `NoWitness`: the numbers were counted in an ended instance of the ledger, and the next one may lack
/// them.
fn restarted(error: SourceError) -> SourceError {
    if error.kind() != ErrorKind::InstanceChanged {
        return error;
    }
    let context = "the ledger was restarted before these dense numbers were marked, so they are not given";
    SourceError::new(ErrorKind::NoWitness, context).because(error)
}
