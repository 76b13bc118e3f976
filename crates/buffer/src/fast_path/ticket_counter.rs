//! The lock-free ticket counter: one atomic word deals tickets, and the open range turns a ticket into a number.
//!
//! # How a number is taken
//!
//! The counter only counts up. `fetch_add` deals a *ticket*. The open range says which tickets are numbers (those below
//! `end`), and which number each is: `origin + step * ticket`, wrapping.
//!
//! Everything else lies under one mutex: queued blocks, waiting callers, and the first ticket of each range.
//!
//! A caller loads the range first (`end`, then `origin` and `step`), draws its ticket last, and compares once.
//! The holder of the mutex changes the range in this order:
//!
//! 1. It *closes* the counter, `T: next_ticket.swap(CLOSED)`. `CLOSED = 2^63` is above every `end`.
//! 2. It chooses `base`: at least the `end` of every earlier range, and above every ticket dealt below `CLOSED` so far.
//! 3. It writes the next range: `step`, `origin`, then `end = base + count`.
//! 4. It *opens* the counter, `O: next_ticket.swap(base)`.
//!
//! Draws, closings and openings change the counter by read-modify-writes only, all of them acquire and release.
//! Their order is one chain, and each change happens before the next. With a plain store as O, loom could order a
//! draw on the closed counter after O.
//!
//! # Why no number is issued twice
//!
//! Call ranges 1, 2, 3, … in the order of their openings. Let a caller draw ticket `t < end` with `end` of range g.
//!
//! - **Each ticket below `CLOSED` is dealt once.** Between an opening and the next closing the counter only counts up.
//!   The closing returns where it stopped, and the next base is not below that. A closed counter deals tickets of at
//!   least `CLOSED`, which are void. Counting from 2^63 to 2^64 would take a spinning caller centuries, and each closing
//!   resets the counter.
//! - **The ticket is of range g.** The caller read `end` of g (acquire) before it drew. So its draw comes after T of g in
//!   the order of the counter's changes, and `t` is at least `base` of g, or void. With `t < end` it is within the range.
//! - **`origin` and `step` are of range g too.** They are at least as new as `end`, which is published last and read
//!   first. Suppose one of them is of a later range h.
//!   - If the draw came before T of h, it happened before T of h, as did the load before the draw. But the write that
//!     this load is said to have read comes after T of h: impossible.
//!   - So the draw came after T of h. Then `t` is at least `base` of h, which is at least `end` of g: `t < end` is false.
//!
//! The draw validates the three loads before it. No version has to be checked again, as a seqlock would require.
//! A ticket therefore always names the same number.
//!
//! A caller is *overtaken* if it drew a ticket of a range that it had not loaded. The mutex can still tell its number:
//! see [`TicketRanges::resolve`](super::ticket_ranges::TicketRanges::resolve).
//!
//! # Cases that need care
//!
//! - *Callers spinning on an empty reservoir* push the counter up. If tickets were offsets into the current block, these
//!   callers would carry into the next block and draw its numbers early. Here their tickets are below the next base,
//!   or void.
//! - *A reader stalled between load and draw* sees the comparison fail, however many ranges went by: ends and bases only
//!   grow. Nothing wraps: there are as many tickets (2^63) as numbers.
//! - *A reader stalled after its draw* holds three values in registers that no one can change.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

use sequent_core::Block;

/// The counter's value while no range is open: above every ticket that is a number.
pub(crate) const CLOSED: u64 = 1 << 63;

/// The most tickets of one draw. Draws on a closed counter then cannot carry it past 2^64.
pub(crate) const DRAW_MAX: u64 = 1 << 20;

/// A draw that found no number, or was overtaken. Only the holder of the mutex can tell which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MissedDraw {
    pub(crate) ticket: u64,
    pub(crate) count: u64,
}

/// The cache line that every draw writes, apart from what every draw only reads.
#[derive(Debug)]
#[repr(align(64))]
struct WrittenLine {
    next_ticket: AtomicU64,
    /// Numbers held by [`LocalHandle`](crate::LocalHandle)s. Here, since it changes when the counter does.
    lent: AtomicU64,
}

