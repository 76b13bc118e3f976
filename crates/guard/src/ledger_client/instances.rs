//! Instances on record: the ledger instance that servers agree on. An unrecorded instance gives no dense numbers, and a server
//! stops if another one was recorded.
//!
//! Each call that writes sends the instance that this server saw on record, and the ledger refuses it if another is recorded
//! now. That happens if servers reach different data under the same name: a promoted replica, or one of several writable
//! masters.

use sequent_core::{ErrorKind, InstanceId, SourceError};

use super::{LedgerClient, LedgerFault};

impl LedgerClient {
    /// Whether the instance in force is on record.
    fn is_on_record(&self) -> bool {
        let state = self.state();
        state.record.as_ref() == Some(&state.instance)
    }

    /// Reads the instance on record.
    pub(super) async fn on_record_there(&self) -> Result<Option<InstanceId>, SourceError> {
        let known = self.limited("read of the instances on record", self.ledger.known()).await;
        Ok(self.outcome(known)?.ledger)
    }

    /// Records the instance in force, if that has not been done. No dense number is given before.
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
            Err(error) if error.kind() == ErrorKind::InstanceChanged => self.renew(&is).await,
            Err(error) => Err(error),
            Ok((_, None)) => {
                // If the ring was resized meanwhile, this server must not write, since its writes would accuse the ledger.
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

    /// Records the instance `is`, which is in force and trusted. A failure here does not make the ledger unavailable for ids.
    /// Callers hold `writing`.
    pub(super) async fn put_on_record(&self, is: &InstanceId) -> Result<(), SourceError> {
        let recorded = self.limited("record", self.ledger.record(is, None, is)).await;
        recorded.map_err(|error| {
            let context = "the ledger's instance could not be recorded";
            SourceError::new(ErrorKind::NoWitness, context).because(error)
        })?;
        self.recorded(is).await
    }

    /// Handles that the instance `is` is on record now. If another one was before, its version is marked on all shards.
    pub(crate) async fn recorded(&self, is: &InstanceId) -> Result<(), SourceError> {
        let known = self.state().record.clone();
        self.lay_claim(known.as_ref()).await?;
        self.state().record = Some(is.clone());
        Ok(())
    }

    /// Checks, after the ledger refused a call, whether another instance is on record. Returns whether this server may continue
    /// with it. Callers hold `writing`.
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

    /// Resumes after the instance in force was put back on record, unless marks contradict it. Callers hold `writing`.
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
