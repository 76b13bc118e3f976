//! A run of the ledger that lacks what this server wrote to it, or was given from it: it went back, whatever marks say.
//!
//! Every call that writes leaves the caller's nonce, those that count among them, and a heartbeat does every two seconds. So
//! whoever wrote since a copy was made finds its nonce missing in that copy. Each number given is marked besides; the nonce tells
//! where the mark is on a store that is out of reach.

use std::collections::BTreeSet;

use sequent_core::{
    DurabilityClass, ErrorKind, Event, InstanceId, SourceError,
    ledger::{Known, NoteSubject},
};

use super::{LedgerClient, LedgerFault, nonces::Shown};

/// How far above the ledger's version the mark is that accuses it: further than others move it before they hear.
const ACCUSED_AHEAD: u64 = 1 << 16;

impl LedgerClient {
    /// What this server has given under another run of the ledger, this run does not know of: it went back. So a mark is left that
    /// tells everybody, and the ledger has to speak as another run, at which every server compares.
    pub(crate) async fn accuse(&self) -> Result<(), SourceError> {
        let _one_at_a_time = self.writing.lock().await;
        self.trusted()?;
        self.accuse_as(&self.instance()).await
    }

    /// The same of the run `under`, which is in force. Callers hold `writing`.
    pub(super) async fn accuse_as(&self, under: &InstanceId) -> Result<(), SourceError> {
        let (version, mark) = (self.version(), self.version().saturating_add(ACCUSED_AHEAD));
        // Whatever becomes of the others: this server gives nothing any more.
        let trouble = LedgerFault::Accused { version };
        self.tell_behind(&trouble);
        self.set_trouble(Some(trouble.clone()));
        if self.marks.leave(mark, &BTreeSet::new()).await.is_err() {
            self.set_trouble(Some(LedgerFault::Moved));
            return self.trusted();
        }
        let reborn = self.limited("rebear", self.ledger.rebear(under)).await;
        let is = self.outcome(reborn)?;
        let nonce = self.env.entropy.bits();
        self.offer(nonce);
        let enlisted = self.limited("enlist", self.ledger.enlist(&is, self.server, nonce)).await;
        self.outcome(enlisted)?;
        let known = self.on_record_there().await?;
        let (found, behind) = self.appraise(&is).await?;
        // The mark that it left itself tells less than it knows; and where nobody bears marks, it knows all the same.
        let is_own = |behind: &LedgerFault| matches!(behind, LedgerFault::Behind { .. });
        let trouble = behind.filter(|behind| !is_own(behind)).unwrap_or(trouble);
        self.accept(found, (nonce, known), Some(trouble));
        self.env.events.emit(Event::LedgerReborn { was: under.clone(), is });
        Ok(())
    }

    /// Whether the run `is` of the ledger, which has `known` on record, holds this server's nonce, so that all that this server
    /// wrote is there; and the nonce that is offered next. After more calls of unknown outcome than nonces are kept of, that it
    /// does not says nothing.
    pub(super) async fn look_for_own(
        &self,
        is: &InstanceId,
        known: Option<&InstanceId>,
    ) -> Result<(u64, bool), SourceError> {
        let next = self.env.entropy.bits();
        let some_dropped = self.state().some_dropped;
        let shown = Shown { under: is.clone(), record: known.cloned(), ..self.offer(next) };
        match self.limited("count", self.ledger.count(self.pass(&shown, next), &[])).await {
            Ok(_) => Ok((next, true)),
            Err(error) if error.kind() == ErrorKind::Reborn => Ok((next, some_dropped)),
            // Another layout, or none: who judges the ledger finds that out.
            Err(error) if error.kind() == ErrorKind::Refused => Ok((next, true)),
            Err(error) => self.outcome(Err(error)),
        }
    }

    /// Whether the run `is` of the ledger went back, by less than marks at hand tell: it lacks what this server wrote last, it has
    /// dense counters, and nobody has put it on record. Of one that loses what it acknowledges the marks alone tell.
    pub(super) async fn lacks_own(
        &self,
        is: &InstanceId,
        known: &Known,
        held: bool,
    ) -> Result<bool, SourceError> {
        let is_judged = held || known.ledger.as_ref() == Some(is);
        if is_judged || self.durability() != DurabilityClass::Durable {
            return Ok(false);
        }
        self.has_dense().await
    }

    /// Tells of a counter that is behind, once.
    pub(crate) fn tell(&self, back: &crate::guard::Back) {
        if back.is_new {
            let (key, given, found) = (back.key.clone(), back.given, back.found);
            self.env.events.emit(Event::DenseBehind { key, given, found });
        }
    }

    /// Whether there are dense counters, or were before they were forgotten: others may have begun since a copy was made.
    async fn has_dense(&self) -> Result<bool, SourceError> {
        let rows = self.limited("read of dense counters", self.ledger.dense(None, 1)).await;
        if !self.outcome(rows)?.is_empty() {
            return Ok(true);
        }
        let held = self.limited("read of a note", self.ledger.noted(&NoteSubject::DenseForgotten)).await;
        Ok(self.outcome(held)? > 0)
    }
}
