//! What stores share that are no databases, and whose drivers bring no pool: addresses, secrets, faults, connections.

mod address;
#[cfg(any(feature = "redis", feature = "memcached"))]
mod beside;
mod fault;
mod pool;
mod secret;

pub(crate) use address::Address;
pub use address::Owner;
#[cfg(any(feature = "redis", feature = "memcached"))]
pub(crate) use beside::{SLOTS_MAX, beside};
pub(crate) use fault::Fault;
pub(crate) use pool::{Limits, Line, Pool, Work};
pub use secret::Password;
