//! Guarded counter: a key in a slot. It takes ids from the store, and releases only those at or below an acknowledged ceiling.

mod acquire;
mod acquire_backoff;
mod advance;
mod ceiling;
mod checks;
mod dirty_sets;
mod first_value;
mod grant;
mod in_flight;
mod judge_block;
mod state;

use std::sync::{
    Arc, Mutex, Weak,
    atomic::{AtomicU64, Ordering},
};

use sequent_core::{
    Block, Blocks, BoxFuture, Cell, Epoch, ErrorKind, Event, Key, Source, SourceError, Why,
    ledger::{Counter, Row},
};

use crate::{guard::Shared, plausibility::SiblingSlots, shard::Shard};
use acquire::PrefetchedRow;
pub use acquire::UNKNOWN_COUNTER;
pub(crate) use advance::{decreed, is_past};
use ceiling::rate::Rate;
pub(crate) use ceiling::report::GivenAbove;
use ceiling::report::{Adds, FormerEpoch, Told};
pub use checks::jump::FAR_BOTH;
use checks::monotonicity::Monotonicity;
pub(crate) use checks::row_plausibility::Evidence;
pub use checks::row_plausibility::{CELL_AS_FAR, DOUBTED_ROW};
use dirty_sets::Places;
pub(crate) use dirty_sets::{DirtySets, PAGE, Walk};
pub(crate) use first_value::FirstValue;
use first_value::ReadAhead;
use grant::Grant;
use in_flight::InFlight;
use judge_block::Verdict;
pub use state::COUNTER_TRANSITIONS;
use state::CounterState;

/// The most rounds of a take, after a lost epoch, a changed store instance, or a block of an ended epoch.
const ROUNDS_MAX: usize = 12;

/// A process's state of one counter. Kept as long as its key, and until its `seen` is reported.
pub(crate) struct Guarded {
    /// The reference that the lists hold.
    me: Weak<Self>,
    pub(crate) counter: Counter,
    /// The key of its cells, in the layout in force.
    cell: Key,
    pub(crate) shared: Arc<Shared>,
    pub(crate) shard: Arc<Shard>,
    /// The end of the range in the newest definition.
    raw_max: AtomicU64,
    state: Mutex<State>,
    /// Serializes first touches, so that one serves all callers.
    touch: tokio::sync::Mutex<()>,
}

#[derive(Default)]
pub(crate) struct State {
    /// Changed by [`enter`](Self::enter) alone.
    current: CounterState,
    /// The row read when the key was created, for one first touch soon after.
    preread: Option<PrefetchedRow>,
    /// Further data of that read, valid as long.
    read_ahead: Option<ReadAhead>,
    /// How far each of the key's other slots was at least, when its rows were read.
    beside: Option<u64>,
    /// A report about the row, heard while there was neither grant nor row. A row being read may lack it.
    told: Option<Told>,
    /// The epoch whose regression this process reported last.
    setback: Option<Epoch>,
    /// The waits for the opener of this epoch, or for its claimer.
    contention: Option<(Epoch, u32)>,
    order: Monotonicity,
    pace: Rate,
    /// How far the counter is known to have come, whichever server took. Progress beyond it is consumption.
    position: u64,
    /// The highest id that left this process, or that the row or another server has seen. This is what is reported.
    pub(crate) seen: u64,
    /// As `seen`, without ids that count as seen only because an epoch begins there: really taken by a server.
    taken: u64,
    /// The `seen` of the last report.
    reported: u64,
    /// The epoch held last, until a report has told what left in it: servers that join its row must know.
    former: Option<FormerEpoch>,
    /// Ids that this server gave above the next epoch's base, until they are noted and stepped over.
    pub(crate) above: Option<GivenAbove>,
    /// How many keys use it.
    handles: usize,
    places: Places,
}

impl State {
    /// Notes an id of an epoch with this base. At the base itself nothing has been taken yet.
    fn saw(&mut self, id: u64, base: u64) {
        self.seen = self.seen.max(id);
        if id > base {
            self.taken = self.taken.max(id);
        }
    }

    /// Notes a row of an ended instance of the ledger. A recovery may have added a loss to its `seen`: that is skipped, but
    /// need not have been taken. The base of its epoch was reached for certain.
    fn was_told(&mut self, row: &Row) {
        self.seen = self.seen.max(row.seen);
        if row.seen > row.base {
            self.taken = self.taken.max(row.base);
        }
    }
}

impl Guarded {
    /// Creates a counter without a handle, which is listed to be forgotten.
    #[allow(clippy::similar_names, reason = "`shared` and `shard` are this crate's names")]
    pub(crate) fn new(counter: Counter, shared: Arc<Shared>, shard: Arc<Shard>, raw_max: u64) -> Arc<Self> {
        let cell = counter.key.in_generation(shared.client.generation());
        let guarded = Arc::new_cyclic(|me| Self {
            me: Weak::clone(me),
            counter,
            cell,
            shared,
            shard,
            raw_max: AtomicU64::new(raw_max),
            state: Mutex::default(),
            touch: tokio::sync::Mutex::default(),
        });
        guarded.list();
        guarded
    }

    fn raw_max(&self) -> u64 {
        self.raw_max.load(Ordering::Relaxed)
    }

    /// Sets the end of the range of a changed definition. The counter continues where it is.
    pub(crate) fn reach_to(&self, raw_max: u64) {
        self.raw_max.store(raw_max, Ordering::Relaxed);
    }

