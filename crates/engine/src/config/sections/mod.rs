//! The tables of a configuration, a file each. Each setting is one entry, whose comment is its text on the reference
//! page.

pub(crate) mod audit;
pub(crate) mod cluster;
pub(crate) mod code_tables;
pub(crate) mod ledger;
pub(crate) mod limits;
pub(crate) mod listen;
pub(crate) mod obf_key;
pub(crate) mod place;
pub(crate) mod reservoir;
pub(crate) mod ring;
pub(crate) mod sequence;
pub(crate) mod server;
pub(crate) mod shard;
pub(crate) mod tls;
pub(crate) mod traces;
