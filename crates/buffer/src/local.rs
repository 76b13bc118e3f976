//! A handle for one thread: it carves chunks, and hands out most numbers without touching what others touch.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Instant,
};

use sequent_core::Block;

use crate::{
    error::TakeError,
    inner::Inner,
    next::Next,
    reservoir::{Dry, Reservoir},
    turn::Turn,
};

/// A handle of its own, for the last factor of speed. It holds a chunk of at most 4096 numbers, and at most
/// 1/64 of the reserve, counted as at risk; dropping the handle gives back what is left of it.
///
/// Numbers of one handle ascend within a chunk; those of several handles interleave by chunks.
#[derive(Debug)]
pub struct Local {
    chunk: Chunk,
    reservoir: Reservoir,
}

/// Numbers that only this handle sees.
#[derive(Debug)]
struct Chunk {
    next: u64,
    /// Where `next` stands when all are used, wrapping: one word to write for each number, not two.
    end: u64,
    step: u64,
    epoch: u64,
    /// The size that was carved: what is counted as lent.
    lent: u64,
}

impl Chunk {
    #[inline]
    fn next(&mut self, inner: &Inner) -> Option<u64> {
        let number = self.next;
        if number == self.end || self.epoch != inner.gate.epoch() {
            return self.carve(inner);
        }
        self.next = number.wrapping_add(self.step);
        Some(number)
    }

    /// A new chunk, without waiting; a miss inside is settled by the single draw that follows it.
    #[cold]
    #[inline(never)]
    fn carve(&mut self, inner: &Inner) -> Option<u64> {
        self.give_back(inner);
        self.epoch = inner.gate.epoch();
        let block = match inner.gate.draw_many(inner.gate.chunk()) {
            Ok(block) => block,
            Err(miss) => Turn::begin(inner).overtaken(miss)?,
        };
        inner.gate.lend(block.count());
        self.step = block.step();
        self.next = block.first().wrapping_add(block.step());
        self.end = block.first().wrapping_add(block.step().wrapping_mul(block.count()));
        self.lent = block.count();
        Some(block.first())
    }

    /// Returns what is left to the front of the reservoir, or burns it where it may have aged.
    fn give_back(&mut self, inner: &Inner) {
        inner.gate.unlend(std::mem::take(&mut self.lent));
        let left = self.end.wrapping_sub(self.next) / self.step;
        if let Ok(block) = Block::new(self.next, self.step, left) {
            Turn::begin(inner).returned(block, self.epoch);
        }
        self.next = self.end;
    }
}

impl Local {
    pub(crate) fn new(reservoir: Reservoir) -> Self {
        Self { chunk: Chunk { next: 0, end: 0, step: 1, epoch: 0, lent: 0 }, reservoir }
    }

    /// A number that is ready, or `None`: never waits.
    #[inline]
    pub fn try_next(&mut self) -> Option<u64> {
        let inner = self.reservoir.inner();
        self.chunk.next(inner).or_else(|| self.reservoir.try_next())
    }

    /// A number that is ready; or what to [`Reservoir::wait`] with.
    #[inline]
    pub fn draw(&mut self) -> Result<u64, Dry> {
        match self.chunk.next(self.reservoir.inner()) {
            Some(number) => Ok(number),
            None => self.reservoir.draw(),
        }
    }

    /// One number, waiting up to `deadline` where the reservoir is dry.
    #[inline]
    pub fn next(&mut self, deadline: Option<Instant>) -> LocalNext<'_> {
        LocalNext { next: Next::new(self.reservoir.inner(), deadline), chunk: &mut self.chunk }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.chunk.give_back(self.reservoir.inner());
    }
}

/// One number of a [`Local`]: ready at the first poll unless the reservoir is dry. Nothing is taken before it is polled.
#[derive(Debug)]
#[must_use = "nothing is taken before it is polled"]
pub struct LocalNext<'a> {
    next: Next<'a>,
    chunk: &'a mut Chunk,
}

impl Future for LocalNext<'_> {
    type Output = Result<u64, TakeError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if this.next.is_new()
            && let Some(number) = this.chunk.next(this.next.inner())
        {
            return Poll::Ready(Ok(number));
        }
        Pin::new(&mut this.next).poll(cx)
    }
}
