//! The witness of dense numbers: the version of the write that gave them is on another store before they leave.
//!
//! Such numbers are in the ledger alone. So a ledger that went back to before them is behind that mark, whoever meets it, and whoever
//! gave them.

use std::collections::BTreeSet;

use sequent_core::{ErrorKind, InstanceId, Rule, SourceError};

use super::{LedgerClient, LedgerFault};

impl LedgerClient {
    /// Where nobody took the mark of the numbers before: whether somebody takes one now. What is refused then uses up no number.
    pub(crate) async fn has_a_witness(&self) -> Result<(), SourceError> {
        if !self.state().unwitnessed {
            return Ok(());
        }
        let under = self.instance();
        // Stores that came back empty bear nothing before they are stamped, and no take of ids may ever touch them here.
        let mark = self.marks.admit(&under).await;
        self.meet_mark(mark).await?;
        self.witness(&under, self.version()).await
    }

    /// Leaves the version of a write that gave dense numbers, under the run `under`, on a store, or, of a ring that has none, at home.
    ///
    /// # Errors
    ///
    /// `NoWitness` where no store takes it, or the ledger is another run by then, which may lack the write: the numbers are given to
    /// nobody. `LedgerBehind` where it tells that the ledger is not the
    /// newest, or not the only one.
    pub(crate) async fn witness(&self, under: &InstanceId, version: u64) -> Result<(), SourceError> {
        // R26
        if !self.rules.keep(Rule::DenseWitnessed) {
            return Ok(());
        }
        let Ok(is_borne) = self.marks.leave(version, &BTreeSet::new()).await else {
            self.set_trouble(Some(LedgerFault::Moved));
            return self.trusted();
        };
        self.state().unwitnessed = !is_borne;
        if is_borne {
            return self.still_alone(under).await;
        }
        let context = format!(
            "no store took the mark that tells of these dense numbers (the ledger's version {version}): they are given to nobody; at least one shard has to be in reach"
        );
        Err(SourceError::new(ErrorKind::NoWitness, context))
    }

    /// A mark was left: no other run of the ledger is at work by now, whoever met it.
    async fn still_alone(&self, under: &InstanceId) -> Result<(), SourceError> {
        if self.is_far(self.marks.met()) {
            let _one_at_a_time = self.writing.lock().await;
            self.is_alone().await.map_err(restarted)?;
        }
        self.still_rests_on(under).map_err(restarted)
    }
}

/// Numbers that were counted in a run of the ledger which is over: nobody knows whether the next one has them.
fn restarted(error: SourceError) -> SourceError {
    if error.kind() != ErrorKind::Reborn {
        return error;
    }
    let context =
        "the ledger was restarted before these dense numbers were witnessed: they are given to nobody";
    SourceError::new(ErrorKind::NoWitness, context).because(error)
}
