//! Shutdown of a server: its phases, and the drain before it ends.

pub(crate) mod drain;
pub(crate) mod phase;
