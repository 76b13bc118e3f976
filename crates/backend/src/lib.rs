//! The stores and ledgers, one folder an engine, each behind a feature.
//!
//! A backend counts in cells, with lives, and knows nothing of slots, rings, templates or retry.

#[cfg(feature = "memory")]
pub mod memory;
#[cfg(feature = "sqlite")]
pub mod sqlite;
