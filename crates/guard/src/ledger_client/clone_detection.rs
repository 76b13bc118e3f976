//! A ledger and its copy, both at work over the same shards: told apart by the marks of either.
//!
//! Where a run of the ledger begins that was not on record, its version goes up [by far](apart), and that is left on every
//! shard before anything is given. Whoever counts by the other ledger meets it with its next mark, finds its own ledger far
//! below, and leaves a mark that is further still: so both stop, since neither knows what the other gave.

use sequent_core::{
    ErrorKind, InstanceId, Rule, SourceError,
    ledger::{RUNS_APART, apart},
};

use super::{LedgerClient, LedgerFault};
use crate::timeouts::patiently;

/// Closer marks are left by servers of the same ledger, each a call ahead of what the others have heard.
const FAR: u64 = RUNS_APART / 2;

impl LedgerClient {
    /// A trusted ledger speaks, and `known` was on record before. Where that was another run, or no mark tells of this one
    /// yet, its version is left on every shard at hand.
    ///
    /// What another ledger left there since this one was judged lies between the versions of the two runs: the last dense numbers of
    /// a server that reached another copy. Neither knows what the other gave, so both stop.
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
        self.object(run, before).await
    }

    /// No mark was met that only another ledger at work over these shards can have left. Where one was, this server gives
    /// nothing more on the strength of its own, and leaves a mark that tells the other's. Callers hold `writing`.
    ///
    /// # Errors
    ///
    /// `Reborn` where another server has met the ledger's next run: whether that has what this one wrote is not known yet.
    pub(super) async fn is_alone(&self) -> Result<(), SourceError> {
        let mark = self.marks.met();
        if !self.is_far(mark) || self.trouble().is_some() {
            return Ok(());
        }
        let found = self.limited("inspect", self.ledger.inspect()).await;
        let found = self.outcome(found)?;
        if found.version >= mark {
            // Another server has met the ledger's next run, or named a loss.
            let mut state = self.state();
            if state.instance == found.instance {
                state.version = state.version.max(found.version);
                return Ok(());
            }
            let context = format!("the ledger was {}, and is {}", state.instance, found.instance);
            return Err(SourceError::new(ErrorKind::Reborn, context));
        }
        let _moved = self.look_at_the_record().await;
        self.trusted()?;
        self.object(found.version, mark).await
    }

    /// Whether only another ledger, or the next run of this one, can have left that mark.
    pub(super) fn is_far(&self, mark: u64) -> bool {
        mark >= self.version().saturating_add(FAR) && self.rules.keep(Rule::Marks)
    }

    /// Another ledger left `mark` while this one was at `version`: a mark that is above both stops its servers, too.
    async fn object(&self, version: u64, mark: u64) -> Result<(), SourceError> {
        let trouble = LedgerFault::Behind { version, mark };
        self.tell_behind(&trouble);
        self.set_trouble(Some(trouble));
        let above = mark.max(self.version()).saturating_add(apart(&self.instance()));
        self.claim(above).await?;
        self.trusted()
    }

    /// Leaves a version on every shard; the highest mark that lay there before.
    async fn claim(&self, version: u64) -> Result<u64, SourceError> {
        if let Ok(before) = self.marks.claim(version).await {
            return Ok(before);
        }
        self.set_trouble(Some(LedgerFault::Moved));
        self.trusted().map(|()| 0)
    }
}
