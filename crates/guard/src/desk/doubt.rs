//! Whether a new run of the ledger has all dense numbers that were given: no mark tells of the last seconds, but servers do.
//!
//! Every call that writes leaves the caller's nonce, those that count among them, and a show up does every two seconds. So
//! whoever wrote since a copy was made finds its nonce missing in that copy, whatever it has given; and whoever gave
//! numbers since has written. The first that finds it so stops everybody. Until all had the time to look, nobody gives
//! dense numbers under that run.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use sequent_core::{
    DurabilityClass, ErrorKind, Event, Incarnation, SourceError,
    ledger::{Advanced, DenseAsk, Known, Pass},
};

use super::{Desk, Trouble};

/// How far above the ledger's version the mark is that accuses it: further than others move it before they hear.
const ACCUSED_AHEAD: u64 = 1 << 16;

/// So many runs of the ledger that follow each other at once are waited out by one caller.
const RUNS_MAX: u32 = 4;

/// What a new run of the ledger is to dense counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// There are none, or whoever could object has had the time.
    Settled,
    /// This server has nothing against it; others may.
    Doubted,
    /// It went back, by less than marks tell.
    Lost,
}

impl Desk {
    /// What this server has given under another run of the ledger, this run does not know of, and no mark tells: it went back.
    /// So a mark is left that tells everybody, and the ledger has to speak as another run, at which every server compares.
    pub(crate) async fn accuse(&self) -> Result<(), SourceError> {
        let _one_at_a_time = self.writing.lock().await;
        self.trusted()?;
        self.accuse_as(&self.incarnation()).await
    }

    /// The same of the run `under`, which is in force. Callers hold `writing`.
    pub(super) async fn accuse_as(&self, under: &Incarnation) -> Result<(), SourceError> {
        let (version, mark) = (self.version(), self.version().saturating_add(ACCUSED_AHEAD));
        // Whatever becomes of the others: this server gives nothing any more.
        let trouble = Trouble::Accused { version };
        self.tell_behind(&trouble);
        self.set_trouble(Some(trouble.clone()));
        if self.marks.leave(mark, &BTreeSet::new()).await.is_err() {
            self.set_trouble(Some(Trouble::Moved));
            return self.trusted();
        }
        let reborn = self.limited("rebear", self.ledger.rebear(under)).await;
        let is = self.outcome(reborn)?;
        let nonce = self.env.entropy.bits();
        self.offer(nonce);
        let enlisted = self.limited("enlist", self.ledger.enlist(&is, self.server, nonce)).await;
        self.outcome(enlisted)?;
        let (found, behind) = self.appraise(&is).await?;
        // The mark that it left itself tells less than it knows; and where nobody bears marks, it knows all the same.
        let is_own = |behind: &Trouble| matches!(behind, Trouble::Behind { .. });
        self.accept(found, nonce, Some(behind.filter(|behind| !is_own(behind)).unwrap_or(trouble)));
        self.env.events.emit(Event::LedgerReborn { was: under.clone(), is });
        Ok(())
    }

    /// Whether the run `is` of the ledger holds this server's nonce, so that all that this server wrote is there; and the nonce
    /// that is offered next. After more calls of unknown outcome than nonces are kept of, that it does not says nothing.
    pub(super) async fn look_for_own(&self, is: &Incarnation) -> Result<(u64, bool), SourceError> {
        let next = self.env.entropy.bits();
        let some_dropped = self.state().some_dropped;
        let (_, nonces) = self.offer(next);
        match self.look_at(is, &nonces, next, &[]).await {
            Ok(_) => Ok((next, true)),
            Err(error) if error.kind() == ErrorKind::Reborn => Ok((next, some_dropped)),
            // Another layout, or none: who judges the ledger finds that out.
            Err(error) if error.kind() == ErrorKind::Refused => Ok((next, true)),
            Err(error) => self.outcome(Err(error)),
        }
    }

    /// Asks for nothing of counters, which tells where they are: how many of `asks` they are behind.
    async fn look_at(
        &self,
        is: &Incarnation,
        nonces: &[u64],
        next: u64,
        asks: &[DenseAsk],
    ) -> Result<usize, SourceError> {
        let pass = Pass { under: is, server: self.server, nonces, next, epoch: self.layout.epoch };
        let taken = self.limited("count", self.ledger.count(pass, asks, false)).await?.value;
        let mut behind = 0;
        for (ask, taken) in asks.iter().zip(taken) {
            if let Err(back) = self.given.judge(ask, taken, is) {
                behind += 1;
                self.tell(&back);
            }
        }
        Ok(behind)
    }

    /// Tells of a counter that is behind, once.
    pub(crate) fn tell(&self, back: &crate::keeper::Back) {
        if back.is_new {
            let (key, given, found) = (back.key.clone(), back.given, back.found);
            self.env.events.emit(Event::DenseBehind { key, given, found });
        }
    }

