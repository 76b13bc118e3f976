//! A turn: everything that is done under the mutex, from closing the gate to opening it again.

use std::{
    sync::{Arc, MutexGuard},
    task::Waker,
    time::{Duration, Instant},
};

use sequent_core::{Block, Blocks, ErrorKind, Event, SourceError};

use crate::{
    error::TakeError,
    gate::Miss,
    inner::{Inner, State},
    lot::Lot,
    queue::{Answer, WAITERS_MAX},
    refill,
    stats::Stats,
    stock,
    tickets::Claim,
    wait::{Found, Timer},
};

/// An open range is at most this part of the reserve, so that consumption is seen in time.
const RANGE_PARTS: u64 = 8;

/// But at least so many numbers, so that a turn costs each of them little.
const RANGE_MIN: u64 = 1024;

/// The largest chunk that a handle of its own carves, and the part of the reserve that it may be.
const CHUNK_MAX: u64 = 4096;
const CHUNK_PARTS: u64 = 64;

/// More blocks than this are not added to ahead of demand: their memory would outweigh the numbers in them.
const STOCK_BLOCKS_MAX: usize = 4096;

/// What a caller brings to a turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) want: u64,
    /// The draw that found nothing.
    pub(crate) miss: Option<Miss>,
    /// Where the caller waits; `None` where it does not.
    pub(crate) waker: Option<&'a Waker>,
}

/// What a caller takes away.
#[derive(Debug)]
pub(crate) enum Reply {
    Done(Answer),
    /// A place in the queue.
    Waiting(u64),
}

pub(crate) struct Turn<'a> {
    inner: &'a Inner,
    state: MutexGuard<'a, Box<State>>,
    now: Instant,
    wakers: Vec<Waker>,
    burnt: Vec<(u64, &'static str)>,
}

impl<'a> Turn<'a> {
    pub(crate) fn begin(inner: &'a Inner) -> Self {
        let now = inner.setting.env.clock.now();
        let state = inner.lock();
        Self { inner, state, now, wakers: Vec::new(), burnt: Vec::new() }
    }

    /// One number for a caller that does not wait.
    #[cold]
    pub(crate) fn single(self, miss: Miss) -> Option<u64> {
        match self.serve(Ask { want: 1, miss: Some(miss), waker: None }) {
            Reply::Done(Ok(lots)) => lots.first().map(|lot| lot.block.first()),
            Reply::Done(Err(_)) | Reply::Waiting(_) => None,
        }
    }

    /// Numbers that a caller drew without having loaded their range; nothing else is done for it.
    pub(crate) fn overtaken(mut self, miss: Miss) -> Option<Block> {
        let lot = self.resolve(Some(miss));
        self.release();
        lot.map(|lot| lot.block)
    }

    /// Serves a caller, or gives it a place in the queue.
    pub(crate) fn serve(mut self, ask: Ask<'_>) -> Reply {
        let mut mine: Vec<Lot> = Vec::with_capacity(1);
        mine.extend(self.resolve(ask.miss));
        let lacking = ask.want.saturating_sub(stock::count(&mine));
        if lacking > 0 && self.state.queue.is_empty() {
            mine.extend(self.state.tickets.draw(&self.inner.gate, lacking));
        }
        if stock::count(&mine) == ask.want {
            self.finish();
            return Reply::Done(Ok(mine));
        }
        self.put_back(mine);
        let reply = self.deal(ask);
        self.finish();
        reply
    }

    fn deal(&mut self, ask: Ask<'_>) -> Reply {
        self.expire();
        let state = &mut **self.state;
        if state.closed {
            return Reply::Done(Err(TakeError::Closed));
        }
        if state.queue.is_empty() && state.stock.total() >= ask.want {
            state.tally.served += ask.want;
            return Reply::Done(Ok(state.stock.take(ask.want)));
        }
        let Some(waker) = ask.waker else {
            if !state.passed_by {
                state.passed_by = true;
                state.appetite.starve();
            }
            return Reply::Done(Err(TakeError::Deadline));
        };
        state.appetite.starve();
        state.tally.waits += 1;
        state.queue.join(ask.want, waker.clone()).map_or_else(crowded, Reply::Waiting)
    }

    /// The answer of a caller in the queue, if it has come.
    pub(crate) fn look(mut self, id: u64, waker: &Waker) -> Found {
        self.state.queue.look(id, waker)
    }

    pub(crate) fn keep_timer(mut self, id: u64, timer: Timer) {
        self.state.queue.keep_timer(id, timer);
    }

    /// A caller leaves the queue: what was dealt to it is handed to the next.
    pub(crate) fn leave(mut self, id: u64) {
        if let Some(Ok(lots)) = self.state.queue.leave(id) {
            self.put_back(lots);
        }
        self.finish();
    }

