//! Decorators that count and time calls to ledger, stores and reservoirs. They change nothing.

mod ledger;
mod refills;
mod store;
mod tally;
mod waits;

pub(crate) use ledger::Metered as MeteredLedger;
pub(crate) use refills::Refills;
pub(crate) use store::Metered as MeteredStore;
use tally::Tally;
pub(crate) use waits::Waits;