/// The counter and the open range.
#[derive(Debug)]
pub(crate) struct TicketCounter {
    written: WrittenLine,
    end: AtomicU64,
    origin: AtomicU64,
    step: AtomicU64,
    /// Changes when lent chunks must no longer be used: at a close, and when numbers expire.
    chunk_version: AtomicU64,
    /// How many numbers a local handle may take at once.
    chunk_size: AtomicU64,
}

impl Default for TicketCounter {
    fn default() -> Self {
        Self::new()
    }
}

impl TicketCounter {
    /// A closed counter without a range.
    pub(crate) fn new() -> Self {
        Self {
            written: WrittenLine { next_ticket: AtomicU64::new(CLOSED), lent: AtomicU64::new(0) },
            end: AtomicU64::new(0),
            origin: AtomicU64::new(0),
            step: AtomicU64::new(0),
            chunk_version: AtomicU64::new(0),
            chunk_size: AtomicU64::new(1),
        }
    }

    /// One number.
    #[inline]
    pub(crate) fn draw(&self) -> Result<u64, MissedDraw> {
        let end = self.end.load(Ordering::Acquire);
        let origin = self.origin.load(Ordering::Relaxed);
        let step = self.step.load(Ordering::Relaxed);
        let ticket = self.written.next_ticket.fetch_add(1, Ordering::AcqRel);
        if ticket < end {
            Ok(origin.wrapping_add(step.wrapping_mul(ticket)))
        } else {
            Err(MissedDraw { ticket, count: 1 })
        }
    }

    /// At most `count` numbers (at most [`DRAW_MAX`]) of the open range.
    pub(crate) fn draw_many(&self, count: u64) -> Result<Block, MissedDraw> {
        let count = count.clamp(1, DRAW_MAX);
        let end = self.end.load(Ordering::Acquire);
        let origin = self.origin.load(Ordering::Relaxed);
        let step = self.step.load(Ordering::Relaxed);
        let ticket = self.written.next_ticket.fetch_add(count, Ordering::AcqRel);
        let miss = MissedDraw { ticket, count };
        if ticket >= end {
            return Err(miss);
        }
        let first = origin.wrapping_add(step.wrapping_mul(ticket));
        Block::new(first, step, count.min(end - ticket)).map_err(|_| miss)
    }

    /// The next ticket; at least [`CLOSED`] while no range is open.
    pub(crate) fn next_ticket(&self) -> u64 {
        self.written.next_ticket.load(Ordering::Relaxed)
    }

    /// Closes the counter, or resets a closed one; returns where it stood. Only under the mutex.
    pub(crate) fn close(&self) -> u64 {
        self.written.next_ticket.swap(CLOSED, Ordering::AcqRel)
    }

    /// Opens `block` for the tickets from `base` on. Only under the mutex, and only while closed.
    pub(crate) fn open(&self, base: u64, block: Block) {
        self.step.store(block.step(), Ordering::Relaxed);
        self.origin.store(block.first().wrapping_sub(block.step().wrapping_mul(base)), Ordering::Relaxed);
        self.end.store(base + block.count(), Ordering::Release);
        self.written.next_ticket.swap(base, Ordering::AcqRel);
    }

    pub(crate) fn chunk_size(&self) -> u64 {
        self.chunk_size.load(Ordering::Relaxed)
    }

    pub(crate) fn set_chunk_size(&self, size: u64) {
        self.chunk_size.store(size, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn chunk_version(&self) -> u64 {
        self.chunk_version.load(Ordering::Relaxed)
    }

    /// Local handles stop using the chunks that they hold.
    pub(crate) fn revoke_chunks(&self) {
        self.chunk_version.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn lent(&self) -> u64 {
        self.written.lent.load(Ordering::Relaxed)
    }

    pub(crate) fn add_lent(&self, count: u64) {
        self.written.lent.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn sub_lent(&self, count: u64) {
        self.written.lent.fetch_sub(count, Ordering::Relaxed);
    }
}