    /// A caller's deadline has passed: it leaves, with its answer if that has come in the same instant.
    pub(crate) fn give_up(mut self, id: u64) -> Answer {
        let answer = self.state.queue.leave(id);
        self.finish();
        answer.unwrap_or(Err(TakeError::Deadline))
    }

    /// A refill has ended. Returns how much the same task is to ask for next.
    pub(crate) fn refilled(mut self, outcome: Result<Blocks, SourceError>, took: Duration) -> Option<u64> {
        self.state.refilling = false;
        self.state.passed_by = false;
        match outcome {
            Ok(blocks) if blocks.is_empty() => {
                let error = SourceError::new(ErrorKind::Unavailable, "the source gave no number");
                return self.refilled(Err(error), took);
            }
            Ok(blocks) => self.deposit(blocks, took),
            Err(error) => {
                // Nobody waits any more, and a source that fails at once would be asked in a ring: the next caller asks.
                self.failed(&error);
                self.open();
                self.release();
                return None;
            }
        }
        self.settle()
    }

    fn deposit(&mut self, blocks: Blocks, took: Duration) {
        let (count, until) = (blocks.count(), blocks.expiry());
        if self.state.closed {
            return self.burn(count, "the reservoir was closed during a refill");
        }
        let state = &mut **self.state;
        state.appetite.feed(self.now, count, took);
        state.tally.refills += 1;
        state.tally.last_error = None;
        for block in blocks {
            state.stock.push_back(Lot { block, until });
        }
    }

    /// Who can be served from what is here is served; the others fail at once.
    fn failed(&mut self, error: &SourceError) {
        self.state.tally.refills_failed += 1;
        self.state.tally.last_error = Some(error.clone());
        self.expire();
        while !self.state.queue.is_empty() {
            self.serve_queue();
            let waker = self.state.queue.answer(Err(TakeError::Source(error.clone())));
            self.wakers.extend(waker);
        }
    }

    /// Nothing leaves any more: waiters fail, what is left is burnt.
    pub(crate) fn close(mut self) {
        if !self.state.closed {
            self.state.closed = true;
            self.gather();
            let count = self.state.stock.shrink(0);
            self.burn(count, "the reservoir was closed");
            self.inner.gate.next_epoch();
            while let Some(waker) = self.state.queue.answer(Err(TakeError::Closed)) {
                self.wakers.push(waker);
            }
        }
        self.finish();
    }

    /// Drops what has aged, also out of the open range.
    pub(crate) fn expire(&mut self) {
        if self.state.tickets.until().is_some_and(|until| until <= self.now) {
            self.gather();
        }
        let count = self.state.stock.expire(self.now);
        if count > 0 {
            self.inner.gate.next_epoch();
        }
        self.burn(count, "numbers aged in the reservoir");
    }

    /// Drops all but a few blocks and the memory of what is past, if nothing has been taken for a while.
    pub(crate) fn trim(mut self, keep: usize) -> Duration {
        let idle = self.observe();
        if idle >= self.inner.setting.config.reserve {
            let count = self.state.stock.shrink(keep);
            self.burn(count, "an idle reservoir gave its memory back");
            self.state.tickets.forget();
            self.state.queue.shrink();
        }
        self.release();
        idle
    }

    /// A chunk comes back from a handle of its own; burnt where its age is not known.
    pub(crate) fn returned(mut self, block: Block, epoch: u64) {
        let ages = self.state.stock.ages() || self.state.tickets.until().is_some();
        if ages || epoch != self.inner.gate.epoch() {
            self.burn(block.count(), "a handle of its own ended with numbers that age");
        } else {
            self.put_back(vec![block.into()]);
        }
        self.finish();
    }

    pub(crate) fn stats(mut self) -> Stats {
        let idle = self.observe();
        let Self { inner, state, .. } = &self;
        let (reserve, tally) = (state.held(&inner.gate), &state.tally);
        let (rate_short, rate_long) = state.appetite.rates();
        Stats {
            reserve,
            at_risk: reserve + inner.gate.lent(),
            dealt: state.dealt(&inner.gate),
            burnt: tally.burnt,
            refills: tally.refills,
            refills_failed: tally.refills_failed,
            waits: tally.waits,
            waiting: state.queue.len(),
            rate_short,
            rate_long,
            refill_last: state.appetite.refill(),
            idle,
            refilling: state.refilling,
            last_error: tally.last_error.clone(),
        }
    }

    /// Shows the appetite what has been consumed; returns for how long nothing was.
    fn observe(&mut self) -> Duration {
        let dealt = self.state.dealt(&self.inner.gate);
        self.state.appetite.observe(self.now, dealt);
        self.state.appetite.idle(self.now)
    }

