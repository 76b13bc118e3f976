//! The real guard, ring, expansion, span and reservoir on scripted stores and ledgers, in paused time: every seed is a
//! history of crashes, copies, restores, deletions, cuts and lost messages, and every id that leaves a guard is checked.
//!
//! A seed that fails is replayed with `SEQUENT_SEED=N cargo nextest run -p sequent-simulation one_seed`.

mod dice;
mod faults;
mod home;
mod ledger;
mod network;
mod resizing;
mod run;
mod scenario;
mod server;
mod spans;
mod store;
mod world;

pub use resizing::run_resizing;
pub use run::{Outcome, run_named, run_seed};
pub use scenario::{Fault, SCENARIOS, Scenario};
