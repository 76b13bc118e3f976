//! Slots and stores of the next layout, from the configurations and an operator's request.

use sequent_core::{
    Layout, SlotIndex,
    ledger::{LayoutPage, ResizeStep},
};
use sequent_engine::{
    OpenError,
    config::{Config, ShardPart},
};

use super::Wish;

/// n and m of the next layout.
pub(super) fn next(config: &Config, page: &LayoutPage, wish: &Wish) -> Result<Layout, OpenError> {
    let held = if let ResizeStep::Fenced(next) = page.step { next } else { page.layout };
    let n = wish.shard_bits.or(config.ring.shard_bits).unwrap_or_else(|| held.shard_bits());
    let m = wish.memory_bits.or(config.ring.memory_bits).unwrap_or_else(|| held.memory_bits());
    Layout::new(n, m).map_err(|error| OpenError::Refused(error.to_string()))
}

/// Every store of the next layout with its slot in it, and the stores of the previous layout that are not
/// among them.
pub(super) fn parts(
    config: &Config,
    leaving: Option<&Config>,
    (page, next): (&LayoutPage, Layout),
) -> Vec<(Option<SlotIndex>, ShardPart)> {
    let named = config.shards_of(next);
    let before = match leaving {
        Some(leaving) => leaving.shards_of(page.layout),
        // The files of a ring that shrinks.
        None if config.shards.is_none() => config.shards_of(page.layout),
        None => Vec::new(),
    };
    let leaves = before.into_iter().filter(|part| !named.contains(part)).map(|part| (None, part));
    let leaves: Vec<_> = leaves.collect();
    named.into_iter().map(|part| (Some(part.slot), part)).chain(leaves).collect()
}
