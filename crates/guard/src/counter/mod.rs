//! One counter: a key in a slot, guarded. Takes from the store, and lets go only what the ledger has witnessed.

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

use std::sync::{
    Arc, Mutex, Weak,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use sequent_core::{
    Block, Blocks, BoxFuture, Cell, Epoch, ErrorKind, Event, Key, Source, SourceError, Why,
    ledger::{Counter, Row},
};

use crate::{guard::Shared, plausibility::SiblingSlots, shard::Shard};
use acquire::PrefetchedRow;
pub use acquire::{FAR_CEILING, UNKNOWN_COUNTER};
pub(crate) use advance::{decreed, is_past};
use ceiling::rate::Rate;
pub(crate) use ceiling::report::GivenAbove;
use ceiling::report::{Adds, FormerEpoch, Told};
pub use checks::jump::FAR_BOTH;
use checks::monotonicity::Monotonicity;
pub use checks::row_plausibility::{CELL_AS_FAR, DOUBTED_ROW, Doubt, Evidence};
use dirty_sets::Places;
pub(crate) use dirty_sets::{DirtySets, PAGE, Walk};
pub(crate) use first_value::FirstValue;
use first_value::ReadAhead;
use grant::Grant;
use in_flight::InFlight;
use judge_block::Verdict;

/// A take begins again at most so often: after a lost epoch, a reborn store, a block of an epoch that ended meanwhile.
const ROUNDS_MAX: usize = 12;

/// What a process knows of one counter. Kept as long as its key, and until its `seen` is reported.
pub(crate) struct Guarded {
    /// What lists hold of it.
    me: Weak<Self>,
    pub(crate) counter: Counter,
    /// What its cells are called, under the layout in force.
    cell: Key,
    pub(crate) shared: Arc<Shared>,
    pub(crate) shard: Arc<Shard>,
    /// The end of the range, as the newest definition has it.
    raw_max: AtomicU64,
    state: Mutex<State>,
    /// First touch goes once for all callers.
    touch: tokio::sync::Mutex<()>,
    closed: AtomicBool,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) grant: Option<Grant>,
    /// The row read when the key came alive, good for one first touch soon after.
    preread: Option<PrefetchedRow>,
    /// What was read with it, for as long.
    read_ahead: Option<ReadAhead>,
    /// How far each of the key's other slots was at least when its rows were read.
    beside: Option<u64>,
    /// What was heard of the row while there was neither grant nor row: one that is being read may not have it yet.
    told: Option<Told>,
    /// The epoch whose setback this process told last.
    setback: Option<Epoch>,
    /// The epoch that the store refused last, and how often its opener has been waited for.
    refused: Option<Epoch>,
    duel: Option<(Epoch, u32)>,
    order: Monotonicity,
    pace: Rate,
    /// How far the counter is known to have come, by whoever took from it: what is beyond is consumption.
    position: u64,
    /// The highest id that left this process, or that the row or another server has seen: what is reported.
    pub(crate) seen: u64,
    /// The same, but for what is seen only because an epoch begins there: really taken by somebody.
    taken: u64,
    /// What was reported last.
    reported: u64,
    /// The epoch last held, until a report has told what left in it: whoever takes up its row must know.
    former: Option<FormerEpoch>,
    /// What this server gave above where the next epoch began, until that has been noted and stepped over.
    pub(crate) above: Option<GivenAbove>,
    /// How many keys hold it.
    handles: usize,
    places: Places,
}

impl State {
    /// An id of an epoch that began at `base` has been seen; at the base itself nobody has taken anything yet.
    fn saw(&mut self, id: u64, base: u64) {
        self.seen = self.seen.max(id);
        if id > base {
            self.taken = self.taken.max(id);
        }
    }

