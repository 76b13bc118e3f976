//! Clone detection: a ledger and its copy, both in use over the same shards, are distinguished by their marks.
//!
//! When an instance of the ledger begins that is not on record, its version [jumps](apart), and the new version is marked on
//! every shard before anything is given. A server of the other ledger finds that mark with its next one. Its own ledger is then
//! far below, and it leaves a still higher mark. So both stop, since neither knows what the other has given.

use sequent_core::{
    ErrorKind, InstanceId, Rule, SourceError,
    ledger::{RUNS_APART, apart},
};

use super::{LedgerClient, LedgerFault};
use crate::timeouts::patiently;

/// Distance of marks that only another ledger leaves. Servers of the same ledger leave closer ones, each a call ahead of what
/// the others have read.
const FAR: u64 = RUNS_APART / 2;

impl LedgerClient {
    /// Marks the version of a trusted ledger on every reachable shard, if `known`, the instance on record before, was another
    /// one, or if no mark shows this one yet.
    ///
    /// A mark between the versions of the two instances was left by another ledger since this one was judged: the last dense
    /// numbers of a server that reached another copy. Neither knows what the other gave, so both stop.
    pub(super) async fn lay_claim(&self, known: Option<&InstanceId>) -> Result<(), SourceError> {
        let Some(known) = known.filter(|_| self.rules.keep(Rule::Marks)) else { return Ok(()) };
        let is_again = self.speaks_as(known);
        if is_again && self.version().saturating_sub(self.marks.met()) < FAR {
            return Ok(());
        }
        let found = patiently(self.config.attempt_timeout, "inspect", || self.ledger.inspect()).await;
        let version = self.outcome(found)?.version;
        {
            let mut state = self.state();
            state.version = state.version.max(version);
        }
        let before = self.claim(version).await?;
        let run = version.saturating_sub(apart(&self.instance()));
        if is_again || before <= run || before > version.saturating_sub(FAR) {
            return Ok(());
        }
        self.stop_both(run, before).await
    }

    /// Checks that no mark was found which only another ledger over these shards can have left. If one was, this server gives
    /// nothing more, and leaves a mark that stops the other's servers. Callers hold `writing`.
    ///
    /// # Errors
    ///
    /// `InstanceChanged` if another server has met the ledger's next instance. Whether that instance has this server's writes is not
    /// known yet.
    pub(super) async fn is_alone(&self) -> Result<(), SourceError> {
        let mark = self.marks.met();
        if !self.is_far(mark) || self.trouble().is_some() {
            return Ok(());
        }
        let found = self.limited("inspect", self.ledger.inspect()).await;
        let found = self.outcome(found)?;
        if found.version >= mark {
            // Another server has met the ledger's next instance, or a loss was named.
            let mut state = self.state();
            if state.instance == found.instance {
                state.version = state.version.max(found.version);
                return Ok(());
            }
            let context =
                format!("the ledger's instance was {}, and is now {}", state.instance, found.instance);
            return Err(SourceError::new(ErrorKind::InstanceChanged, context));
        }
        let _moved = self.look_at_the_record().await;
        self.trusted()?;
        self.stop_both(found.version, mark).await
    }

    /// Whether only another ledger, or the next instance of this one, can have left that mark.
    pub(super) fn is_far(&self, mark: u64) -> bool {
        mark >= self.version().saturating_add(FAR) && self.rules.keep(Rule::Marks)
    }

    /// Stops both ledgers: another one left `mark` while this one was at `version`. A mark above both stops the other's servers
    /// too.
    async fn stop_both(&self, version: u64, mark: u64) -> Result<(), SourceError> {
        let trouble = LedgerFault::Behind { version, mark };
        self.tell_behind(&trouble);
        self.set_trouble(Some(trouble));
        let above = mark.max(self.version()).saturating_add(apart(&self.instance()));
        self.claim(above).await?;
        self.trusted()
    }

    /// Marks a version on every shard and returns the highest mark found there before.
    async fn claim(&self, version: u64) -> Result<u64, SourceError> {
        if let Ok(before) = self.marks.claim(version).await {
            return Ok(before);
        }
        self.set_trouble(Some(LedgerFault::Moved));
        self.trusted().map(|()| 0)
    }
}
