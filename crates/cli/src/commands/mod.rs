//! Commands, one file each: arguments, examples, and action.

pub(crate) mod advance;
pub(crate) mod audit;
pub(crate) mod bench;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod define;
pub(crate) mod dev;
pub(crate) mod doctor;
pub(crate) mod drain;
pub(crate) mod evict;
pub(crate) mod explain;
pub(crate) mod forget;
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod next;
pub(crate) mod parse;
pub(crate) mod preview;
pub(crate) mod recover;
pub(crate) mod rescue;
pub(crate) mod resize;
pub(crate) mod serve;
pub(crate) mod shards;
pub(crate) mod show;
mod slot_command;
pub(crate) mod token;
