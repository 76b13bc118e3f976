//! What is asked of others, with how often, how long and how it ended: decorators that change nothing.

mod ledger;
mod refills;
mod store;
mod tally;
mod waits;

pub(crate) use ledger::Metered as MeteredLedger;
pub(crate) use refills::{MeteredSource, Refills};
pub(crate) use store::Metered as MeteredStore;
use tally::Tally;
pub(crate) use waits::Waits;