    /// Takes in the row and the evidence of the key's other slots, which were read together.
    pub(crate) fn preread(
        &self,
        row: Option<Row>,
        (beside, newborn): (SiblingSlots, Option<Arc<FirstValue>>),
        clock_ms: u64,
    ) {
        let (mut state, now) = (self.state(), self.shared.env.clock.now());
        state.beside = state.beside.max(beside.least);
        let told = state.told.take();
        let is_absent = row.is_none() && told.is_none();
        state.read_ahead = Some(ReadAhead { is_absent, beside: beside.most, newborn, at: now });
        if let Some(mut row) = row {
            if told.is_some_and(|told| told.adds_to(&mut row) == Adds::Doubt) {
                return;
            }
            // A claim far above what is known here is checked at the first touch.
            if !state.doubts(row.reached()) {
                if self.shared.client.speaks_as(&row.ledger) {
                    state.saw(row.seen, row.base);
                } else {
                    state.was_told(&row);
                }
                state.reported = state.reported.max(row.seen);
            }
            state.preread = Some(PrefetchedRow { row, clock_ms, at: now });
        }
    }

    async fn take_block(&self, want: u64) -> Result<Block, SourceError> {
        let mut last = None;
        for _ in 0..ROUNDS_MAX {
            if self.shared.is_closed() {
                return Err(SourceError::new(ErrorKind::NoWitness, "the guard is closed"));
            }
            self.shared.client.not_outdone()?;
            let want = self.affordable(want)?;
            let grant = self.grant(want).await?;
            let want = self.room(&grant, want).await?;
            let flight = InFlight::begin(self);
            let cell = Cell { key: &self.cell, under: &grant.row.store };
            let taken = self.shard.store().take(cell, grant.row.epoch, want).await;
            match taken {
                Ok(block) => match self.judge(&grant, flight, block).await? {
                    Verdict::Leaves(block) => return Ok(block),
                    Verdict::Again(why) => last = Some(why),
                },
                Err(error) => last = Some(self.refused(&grant, error)?),
            }
        }
        Err(last.unwrap_or_else(|| SourceError::new(ErrorKind::Contended, "a take began again too often")))
    }

    /// `want`, cut to what is left of the range; `Exhausted` if nothing is.
    fn affordable(&self, want: u64) -> Result<u64, SourceError> {
        let left = self.raw_max().saturating_sub(self.state().seen);
        if left == 0 {
            let context =
                format!("counter of slot {} has given all {} raw ids", self.counter.slot, self.raw_max());
            return Err(SourceError::new(ErrorKind::Exhausted, context));
        }
        Ok(want.clamp(1, left))
    }

    /// Handles a take that the store refused: what the next round must know, or the error for the caller.
    fn refused(&self, grant: &Grant, error: SourceError) -> Result<SourceError, SourceError> {
        match error.kind() {
            ErrorKind::InstanceChanged => {
                self.shard.forget(&grant.row.store);
                self.give_up(grant.row.epoch, CounterState::Closed);
                Ok(error)
            }
            ErrorKind::Regressed => {
                self.tell_tampered(grant.row.epoch, &error);
                self.give_up(grant.row.epoch, CounterState::Refused(grant.row.epoch));
                Ok(acquire::overtaken(&error))
            }
            _ => Err(error),
        }
    }

    /// Drops the grant of this epoch, if it is still held.
    fn give_up(&self, epoch: Epoch, next: CounterState) {
        let mut state = self.state();
        if state.held(epoch).is_some() {
            state.lay_down(next);
        }
    }

    /// Reports a refusal that shows a value set by hand, or a lost part of the counter. A new epoch of another server is
    /// refused in the same way, and is no fault.
    fn tell_tampered(&self, epoch: Epoch, error: &SourceError) {
        if matches!(error.why(), Some(Why::SetByHand | Why::LostInPart)) {
            self.regressed(Some(epoch), error.context().to_owned());
        }
    }

    /// Reports a regression, once per epoch.
    fn regressed(&self, epoch: Option<Epoch>, detail: String) {
        if epoch.is_some() && std::mem::replace(&mut self.state().setback, epoch) == epoch {
            return;
        }
        let Counter { slot, key } = self.counter.clone();
        self.shared.env.events.emit(Event::Regressed { slot, key, detail });
    }
}

/// Source of raw ids from a guarded counter. After the last handle is dropped and its counter reported, the guard forgets it.
pub(crate) struct Handle(Arc<Guarded>);

impl Handle {
    pub(crate) fn of(guarded: Arc<Guarded>) -> Self {
        // This also updates the lists, in case the definition's end was raised.
        guarded.state().handles += 1;
        Self(guarded)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.state().handles -= 1;
    }
}

impl Source for Handle {
    fn take(&self, want: u64) -> BoxFuture<'_, Result<Blocks, SourceError>> {
        Box::pin(async move {
            let block = self.0.take_block(want).await?;
            self.0.shared.latest.moved(&self.0);
            Ok(Blocks::from(block))
        })
    }

    fn lift(&self, floor: u64) -> BoxFuture<'_, Result<(), SourceError>> {
        Box::pin(self.0.lift_to(floor))
    }

    fn position(&self) -> Option<u64> {
        Some(self.0.state().seen)
    }

    fn remaining(&self) -> Option<u64> {
        self.remaining_up_to(u64::MAX)
    }

    fn remaining_up_to(&self, limit: u64) -> Option<u64> {
        Some(self.0.raw_max().min(limit).saturating_sub(self.0.state().seen))
    }
}
