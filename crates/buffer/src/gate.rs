//! The hot path: one word that deals tickets, beside the range that turns a ticket into a number.
//!
//! # How a number is taken
//!
//! The word only ever counts up. `fetch_add` deals a *ticket*; the open range says which tickets are numbers
//! (those below `end`) and which number each is (`origin + step * ticket`, wrapping). Everything else (waiting blocks,
//! waiting callers, which tickets a range begins with) lies under one mutex that only a *turn* touches.
//!
//! A caller loads the range first (`end`, then `origin` and `step`), draws its ticket last, and compares once.
//! A turn, alone under the mutex, does four things in this order:
//!
//! 1. *closes* the word: `T: word.swap(CLOSED)`, with `CLOSED = 2^63`, above every `end`;
//! 2. chooses `base`, at least the `end` of every earlier range and above every ticket that was ever dealt below `CLOSED`;
//! 3. writes the next range: `step`, `origin`, then `end = base + count`;
//! 4. *opens* the word: `O: word.swap(base)`.
//!
//! Draws and turns change the word by read-modify-writes only, all of them acquire and release: their order is one chain,
//! and each change happens before the next. (With a plain store as O, what a draw on the closed word leaves could be
//! ordered after O in loom's eyes.)
//!
//! # Why no number is given twice
//!
//! Call ranges 1, 2, 3, … in the order of their turns, and let a caller draw ticket `t < end` with `end` of range g.
//!
//! - **Each ticket below `CLOSED` is dealt once.** Between an opening and the next closing the word only counts up, the
//!   closing returns where it stopped, and the next base is not below that. What is dealt by a closed word is at least
//!   `CLOSED` and void. (Counting from 2^63 to 2^64 would take a spinning caller centuries, and each turn resets it.)
//! - **The ticket is of range g.** The caller read `end` of g (acquire) before it drew; so its draw comes after T of g in
//!   the order of the word's changes, and `t` is at least `base` of g, or void. With `t < end` it is within the range.
//! - **`origin` and `step` are of range g too.** They are at least as new as `end`, which is published last and read
//!   first. Suppose one is of a later range h. If the draw came before T of h, it happened before T of h, as
//!   did the load before the draw; but the write that this load is said to have read comes after T of h: impossible.
//!   So the draw came after T of h, and `t` is at least `base` of h, which is at least `end` of g: `t < end` is false.
//!
//! The draw validates the three loads before it: there is no version to check again, as a seqlock would need.
//! A ticket therefore names one number for ever, and the mutex may answer later for a caller that was *overtaken*
//! (drew a ticket of a range that it had not loaded): see [`Tickets::resolve`](crate::tickets::Tickets::resolve).
//!
//! # The traps, and what became of them
//!
//! - *Callers spinning on a dry reservoir* push the word up. With tickets that are offsets into the current block, they
//!   would carry into the next one and draw its numbers early. Here, what they draw is below the next base, or void.
//! - *A reader stalled between load and draw* sees the comparison fail, however many ranges went by: ends and bases only
//!   grow. Nothing wraps: 2^63 tickets are as many as there are numbers.
//! - *A reader stalled after its draw* holds three values in registers that no one can change.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

use sequent_core::Block;

/// Where the word stands while no range is open: above every ticket that is a number.
pub(crate) const CLOSED: u64 = 1 << 63;

/// The most tickets that one draw may take, so that draws on a closed word cannot carry it past 2^64.
pub(crate) const DRAW_MAX: u64 = 1 << 20;

/// A draw that found no number, or was overtaken: only the mutex can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Miss {
    pub(crate) ticket: u64,
    pub(crate) count: u64,
}

/// What every draw writes, away from what every draw only reads.
#[derive(Debug)]
#[repr(align(64))]
struct Drawn {
    word: AtomicU64,
    /// Numbers in the hands of [`Local`](crate::Local)s. Here, since it changes when the word does.
    lent: AtomicU64,
}

/// The word and the open range.
#[derive(Debug)]
pub(crate) struct Gate {
    drawn: Drawn,
    end: AtomicU64,
    origin: AtomicU64,
    step: AtomicU64,
    /// Changes when what was lent must no longer be used: at a close, at the expiry of what aged.
    epoch: AtomicU64,
    /// How many numbers a handle of its own may carve at once.
    chunk: AtomicU64,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// Closed, with nothing behind it.
    pub(crate) fn new() -> Self {
        Self {
            drawn: Drawn { word: AtomicU64::new(CLOSED), lent: AtomicU64::new(0) },
            end: AtomicU64::new(0),
            origin: AtomicU64::new(0),
            step: AtomicU64::new(0),
            epoch: AtomicU64::new(0),
            chunk: AtomicU64::new(1),
        }
    }

    /// One number.
    #[inline]
    pub(crate) fn draw(&self) -> Result<u64, Miss> {
        let end = self.end.load(Ordering::Acquire);
        let origin = self.origin.load(Ordering::Relaxed);
        let step = self.step.load(Ordering::Relaxed);
        let ticket = self.drawn.word.fetch_add(1, Ordering::AcqRel);
        if ticket < end {
            Ok(origin.wrapping_add(step.wrapping_mul(ticket)))
        } else {
            Err(Miss { ticket, count: 1 })
        }
    }

    /// At most `count` numbers (at most [`DRAW_MAX`]) of the open range.
    pub(crate) fn draw_many(&self, count: u64) -> Result<Block, Miss> {
        let count = count.clamp(1, DRAW_MAX);
        let end = self.end.load(Ordering::Acquire);
        let origin = self.origin.load(Ordering::Relaxed);
        let step = self.step.load(Ordering::Relaxed);
        let ticket = self.drawn.word.fetch_add(count, Ordering::AcqRel);
        let miss = Miss { ticket, count };
        if ticket >= end {
            return Err(miss);
        }
        let first = origin.wrapping_add(step.wrapping_mul(ticket));
        Block::new(first, step, count.min(end - ticket)).map_err(|_| miss)
    }

    /// Where the word stands; at least [`CLOSED`] while no range is open.
    pub(crate) fn word(&self) -> u64 {
        self.drawn.word.load(Ordering::Relaxed)
    }

    /// Closes the word, or resets a closed one; returns where it stood. Only under the turn's mutex.
    pub(crate) fn close(&self) -> u64 {
        self.drawn.word.swap(CLOSED, Ordering::AcqRel)
    }

    /// Opens `block` for the tickets from `base` on. Only under the turn's mutex, and only while closed.
    pub(crate) fn open(&self, base: u64, block: Block) {
        self.step.store(block.step(), Ordering::Relaxed);
        self.origin.store(block.first().wrapping_sub(block.step().wrapping_mul(base)), Ordering::Relaxed);
        self.end.store(base + block.count(), Ordering::Release);
        self.drawn.word.swap(base, Ordering::AcqRel);
    }

    pub(crate) fn chunk(&self) -> u64 {
        self.chunk.load(Ordering::Relaxed)
    }

    pub(crate) fn set_chunk(&self, chunk: u64) {
        self.chunk.store(chunk, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    pub(crate) fn next_epoch(&self) {
        self.epoch.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn lent(&self) -> u64 {
        self.drawn.lent.load(Ordering::Relaxed)
    }

    pub(crate) fn lend(&self, count: u64) {
        self.drawn.lent.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn unlend(&self, count: u64) {
        self.drawn.lent.fetch_sub(count, Ordering::Relaxed);
    }
}