    /// What the run `is` of the ledger, in which this server's `nonce` lies and in which nothing else is the matter, is to
    /// dense counters. `held`: it had what this server wrote last.
    pub(super) async fn weigh_dense(
        &self,
        is: &Incarnation,
        known: &Known,
        held: bool,
        nonce: &mut u64,
    ) -> Result<Verdict, SourceError> {
        let asks = self.given.unmarked();
        if !asks.is_empty() {
            let next = self.env.entropy.bits();
            self.offer(next);
            let looked = self.look_at(is, &[*nonce], next, &asks).await;
            *nonce = next;
            if self.outcome(looked)? > 0 {
                return Ok(Verdict::Lost);
            }
        }
        if known.ledger.as_ref() == Some(is) || !self.has_dense().await? {
            return Ok(Verdict::Settled);
        }
        // One that loses what it acknowledged has each number marked.
        let keeps = self.durability() == DurabilityClass::Durable;
        Ok(if held || !keeps { Verdict::Doubted } else { Verdict::Lost })
    }

    /// Whether there are dense counters, or were before they were forgotten: others may have begun since a copy was made.
    async fn has_dense(&self) -> Result<bool, SourceError> {
        let rows = self.limited("read of dense counters", self.ledger.dense(None, 1)).await;
        if !self.outcome(rows)?.is_empty() {
            return Ok(true);
        }
        let note = Advanced::dense_forgotten();
        let held = self.limited("read of a note", self.ledger.fence(&note)).await;
        Ok(self.outcome(held)? > 0)
    }

    /// How long others may take until they have looked at a new run: whoever runs calls the ledger in that time.
    fn patience(&self) -> Duration {
        self.config.show_up_every + self.config.attempt_timeout
    }

    /// From now on others may object to the run in force; `known` is on record.
    pub(super) fn doubt(&self, known: Option<Incarnation>) {
        self.state().doubted = Some((self.env.clock.now() + self.patience(), known));
    }

    /// The run in force could not be put on record, where `known` is: the next show up tries that again, and dense numbers wait
    /// for it. Nobody is waited for.
    pub(super) fn settle_next(&self, known: Option<Incarnation>) {
        self.state().doubted = Some((self.env.clock.now(), known));
    }

    /// Until when others may object, if they may.
    fn doubted(&self) -> Option<Instant> {
        self.state().doubted.as_ref().map(|(until, _)| *until)
    }

    /// A server that opens meets a run that is not on record: nothing of it is used before those that run had the time to object.
    /// Whether nobody did, and it may go on record.
    pub(crate) async fn wait_for_objections(
        &self,
        known: Option<&Incarnation>,
        is: &Incarnation,
    ) -> Result<bool, SourceError> {
        if known.is_none_or(|known| known == is) || !self.has_dense().await? {
            return Ok(true);
        }
        tokio::time::sleep(self.patience()).await;
        match self.appraise(is).await {
            Ok((_, trouble)) => {
                self.set_trouble(trouble);
                self.look_at_the_layout().await;
                Ok(self.trouble().is_none())
            }
            // The first call finds out what it is now.
            Err(error) if error.kind() == ErrorKind::Reborn => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits until dense numbers may be given under the run in force.
    pub(crate) async fn undoubted(&self) -> Result<(), SourceError> {
        for _ in 0..RUNS_MAX {
            let Some(until) = self.doubted() else { return Ok(()) };
            tokio::time::sleep(until.saturating_duration_since(self.env.clock.now())).await;
            self.in_reach()?;
            self.settle().await?;
        }
        Err(SourceError::new(ErrorKind::NoWitness, "the ledger is restarted again and again"))
    }

    /// Where all had the time to object to the run in force, and nobody did, it goes on record.
    pub(crate) async fn settle(&self) -> Result<(), SourceError> {
        let is_time = || self.doubted().is_some_and(|until| self.env.clock.now() >= until);
        if !is_time() {
            return Ok(());
        }
        let _one_at_a_time = self.writing.lock().await;
        if !is_time() {
            return Ok(());
        }
        let is = self.incarnation();
        match self.appraise(&is).await {
            Err(error) if error.kind() == ErrorKind::Reborn => return self.renew(&is).await,
            Err(error) => return Err(error),
            Ok((_, Some(trouble))) => self.set_trouble(Some(trouble)),
            Ok((_, None)) => {
                // A ring that was resized meanwhile is none of this server's: what it wrote would accuse the ledger.
                self.look_at_the_layout().await;
                self.trusted()?;
                let known = self.state().doubted.clone().and_then(|(_, known)| known);
                self.put_on_record(&is, known.as_ref()).await?;
            }
        }
        self.state().doubted = None;
        self.trusted()
    }
}
