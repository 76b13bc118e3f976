//! Numbers ready in memory, filled ahead of demand.
//!
//! From below to above: [`Expansion`] turns each encoded id into 2^m consecutive numbers, [`Spanned`] turns those into
//! the numbers that users see, and a [`Reservoir`] keeps some of them ready: taking one is a synchronous, lock-free
//! path, and its future is ready at the first poll.
//!
//! Suggested reading order: `gate` (the hot path and why nothing repeats), `tickets`, `turn`, `appetite`.
//! This crate does not know how many shards there are, why a source failed, or what a template is.

#![cfg_attr(loom, allow(dead_code, reason = "under loom only the gate and its tickets are built"))]

mod gate;
mod lot;
mod tickets;

#[cfg(not(loom))]
mod rooms {
    pub use crate::{
        appetite::{Appetite, Needs},
        burnt::WHY_BURNT,
        config::{ReservoirConfig, Setting, Spawner},
        error::TakeError,
        expansion::Expansion,
        local::{Local, LocalNext},
        next::Next,
        reservoir::{Dry, Reservoir},
        spanned::Spanned,
        stats::Stats,
    };
}

#[cfg(not(loom))]
mod appetite;
#[cfg(not(loom))]
mod burnt;
#[cfg(not(loom))]
mod config;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
mod expansion;
#[cfg(not(loom))]
mod inner;
#[cfg(not(loom))]
mod local;
#[cfg(not(loom))]
mod next;
#[cfg(not(loom))]
mod queue;
#[cfg(not(loom))]
mod refill;
#[cfg(not(loom))]
mod reservoir;
#[cfg(not(loom))]
mod spanned;
#[cfg(not(loom))]
mod stats;
#[cfg(not(loom))]
mod stock;
#[cfg(not(loom))]
mod turn;
#[cfg(not(loom))]
mod wait;

#[cfg(not(loom))]
pub use rooms::*;

#[cfg(all(test, loom))]
mod model;
