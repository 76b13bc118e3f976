//! Ledger calls: rows are read under the instance in force, and written versions are marked.

use std::collections::BTreeSet;

use sequent_core::{
    BoxFuture, ErrorKind, InstanceId, Key, Rule, SlotIndex, SourceError,
    ledger::{Answer, Counter, Ledger, LedgerNote, NoteSubject, Pass, Reading},
};

use super::{LedgerClient, LedgerFault};
use crate::plausibility::Plausibility;

/// A ledger method that writes, called with its pass and its requests.
pub(crate) type Call<A, T> =
    for<'a> fn(&'a dyn Ledger, Pass<'a>, &'a [A]) -> BoxFuture<'a, Result<Answer<T>, SourceError>>;

impl LedgerClient {
    /// Reads rows under the instance in force, which the call may find to be another one.
    pub(crate) async fn read(&self, counters: &[Counter]) -> Result<(InstanceId, Reading), SourceError> {
        self.in_reach()?;
        self.read_anyway(counters).await
    }

    /// As [`read`](Self::read), even if the ledger counts as away. For a counter whose epoch another server has just begun:
    /// that server used the ledger, so it is back.
    pub(crate) async fn read_anyway(
        &self,
        counters: &[Counter],
    ) -> Result<(InstanceId, Reading), SourceError> {
        self.trusted()?;
        let mut under = self.instance();
        match self.limited("read", self.ledger.read(&under, counters)).await {
            Err(error) if error.kind() == ErrorKind::InstanceChanged => {
                let _one_at_a_time = self.writing.lock().await;
                self.renew(&under).await?;
            }
            reading => return self.outcome(reading.map(|reading| (under, reading))),
        }
        under = self.instance();
        let reading = self.limited("read", self.ledger.read(&under, counters)).await;
        self.outcome(reading.map(|reading| (under, reading)))
    }

    /// Reads the evidence outside a counter's row: four calls.
    pub(crate) async fn outside(&self, counter: &Counter) -> Result<Plausibility, SourceError> {
        let others = self.other_slots(counter.slot);
        let others: Vec<Counter> = others.map(|slot| Counter { slot, key: counter.key.clone() }).collect();
        let (_, Reading { rows, .. }) = self.read_anyway(&others).await?;
        let beside = (self.version(), rows.iter().flatten());
        let outside = Plausibility::read(&*self.ledger, counter, self.layout.layout, beside);
        let outside = self.limited("read of a counter's history", outside).await;
        self.outcome(outside)
    }

    /// The other slots of the ring.
    pub(crate) fn other_slots(&self, own: SlotIndex) -> impl Iterator<Item = SlotIndex> {
        (0..self.slots()).filter(move |slot| *slot != own)
    }

    /// Notes, before any such epoch begins, that epochs of a key up to this raw id are requested by an operator.
    pub(crate) async fn note_begun(&self, key: &Key, raw: u64) -> Result<(), SourceError> {
        self.note(NoteSubject::BegunAt(key.clone()), raw).await
    }

    /// The same for several keys, in one call.
    pub(crate) async fn note_all_begun(&self, keys: &[(Key, u64)]) -> Result<(), SourceError> {
        let note = |(key, to): &(Key, u64)| LedgerNote { about: NoteSubject::BegunAt(key.clone()), to: *to };
        let notes: Vec<LedgerNote> = keys.iter().map(note).collect();
        self.outcome(self.limited("note of keys", self.ledger.note_all(&notes)).await)
    }

    /// Notes that raw ids of a key up to this one may have been given twice. The next epoch begins above them.
    pub(crate) async fn note_given_above(&self, key: &Key, raw: u64) -> Result<(), SourceError> {
        self.note(NoteSubject::GivenAbove(key.clone()), raw).await?;
        self.note_begun(key, raw).await
    }

    async fn note(&self, about: NoteSubject, to: u64) -> Result<(), SourceError> {
        let noted = self.limited("note of a key", self.ledger.note(&LedgerNote { about, to })).await;
        self.outcome(noted).map(drop)
    }

    /// Makes one call that writes. `under` is the instance that the requests depend on. If another one is in force when the
    /// call's turn comes, it fails with `InstanceChanged` and writes nothing.
    ///
    /// If `mark` is set, the answer's version is marked before this returns: for `slots`, or anywhere if they are empty.
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

    /// As [`write`](Self::write). `told` gets the answer before its version is marked, so that a hanging store delays nothing
    /// that needs no mark.
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
            // The ledger went away while another call was awaited: there is no point in waiting again.
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
            Err(error) if error.kind() == ErrorKind::InstanceChanged => {
                self.renew(&under).await?;
                Err(error)
            }
            Err(error) => {
                let is_refused = error.kind() == ErrorKind::Refused;
                if is_refused {
                    // The layout first: a layout change explains the refusal that `outcome` reports.
                    self.look_at_the_layout().await;
                    if self.look_at_the_record().await {
                        let context = "another instance of the ledger is on record now";
                        return Err(SourceError::new(ErrorKind::InstanceChanged, context).because(error));
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

    /// Fails if another call has found meanwhile that the ledger was replaced or went back.
    pub(super) fn still_rests_on(&self, under: &InstanceId) -> Result<(), SourceError> {
        self.trusted()?;
        if self.speaks_as(under) || !self.rules.keep(Rule::SameLedger) {
            return Ok(());
        }
        let context = format!("the ledger is no longer {under}, on which the requests depend");
        Err(SourceError::new(ErrorKind::InstanceChanged, context))
    }
}
