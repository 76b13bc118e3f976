//! The servers of the testkit do to real programs what its tests rely on.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod caches;
mod databases;
mod etcd;
mod orphan;
