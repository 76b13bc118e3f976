//! What stores share that are no databases, and whose drivers bring no pool: addresses, secrets, faults, connections.

mod address;
mod fault;
mod pool;
mod secret;

pub(crate) use address::Address;
pub use address::Owner;
pub(crate) use fault::Fault;
pub(crate) use pool::{Limits, Line, Pool, Work};
pub use secret::Password;
