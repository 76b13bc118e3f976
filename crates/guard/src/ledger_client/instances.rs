//! Which run of the ledger is on record: one that is not gives no dense numbers, and where another one is by now, this server stops.
//!
//! Each call that writes shows the run that this server has seen on record, and the ledger refuses it where it finds another. That
//! happens where another server reaches other data under the same name: a promoted copy, or one of several writable masters.

use sequent_core::{ErrorKind, InstanceId, SourceError};

use super::{LedgerClient, LedgerFault};

impl LedgerClient {
    /// Whether the run in force is on record.
    fn is_on_record(&self) -> bool {
        let state = self.state();
        state.record.as_ref() == Some(&state.instance)
    }

    /// The run on record, as the ledger has it now.
    pub(super) async fn on_record_there(&self) -> Result<Option<InstanceId>, SourceError> {
        let known = self.limited("read of the instances on record", self.ledger.known()).await;
        Ok(self.outcome(known)?.ledger)
    }

    /// Puts the run in force on record, where that has not been done: no dense number is given before.
    pub(crate) async fn see_to_the_record(&self) -> Result<(), SourceError> {
        if self.is_on_record() || self.trouble().is_some() {
            return self.trusted();
        }
        let _one_at_a_time = self.writing.lock().await;
        self.in_reach()?;
        if self.is_on_record() {
            return Ok(());
        }
        let is = self.instance();
        match self.appraise(&is).await {
            Err(error) if error.kind() == ErrorKind::Reborn => self.renew(&is).await,
            Err(error) => Err(error),
            Ok((_, None)) => {
                // A ring that was resized meanwhile is none of this server's: what it wrote would accuse the ledger.
                self.look_at_the_layout().await;
                self.trusted()?;
                self.put_on_record(&is).await
            }
            Ok((_, trouble)) => {
                self.set_trouble(trouble);
                self.trusted()
            }
        }
    }

    /// The run `is` of the ledger is in force and trusted. That it can't be recorded now says nothing of the ledger to those who take
    /// ids. Callers hold `writing`.
    pub(super) async fn put_on_record(&self, is: &InstanceId) -> Result<(), SourceError> {
        let recorded = self.limited("record", self.ledger.record(is, None, is)).await;
        recorded.map_err(|error| {
            let context = "the ledger's run could not be put on record";
            SourceError::new(ErrorKind::NoWitness, context).because(error)
        })?;
        self.recorded(is).await
    }

    /// The run `is` is on record by now: its version is left on all shards, where another run was there before.
    pub(crate) async fn recorded(&self, is: &InstanceId) -> Result<(), SourceError> {
        let known = self.state().record.clone();
        self.lay_claim(known.as_ref()).await?;
        self.state().record = Some(is.clone());
        Ok(())
    }

    /// The ledger refuses this server's passes: because another run is on record by now? Whether it is one that this server may
    /// go on with. Callers hold `writing`.
    pub(super) async fn look_at_the_record(&self) -> bool {
        let Ok(found) = self.on_record_there().await else { return false };
        let (is, was_own) = (self.instance(), self.is_on_record());
        if found.as_ref() == Some(&is) && !was_own {
            return self.recorded(&is).await.is_ok();
        }
        let Some(found) = found.filter(|found| *found != is) else { return false };
        if was_own {
            self.set_trouble(Some(LedgerFault::Superseded { found, speaks: is }));
            return false;
        }
        self.state().record.replace(found.clone()) != Some(found)
    }

    /// The run in force was put back on record: what stopped this server is over, unless marks say otherwise. Callers hold `writing`.
    pub(super) async fn goes_on(&self, is: &InstanceId) -> bool {
        if !matches!(self.trouble(), Some(LedgerFault::Superseded { .. })) {
            return true;
        }
        let Ok((_, trouble)) = self.appraise(is).await else { return false };
        let goes_on = trouble.is_none();
        self.set_trouble(trouble);
        goes_on
    }
}
