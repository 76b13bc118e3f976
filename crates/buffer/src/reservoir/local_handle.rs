//! A handle for one thread: it takes numbers in chunks, and issues most of them without touching shared memory.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Instant,
};

use sequent_core::Block;

use super::{Empty, Reservoir, next::Next};
use crate::{error::TakeError, locked::Locked, shared::Shared};

impl Reservoir {
    /// A handle for one thread, a few times faster than a shared one.
    pub fn local(&self) -> LocalHandle {
        LocalHandle::new(self.clone())
    }
}

/// A handle for one thread, for the highest rate.
///
/// It holds a chunk of at most 4096 numbers and at most 1/64 of the reserve, which counts as at risk. Dropping the
/// handle returns the rest of the chunk.
///
/// Numbers of one handle ascend within a chunk. Those of several handles interleave by chunks.
#[derive(Debug)]
pub struct LocalHandle {
    chunk: Chunk,
    reservoir: Reservoir,
}

/// Numbers that only this handle sees.
#[derive(Debug)]
struct Chunk {
    next: u64,
    /// The value of `next` when all are used, wrapping. So each number writes one word, not two.
    end: u64,
    step: u64,
    version: u64,
    /// The size when it was taken, which is counted as lent.
    lent: u64,
}

impl Chunk {
    #[inline]
    fn next(&mut self, shared: &Shared) -> Option<u64> {
        let number = self.next;
        if number == self.end || self.version != shared.tickets.chunk_version() {
            return self.replace(shared);
        }
        self.next = number.wrapping_add(self.step);
        Some(number)
    }

    /// Takes a new chunk, without waiting. If that misses, the single draw that follows it starts a refill.
    #[cold]
    #[inline(never)]
    fn replace(&mut self, shared: &Shared) -> Option<u64> {
        self.give_back(shared);
        self.version = shared.tickets.chunk_version();
        let block = match shared.tickets.draw_many(shared.tickets.chunk_size()) {
            Ok(block) => block,
            Err(miss) => Locked::lock(shared).take_overtaken(miss)?,
        };
        shared.tickets.add_lent(block.count());
        self.step = block.step();
        self.next = block.first().wrapping_add(block.step());
        self.end = block.first().wrapping_add(block.step().wrapping_mul(block.count()));
        self.lent = block.count();
        Some(block.first())
    }

    /// Returns the rest to the front of the reservoir. It is discarded there if it may have expired.
    fn give_back(&mut self, shared: &Shared) {
        shared.tickets.sub_lent(std::mem::take(&mut self.lent));
        let left = self.end.wrapping_sub(self.next) / self.step;
        if let Ok(block) = Block::new(self.next, self.step, left) {
            Locked::lock(shared).return_chunk(block, self.version);
        }
        self.next = self.end;
    }
}

impl LocalHandle {
    fn new(reservoir: Reservoir) -> Self {
        Self { chunk: Chunk { next: 0, end: 0, step: 1, version: 0, lent: 0 }, reservoir }
    }

    /// A number that is ready, or `None`: never waits.
    #[inline]
    pub fn try_next(&mut self) -> Option<u64> {
        let shared = self.reservoir.shared();
        self.chunk.next(shared).or_else(|| self.reservoir.try_next())
    }

    /// A number that is ready, or what to [`Reservoir::wait`] with.
    #[inline]
    pub fn draw(&mut self) -> Result<u64, Empty> {
        match self.chunk.next(self.reservoir.shared()) {
            Some(number) => Ok(number),
            None => self.reservoir.draw(),
        }
    }

    /// One number, waiting up to `deadline` if the reservoir is empty.
    #[inline]
    pub fn next(&mut self, deadline: Option<Instant>) -> LocalNext<'_> {
        LocalNext { next: Next::new(self.reservoir.shared(), deadline), chunk: &mut self.chunk }
    }
}

impl Drop for LocalHandle {
    fn drop(&mut self) {
        self.chunk.give_back(self.reservoir.shared());
    }
}

/// One number of a [`LocalHandle`], ready at the first poll unless the reservoir is empty. Nothing is taken before the
/// first poll.
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
            && let Some(number) = this.chunk.next(this.next.shared())
        {
            return Poll::Ready(Ok(number));
        }
        Pin::new(&mut this.next).poll(cx)
    }
}