    /// Numbers that had left, and that nobody has used, go back to the front.
    pub(crate) fn put_back(&mut self, lots: Vec<Lot>) {
        self.gather();
        for lot in lots.into_iter().rev() {
            self.state.tally.returned += lot.block.count();
            if self.state.closed {
                self.burn(lot.block.count(), "numbers came back to a closed reservoir");
            } else {
                self.state.stock.push_front(lot);
            }
        }
    }

    pub(crate) fn burn(&mut self, count: u64, why: &'static str) {
        if count > 0 {
            self.state.tally.burnt += count;
            self.burnt.push((count, why));
        }
    }

    /// Ends the turn, and starts a refill in a task of its own where one is due.
    pub(crate) fn finish(self) {
        let inner = self.inner;
        if let Some(want) = self.settle()
            && let Some(me) = inner.me.upgrade()
        {
            (inner.setting.spawn)(Box::pin(refill::run(me, want)));
        }
    }

    /// Serves the queue, decides on a refill, opens the gate.
    fn settle(mut self) -> Option<u64> {
        self.serve_queue();
        let refill = self.hunger();
        self.open();
        self.release();
        refill
    }

    /// Ends the turn: outside the mutex, wakes and reports.
    fn release(self) {
        let Self { inner, state, wakers, burnt, .. } = self;
        drop(state);
        for waker in wakers {
            waker.wake();
        }
        for (count, why) in burnt {
            inner.setting.env.events.emit(Event::Dropped { slot: None, count, why });
        }
    }

    fn serve_queue(&mut self) {
        if self.state.queue.is_empty() {
            return;
        }
        self.gather();
        self.expire();
        let state = &mut **self.state;
        while !state.queue.is_empty() && state.queue.first_wants() <= state.stock.total() {
            let want = state.queue.first_wants();
            let lots = state.stock.take(want);
            state.tally.served += want;
            self.wakers.extend(state.queue.answer(Ok(lots)));
        }
    }

    /// How much to ask for now, where no refill is out.
    fn hunger(&mut self) -> Option<u64> {
        self.observe();
        let Self { inner, state, now, .. } = self;
        if state.refilling || state.closed {
            return None;
        }
        let needs = state.needs(inner);
        let want = state.appetite.ask(*now, needs, &inner.setting.config);
        let crowded = state.stock.blocks() >= STOCK_BLOCKS_MAX && needs.waiting <= needs.held;
        if want == 0 || crowded {
            return None;
        }
        state.refilling = true;
        Some(want)
    }

    /// Closes the gate; what was left of the open range is the first of the stock again.
    fn gather(&mut self) {
        let state = &mut **self.state;
        if let Some(lot) = state.tickets.close(&self.inner.gate) {
            state.stock.push_front(lot);
        }
    }

    /// Opens the next range, where nobody waits and none is open with numbers left.
    fn open(&mut self) {
        if self.state.closed || !self.state.queue.is_empty() || self.state.tickets.left(&self.inner.gate) > 0
        {
            return;
        }
        self.gather();
        let state = &mut **self.state;
        let held = state.stock.total();
        let mark = state.appetite.mark(self.now, self.inner.source.0.remaining(), &self.inner.setting.config);
        // The range ends where the next refill is due, so that its end is noticed without a look from the hot path.
        let until_mark = if held > mark { held - mark } else { held };
        let most = until_mark.min((held / RANGE_PARTS).max(RANGE_MIN));
        if let Some(lot) = state.stock.pop(most) {
            self.inner.gate.set_chunk((held / CHUNK_PARTS).clamp(1, CHUNK_MAX));
            state.tickets.open(&self.inner.gate, lot);
        }
    }

    fn resolve(&mut self, miss: Option<Miss>) -> Option<Lot> {
        match self.state.tickets.resolve(miss?) {
            Claim::Void => None,
            Claim::Yours(lot) => Some(lot),
            Claim::Forgotten(count) => {
                self.burn(count, "a caller was stalled for many turns");
                None
            }
        }
    }
}

fn crowded() -> Reply {
    let text = format!("{WAITERS_MAX} callers wait already: no more are allowed");
    Reply::Done(Err(TakeError::Source(SourceError::new(ErrorKind::Contended, text))))
}

/// What a refill that was cut off, with its task, leaves its waiters.
pub(crate) fn cut_off(inner: &Arc<Inner>) {
    let error = SourceError::new(ErrorKind::Unavailable, "the refill was cut off");
    let next = Turn::begin(inner).refilled(Err(error), Duration::ZERO);
    debug_assert!(next.is_none(), "nobody waits after a failure");
    inner.lock().refilling = false;
}
