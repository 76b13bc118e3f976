//! etcd: a ledger whose durability is that of a quorum. It is spoken to through its JSON gateway, as every etcd from 3.4 on
//! has it, so that no build needs a compiler of protocols.
//!
//! Reading order: `tls`, `http` (one connection), `gateway` (transactions, as they are asked and answered), `fault` (what
//! etcd says, and what it means), `names` (what each thing is called), `run` and `opening` (which instance answers),
//! `connection`, `cluster` and `reach` (which member is asked), then `ledger`. URL, options and pool are `net`'s.
//!
//! What it rests on:
//!
//! - A call that writes is one transaction of etcd (a large one several, each a call by itself, see `ledger`). It
//!   compares the revisions of the run's token, the layout, the caller's nonce and the version, without which no row moves;
//!   where one of them moved, it has written nothing, and reads all of them anew.
//! - Every read is linearizable: of a quorum, never of one member alone. Without a quorum, nothing is answered.
//! - A transaction of etcd has at most 128 operations, which is its default and is not asked to be raised.
//! - The instance is the cluster's id and the run's token: `run` says when another one is left. It changes with each
//!   election, with the start of a member that left it, and with a cluster made of a snapshot; not with the member that is
//!   asked. Data that was put back within one run is found by the nonces.
//! - etcd has no clock to ask. Its gateway dates each answer to the second; the part of the second is this machine's.
//! - That a member accepts a connection says nothing: it may hang, or have lost the others. It counts as reached once it
//!   has answered what it has to ask a quorum for; until then the others are asked beside it, each a moment after the one
//!   before (`reach`). One that is late with an answer, while another one is reached, is left.
//! - A connection whose call was dropped, or that failed with more than an answer, is closed. A call that has only read
//!   by then is done again on another one. A token of a login that has expired is replaced by logging in again.
//! - etcd fsyncs what it agrees on; a member that was told not to is `Lossy`, where its metrics tell.
//!
//! Every write leaves the state before it until etcd compacts: run it with `--auto-compaction-retention=5m`, or less; out of
//! space, it takes no writes.
//!
//! # Permissions
//!
//! A role for everything under the prefix, and no more:
//!
//! ```text
//! etcdctl role add sequent
//! etcdctl role grant-permission sequent readwrite --prefix=true sequent/
//! etcdctl user add sequent
//! etcdctl user grant-role sequent sequent
//! ```

mod cluster;
mod connection;
mod fault;
mod gateway;
mod http;
mod ledger;
mod names;
mod open;
mod opening;
mod reach;
mod run;
mod tls;
mod value;

pub use ledger::{EtcdLedger, EtcdLedgerEngine};
pub(crate) use open::open_ledger;
