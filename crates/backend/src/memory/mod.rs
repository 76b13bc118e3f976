//! Store and ledger in memory: the reference for what every backend does, and the ground floor of simulations.
//!
//! [`Cells`] is the store's verbs as a pure state machine, without async, clocks or randomness, and [`LedgerState`] what a ledger
//! holds; [`MemoryStore`] and [`MemoryLedger`] put them behind a mutex and give them an instance.

mod cells;
mod ledger;
mod open;
mod speaker;
mod store;

pub use cells::{CellState, Cells};
pub use ledger::{LedgerState, MemoryLedger, MemoryLedgerEngine};
pub(crate) use open::{open_ledger, open_store};
pub use store::MemoryStore;

use speaker::Speaker;

/// What store and ledger say of their engine.
const VERSION: &str = concat!("memory ", env!("CARGO_PKG_VERSION"));

/// Lets other tasks run, where asked for.
async fn pause(yields: bool) {
    if yields {
        tokio::task::yield_now().await;
    }
}
