//! Store and ledger in memory: the reference for what every backend does, and the ground floor of simulations.
//!
//! [`Cells`] and [`Book`] are the verbs as pure state machines, without async, clocks or randomness;
//! [`MemoryStore`] and [`MemoryLedger`] put them behind a mutex and give them an incarnation.

mod book;
mod cells;
mod ledger;
mod speaker;
mod store;

pub use book::Book;
pub use cells::{CellState, Cells};
pub use ledger::MemoryLedger;
pub use store::MemoryStore;

use speaker::{Speaker, reborn_unless};

/// What store and ledger say of their engine.
const VERSION: &str = concat!("memory ", env!("CARGO_PKG_VERSION"));

/// Lets other tasks run, where asked for.
async fn pause(yields: bool) {
    if yields {
        tokio::task::yield_now().await;
    }
}
