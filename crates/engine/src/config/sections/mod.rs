//! The tables of a configuration, a file each.

mod kind;
pub(crate) mod ledger;
pub(crate) mod limits;
pub(crate) mod listen;
pub(crate) mod obf_key;
pub(crate) mod reservoir;
pub(crate) mod ring;
pub(crate) mod sequence;
pub(crate) mod server;
pub(crate) mod shard;
pub(crate) mod traces;
