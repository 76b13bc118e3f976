//! Detection of a ledger that lacks what this server wrote or was given: it went back, whatever marks show.
//!
//! Every call that writes, including dense counts and the heartbeat every two seconds, leaves the caller's nonce. A backup made
//! before a server's last write therefore lacks its nonce. Numbers given are also marked; the nonce helps if the mark is on an
//! unreachable store.

use std::collections::BTreeSet;

use sequent_core::{
    DurabilityClass, ErrorKind, Event, InstanceId, SourceError,
    ledger::{Known, NoteSubject},
};

use super::{LedgerClient, LedgerFault, nonces::Shown};

/// How far an accusing mark is above the ledger's version: further than other servers move it before they notice.
const ACCUSED_AHEAD: u64 = 1 << 16;

impl LedgerClient {
    /// Accuses the ledger: this instance lacks what this server has given under another one, so it went back. A mark tells all
    /// servers, and the ledger gets a new instance id, at which every server compares with the marks.
    pub(crate) async fn accuse(&self) -> Result<(), SourceError> {
        let _one_at_a_time = self.writing.lock().await;
        self.trusted()?;
        self.accuse_as(&self.instance()).await
    }

    /// As [`accuse`](Self::accuse), for the instance `under`, which is in force. Callers hold `writing`.
    pub(super) async fn accuse_as(&self, under: &InstanceId) -> Result<(), SourceError> {
        let (version, mark) = (self.version(), self.version().saturating_add(ACCUSED_AHEAD));
        // Whatever happens below, this server gives nothing any more.
        let trouble = LedgerFault::Accused { version };
        self.tell_behind(&trouble);
        self.set_trouble(Some(trouble.clone()));
        if self.marks.leave(mark, &BTreeSet::new()).await.is_err() {
            self.set_trouble(Some(LedgerFault::Moved));
            return self.trusted();
        }
        let renewed = self.limited("rebear", self.ledger.rebear(under)).await;
        let is = self.outcome(renewed)?;
        let nonce = self.env.entropy.bits();
        self.offer(nonce);
        let enlisted = self.limited("enlist", self.ledger.enlist(&is, self.server, nonce)).await;
        self.outcome(enlisted)?;
        let known = self.on_record_there().await?;
        let (found, behind) = self.appraise(&is).await?;
        // The server's own mark says less than the accusation, which also holds if no shard takes marks.
        let is_own = |behind: &LedgerFault| matches!(behind, LedgerFault::Behind { .. });
        let trouble = behind.filter(|behind| !is_own(behind)).unwrap_or(trouble);
        self.accept(found, (nonce, known), Some(trouble));
        self.env.events.emit(Event::LedgerInstanceChanged { was: under.clone(), is });
        Ok(())
    }

    /// Whether the instance `is` of the ledger, with `known` on record, holds this server's nonce, so that all its writes are
    /// there. Also returns the next nonce.
    ///
    /// If nonces were dropped after too many calls of unknown outcome, a missing nonce proves nothing.
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
            Err(error) if error.kind() == ErrorKind::InstanceChanged => Ok((next, some_dropped)),
            // Another layout, or none: the later judgement of the ledger finds that out.
            Err(error) if error.kind() == ErrorKind::Refused => Ok((next, true)),
            Err(error) => self.outcome(Err(error)),
        }
    }

    /// Whether the instance `is` went back by less than reachable marks show: it lacks this server's last write, has dense
    /// counters, and is not on record. A ledger that loses acknowledged writes is judged by marks alone.
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

    /// Reports, once, a dense counter that is behind.
    pub(crate) fn tell(&self, back: &crate::guard::Back) {
        if back.is_new {
            let (key, given, found) = (back.key.clone(), back.given, back.found);
            self.env.events.emit(Event::DenseBehind { key, given, found });
        }
    }

    /// Whether there are or were dense counters. If they were forgotten, others may have begun since a backup was made.
    async fn has_dense(&self) -> Result<bool, SourceError> {
        let rows = self.limited("read of dense counters", self.ledger.dense(None, 1)).await;
        if !self.outcome(rows)?.is_empty() {
            return Ok(true);
        }
        let held = self.limited("read of a note", self.ledger.noted(&NoteSubject::DenseForgotten)).await;
        Ok(self.outcome(held)? > 0)
    }
}
