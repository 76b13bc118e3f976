//! SQL ledgers, written once: an engine brings statements, connections, and the way its instance id is made.

mod connection;
mod dialect;
mod load;
mod save;
mod scan;

use super::{Examined, Keys, Records, Scan, Selection};

pub(crate) use dialect::{LedgerSession, Statements};
