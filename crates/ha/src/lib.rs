//! Health of members: the ring of 2^n slots that shares work among them, and a failover of endpoints.
//!
//! A [`Ring`] turns one counter a slot (the guard's, raw ids) into one [`Source`](sequent_core::Source) of encoded ids
//! a key: it asks the slots in parallel, keeps out those that fail, brings them back by one real take, and never
//! lets one of them hold up the others. It reads verdicts of errors, never their texts.
//!
//! Suggested reading order: [`RingConfig`], `health` (one member, pure), `roster` (all members, one snapshot),
//! `timed` (the store decorator that feeds them), `shares` and `join` (the arithmetic), `refill` (one take),
//! `ask` (one slot's part in it), [`Ring`]; [`Failover`] for members that are not slots.
//!
//! This crate knows no store, no ledger, no demand and no template.

mod config;
mod counts;
mod failover;
mod health;
mod join;
mod ring;
mod roster;
mod shares;
mod snapshot;
mod status;
mod timed;

pub use config::RingConfig;
pub use failover::{Failover, Said};
pub use ring::{Ring, RingSource};
pub use status::{SlotCounts, SlotState, SlotStatus};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks what keys or tasks share. What another task left behind when it panicked is whole: no critical section of
/// this crate ends halfway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    note_shared_write();
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Marks each place that writes what others read: tests prove that a success on a clean slot passes none of them.
fn note_shared_write() {
    #[cfg(test)]
    SHARED_WRITES.with(|writes| writes.set(writes.get() + 1));
}

#[cfg(test)]
thread_local! {
    static SHARED_WRITES: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}
