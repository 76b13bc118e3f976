//! A ledger and its copy, both at work over the same shards: told apart by the marks of either.
//!
//! Where a run of the ledger begins that was not on record, its version goes up [by far](apart), and that is left on every
//! shard before anything is given. Whoever counts by the other ledger meets it with its next mark, or look, finds its own
//! ledger far below, and leaves a mark that is further still: so both stop, since neither knows what the other gave.

use std::time::Duration;

use sequent_core::{
    Incarnation, Rule, SourceError,
    ledger::{RUNS_APART, apart},
};

use super::{Desk, Trouble};
use crate::limit::patiently;

/// How often a shard is looked at while dense numbers are given, which need no mark for seconds.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// For so long the first dense number of a run that was not on record waits for an objection: a few looks of those who give
/// them by another ledger.
const OBJECTION: Duration = Duration::from_millis(400);

/// Closer marks are left by servers of the same ledger, each a call ahead of what the others have heard.
const FAR: u64 = RUNS_APART / 2;

impl Desk {
    /// A trusted ledger speaks, and `known` was on record before. Where that was another run, or no mark tells of this one
    /// yet, its version is left on every shard at hand.
    pub(crate) async fn lay_claim(&self, known: Option<&Incarnation>) -> Result<(), SourceError> {
        let Some(known) = known.filter(|_| self.rules.keep(Rule::Marks)) else { return Ok(()) };
        if self.speaks_as(known) && self.version().saturating_sub(self.marks.met()) < FAR {
            return Ok(());
        }
        let found = patiently(self.config.attempt_timeout, "inspect", || self.ledger.inspect()).await;
        let version = self.outcome(found)?.version;
        {
            let mut state = self.state();
            state.version = state.version.max(version);
            state.claimed = Some(self.env.clock.now());
        }
        self.claim(version).await
    }

    /// No mark was met that only another ledger at work over these shards can have left. Where one was, this server gives
    /// nothing more on the strength of its own, and leaves a mark that tells the other's.
    pub(crate) async fn is_alone(&self) -> Result<(), SourceError> {
        let (mark, version) = (self.marks.met(), self.version());
        if mark < version.saturating_add(FAR) || self.trouble().is_some() || !self.rules.keep(Rule::Marks) {
            return Ok(());
        }
        let found = self.limited("inspect", self.ledger.inspect()).await;
        let found = self.outcome(found)?;
        if found.version >= mark {
            // Another server has met the ledger's next run, or named a loss.
            let mut state = self.state();
            if state.incarnation == found.incarnation {
                state.version = state.version.max(found.version);
            }
            return Ok(());
        }
        let version = found.version;
        let trouble = Trouble::Behind { version, mark };
        self.tell_behind(&trouble);
        self.set_trouble(Some(trouble));
        self.claim(mark.saturating_add(apart(&self.incarnation()))).await?;
        self.trusted()
    }

    async fn claim(&self, version: u64) -> Result<(), SourceError> {
        if self.marks.claim(version).await.is_err() {
            self.set_trouble(Some(Trouble::Moved));
        }
        self.trusted()
    }

    /// Before dense numbers leave: looks at a shard, where [`LOOK_EVERY`] has passed.
    pub(crate) async fn look_elsewhere(&self) {
        let now = self.env.clock.now();
        {
            let mut state = self.state();
            let since = |at| now.saturating_duration_since(at);
            if state.looked_elsewhere.is_some_and(|at| since(at) < LOOK_EVERY) {
                return;
            }
            state.looked_elsewhere = Some(now);
        }
        self.marks.look(false).await;
    }

    /// Before the first dense number of a run that was not on record: whoever gives such numbers by another ledger has had
    /// time to object.
    pub(crate) async fn unopposed(&self) -> Result<(), SourceError> {
        let Some(claimed) = self.state().claimed else { return Ok(()) };
        let waited = self.env.clock.now().saturating_duration_since(claimed);
        tokio::time::sleep(OBJECTION.saturating_sub(waited)).await;
        self.marks.look(true).await;
        self.is_alone().await?;
        self.state().claimed = None;
        Ok(())
    }
}
