//! Prefetched numbers of one key: a [`Reservoir`] holds numbers in memory and refills itself ahead of demand.
//!
//! Two sources stand between the ring and a reservoir. [`BitExpansion`] turns each encoded id into 2^m consecutive
//! numbers. [`RangeMapping`] turns those into the numbers that users see.
//!
//! Reading order: `fast_path` (how a number is issued without a lock, and why none is issued twice), `locked` (the
//! slow path, under one mutex), `reservoir` (the public handle and its futures), `refill_policy` (how much to ask for).
//!
//! This crate does not know how many shards there are, why a source failed, or what a template is.

#![cfg_attr(loom, allow(dead_code, reason = "under loom only the fast path is built"))]

mod expiring_block;
mod fast_path;

#[cfg(not(loom))]
mod config;
#[cfg(not(loom))]
mod discard_reason;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
mod locked;
#[cfg(not(loom))]
mod refill_policy;
#[cfg(not(loom))]
mod reservoir;
#[cfg(not(loom))]
mod shared;
#[cfg(not(loom))]
mod source;
#[cfg(not(loom))]
mod stats;

#[cfg(not(loom))]
pub use self::{
    config::{ReservoirConfig, ReservoirContext, Spawner},
    discard_reason::DISCARD_REASONS,
    error::TakeError,
    refill_policy::{Demand, RefillPolicy},
    reservoir::{
        Empty, Reservoir,
        local_handle::{LocalHandle, LocalNext},
        next::Next,
    },
    source::{bit_expansion::BitExpansion, range_mapping::RangeMapping},
    stats::Stats,
};