    /// A row of an instance of the ledger that has ended says so. An operator may have added a loss to what it calls
    /// seen: that is to be left out, but nobody needs to have taken it. Where its epoch began the counter has been.
    fn was_told(&mut self, row: &Row) {
        self.seen = self.seen.max(row.seen);
        if row.seen > row.base {
            self.taken = self.taken.max(row.base);
        }
    }
}

impl Guarded {
    /// Nobody holds it yet, and so it is listed to be forgotten.
    #[allow(clippy::similar_names, reason = "`shared` and `shard` are the words of this crate")]
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
            closed: AtomicBool::new(false),
        });
        guarded.list();
        guarded
    }

    fn raw_max(&self) -> u64 {
        self.raw_max.load(Ordering::Relaxed)
    }

    /// The definition has another end now; the counter goes on where it is.
    pub(crate) fn reach_to(&self, raw_max: u64) {
        self.raw_max.store(raw_max, Ordering::Relaxed);
    }

    /// The row as it was read with the others of its key, each of which is so far.
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
            // What is far beyond what is known here is looked into before it is believed, at the first touch.
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

    /// No take leaves any more.
    pub(crate) fn shut(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    fn is_shut(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    async fn take_block(&self, want: u64) -> Result<Block, SourceError> {
        let mut last = None;
        for _ in 0..ROUNDS_MAX {
            if self.is_shut() {
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

    /// At most what is left of the range; `Exhausted` where nothing is.
    fn affordable(&self, want: u64) -> Result<u64, SourceError> {
        let left = self.raw_max().saturating_sub(self.state().seen);
        if left == 0 {
            let context =
                format!("counter of slot {} has given all {} raw ids", self.counter.slot, self.raw_max());
            return Err(SourceError::new(ErrorKind::Exhausted, context));
        }
        Ok(want.clamp(1, left))
    }

    /// A take that the store refused: what to do before the next round, or the error that the caller gets.
    fn refused(&self, grant: &Grant, error: SourceError) -> Result<SourceError, SourceError> {
        match error.kind() {
            ErrorKind::Reborn => {
                self.shard.forget(&grant.row.store);
                self.give_up(grant.row.epoch, false);
                Ok(error)
            }
            ErrorKind::Regressed => {
                self.tell_tampered(grant.row.epoch, &error);
                self.give_up(grant.row.epoch, true);
                Ok(acquire::overtaken(&error))
            }
            _ => Err(error),
        }
    }

    /// The grant of this epoch is gone, if it is still held; `refused`: the store knows no such epoch any more.
    fn give_up(&self, epoch: Epoch, refused: bool) {
        let mut state = self.state();
        if state.grant.as_ref().is_some_and(|grant| grant.row.epoch == epoch) {
            state.lay_down();
            if refused {
                state.refused = Some(epoch);
            }
        }
    }

    /// Another server's new epoch is refused just so, and is nobody's fault: only a store that tells a hand's work, or
    /// that a part of the counter is gone, has more to say.
    fn tell_tampered(&self, epoch: Epoch, error: &SourceError) {
        if matches!(error.why(), Some(Why::SetByHand | Why::LostInPart)) {
            self.regressed(Some(epoch), error.context().to_owned());
        }
    }

    /// A setback of an epoch is told once, whoever of this process finds it.
    fn regressed(&self, epoch: Option<Epoch>, detail: String) {
        if epoch.is_some() && std::mem::replace(&mut self.state().setback, epoch) == epoch {
            return;
        }
        let Counter { slot, key } = self.counter.clone();
        self.shared.env.events.emit(Event::Regressed { slot, key, detail });
    }
}

/// The guarded counter as a source of raw ids. Dropping the last handle lets the guard forget it once it is reported.
pub(crate) struct Handle(Arc<Guarded>);

impl Handle {
    pub(crate) fn of(guarded: Arc<Guarded>) -> Self {
        // With this its places are put right, also where the definition reaches further now.
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
        Some(self.0.raw_max().saturating_sub(self.0.state().seen))
    }
}
