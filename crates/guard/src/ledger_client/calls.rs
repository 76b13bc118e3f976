//! Calls of the ledger: rows are read under the instance in force, and what is written is marked.

use std::collections::BTreeSet;

use sequent_core::{
    BoxFuture, ErrorKind, InstanceId, Key, Rule, SlotIndex, SourceError,
    ledger::{Answer, Counter, Ledger, LedgerNote, NoteSubject, Pass, Reading},
};

use super::{LedgerClient, LedgerFault};
use crate::plausibility::Plausibility;

/// A writing call of the ledger: which one, with its pass and its asks.
pub(crate) type Call<A, T> =
    for<'a> fn(&'a dyn Ledger, Pass<'a>, &'a [A]) -> BoxFuture<'a, Result<Answer<T>, SourceError>>;

impl LedgerClient {
    /// Reads rows under the instance in force, which may turn out to be another one.
    pub(crate) async fn read(&self, counters: &[Counter]) -> Result<(InstanceId, Reading), SourceError> {
        self.in_reach()?;
        self.read_anyway(counters).await
    }

    /// The same for a counter of which another server has just begun an epoch: it did so through the ledger, so that this is
    /// back, whatever the heartbeat has found as yet.
    pub(crate) async fn read_anyway(
        &self,
        counters: &[Counter],
    ) -> Result<(InstanceId, Reading), SourceError> {
        self.trusted()?;
        let mut under = self.instance();
        match self.limited("read", self.ledger.read(&under, counters)).await {
            Err(error) if error.kind() == ErrorKind::Reborn => {
                let _one_at_a_time = self.writing.lock().await;
                self.renew(&under).await?;
            }
            reading => return self.outcome(reading.map(|reading| (under, reading))),
        }
        under = self.instance();
        let reading = self.limited("read", self.ledger.read(&under, counters)).await;
        self.outcome(reading.map(|reading| (under, reading)))
    }

    /// What lies outside a counter's row, as the ledger has it: four calls that read.
    pub(crate) async fn outside(&self, counter: &Counter) -> Result<Plausibility, SourceError> {
        let others = self.other_slots(counter.slot);
        let others: Vec<Counter> = others.map(|slot| Counter { slot, key: counter.key.clone() }).collect();
        let (_, Reading { rows, .. }) = self.read_anyway(&others).await?;
        let beside = (self.version(), rows.iter().flatten());
        let outside = Plausibility::read(&*self.ledger, counter, self.layout.layout, beside);
        let outside = self.limited("read of a counter's history", outside).await;
        self.outcome(outside)
    }

    /// The slots of the ring but this one.
    pub(crate) fn other_slots(&self, own: SlotIndex) -> impl Iterator<Item = SlotIndex> {
        (0..self.slots()).filter(move |slot| *slot != own)
    }

    /// Notes that answers of a key begin up to this raw id at an operator's word, before any of them does.
    pub(crate) async fn note_begun(&self, key: &Key, raw: u64) -> Result<(), SourceError> {
        self.note(NoteSubject::BegunAt(key.clone()), raw).await
    }

    /// Notes that raw ids of a key up to this one may have been given twice, and that its next epoch begins above them.
    pub(crate) async fn note_given_above(&self, key: &Key, raw: u64) -> Result<(), SourceError> {
        self.note(NoteSubject::GivenAbove(key.clone()), raw).await?;
        self.note_begun(key, raw).await
    }

    async fn note(&self, about: NoteSubject, to: u64) -> Result<(), SourceError> {
        let noted = self.limited("note of a key", self.ledger.note(&LedgerNote { about, to })).await;
        self.outcome(noted).map(drop)
    }

    /// One writing call. `under`: the instance that its asks rest on; when its turn comes and another one is in
    /// force, it fails with `Reborn` and writes nothing. The answer's version is marked for `slots`, or anywhere where there
    /// are none, before this returns, where `mark` says so.
    pub(crate) async fn write<A, T>(
        &self,
        step: &'static str,
        under: &InstanceId,
        (slots, mark): (&BTreeSet<SlotIndex>, bool),
        asks: &[A],
        call: Call<A, T>,
    ) -> Result<T, SourceError> {
        self.write_and_tell(step, under, (slots, mark), asks, call, |_| {}).await
    }

    /// The same; what the ledger answered is `told` before its version is marked: a store that hangs keeps nobody from what
    /// no id rests on.
    pub(crate) async fn write_and_tell<A, T>(
        &self,
        step: &'static str,
        under: &InstanceId,
        (slots, mark): (&BTreeSet<SlotIndex>, bool),
        asks: &[A],
        call: Call<A, T>,
        told: impl FnOnce(&T),
    ) -> Result<T, SourceError> {
        let loss = self.loss();
        let _one_at_a_time = self.writing.lock().await;
        if self.loss() != loss {
            // Lost while another call was waited for: that was wait enough.
            self.in_reach()?;
        }
        if !asks.is_empty() {
            self.still_rests_on(under)?;
        }
        let next = self.env.entropy.bits();
        let shown = self.offer(next);
        let under = shown.under.clone();
        match self.limited(step, call(&*self.ledger, self.pass(&shown, next), asks)).await {
            Ok(answer) => {
                self.acknowledged(next, answer.version);
                told(&answer.value);
                self.own_again(&under).await?;
                self.goes_on(&under).await;
                if mark && self.marks.leave(answer.version, slots).await.is_err() {
                    self.set_trouble(Some(LedgerFault::Moved));
                    self.trusted()?;
                }
                if mark {
                    self.is_alone().await?;
                }
                Ok(answer.value)
            }
            Err(error) if error.kind() == ErrorKind::Reborn => {
                self.renew(&under).await?;
                Err(error)
            }
            Err(error) => {
                let is_refused = error.kind() == ErrorKind::Refused;
                if is_refused {
                    // First: what is told of the loss is why.
                    self.look_at_the_layout().await;
                    if self.look_at_the_record().await {
                        let context = "the run on record is another one by now";
                        return Err(SourceError::new(ErrorKind::Reborn, context).because(error));
                    }
                }
                let outcome = self.outcome(Err(error));
                if is_refused {
                    self.trusted()?;
                }
                outcome
            }
        }
    }

    /// Another call may have found meanwhile that the ledger is another one, or that it went back.
    pub(super) fn still_rests_on(&self, under: &InstanceId) -> Result<(), SourceError> {
        self.trusted()?;
        if self.speaks_as(under) || !self.rules.keep(Rule::SameLedger) {
            return Ok(());
        }
        let context = format!("the ledger is no longer {under}, which the asks rest on");
        Err(SourceError::new(ErrorKind::Reborn, context))
    }
}
