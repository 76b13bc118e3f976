//! High availability: the ring of 2^n slots that share the work, health of its members, and a failover of endpoints.
//!
//! A [`Ring`] turns one counter per slot (the guard's, with raw ids) into one [`Source`](sequent_core::Source) of encoded
//! ids per key. It asks the slots in parallel and evicts those that fail. One real take brings a slot back, and no slot
//! delays the others. The ring reads the verdicts of errors, never their texts.
//!
//! Reading order: [`RingConfig`], `health` (one member, pure), `membership` (all members, one snapshot), `timeout_store`
//! (the store decorator that reports to them), `ring` with `slot_blocks` (the arithmetic), `key` (one key's counters) and
//! `take` (one take of a key), then [`Failover`] for members that are not slots.
//!
//! This crate knows no store, no ledger, no demand and no template.

mod config;
mod failover;
mod health;
mod membership;
mod ring;
mod status;
mod sync;
mod timeout_store;

pub use self::{
    config::RingConfig,
    failover::{Failover, outcome::Outcome},
    ring::{Ring, source::RingSource},
    status::{SlotCounts, SlotState, SlotStatus},
};
