//! Store and ledger in memory: the reference for every backend, and the base of simulations.
//!
//! [`Cells`] has the store's calls as a pure state machine, without async, clocks or randomness. [`LedgerState`] is the
//! data of a ledger. [`MemoryStore`] and [`MemoryLedger`] put them behind a mutex and give them an instance.

mod cells;
mod instance;
mod ledger;
mod store;

pub use crate::store::CellState;
pub use cells::Cells;
pub use ledger::{LedgerState, MemoryLedger, MemoryLedgerEngine};
pub use store::MemoryStore;

use instance::CurrentInstance;

/// The engine's version, as store and ledger report it.
const VERSION: &str = concat!("memory ", env!("CARGO_PKG_VERSION"));

/// Yields to other tasks, if `yields` is set.
async fn pause(yields: bool) {
    if yields {
        tokio::task::yield_now().await;
    }
}
