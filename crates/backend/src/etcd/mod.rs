//! etcd ledger: durable by quorum. It uses etcd's JSON gateway, which every etcd from 3.4 on has, so no build needs a
//! protobuf compiler.
//!
//! Reading order: `tls`, `http` (one connection), `client` (requests and answers of transactions), `fault` (errors),
//! `keys` (names of records), `instance` and `connect` (which instance answers), `connection`, `cluster` and `reach`
//! (which member is asked), then `ledger`. URL, options and pool are `net`'s.
//!
//! Properties that uniqueness rests on:
//!
//! - A call that writes is one etcd transaction; a large call is several, each complete by itself (see `ledger`). The
//!   transaction compares the revisions of the run's token, the layout, the caller's nonce and the version, which every
//!   change of a row raises. If one of them changed, nothing is written, and all are read again.
//! - Every read is linearizable: it returns what a quorum has. Without a quorum there is no answer.
//! - A transaction has at most 128 operations, etcd's default limit; it need not be raised.
//! - The instance is the cluster's id and the run's token. `instance` has the conditions for a new token: each
//!   election, a restart of the member that wrote the token, and a cluster created from a snapshot. It is the same
//!   through every member. The servers' nonces detect data restored within one run.
//! - etcd has no clock request. The gateway dates each answer to the second; this machine's clock supplies the
//!   milliseconds.
//! - A member that accepts a connection may still hang, or have lost the others. It counts as reached after an answer
//!   that needs a quorum. Until then the other members are asked too, each a moment after the one before (`reach`). A
//!   member that is late with an answer is abandoned if another one is reached.
//! - A connection is closed if a call on it was dropped, or failed with more than the call's own error. A call that has
//!   only read is then repeated on another connection. An expired login token is replaced by a new login.
//! - etcd fsyncs what it agrees on. A member without fsync is `Lossy`, if its metrics show it.
//!
//! Every write keeps the state before it until etcd compacts. Run etcd with `--auto-compaction-retention=5m` or less:
//! out of space, it accepts no writes.
//!
//! # Permissions
//!
//! A role for everything under the prefix, and nothing else:
//!
//! ```text
//! etcdctl role add sequent
//! etcdctl role grant-permission sequent readwrite --prefix=true sequent/
//! etcdctl user add sequent
//! etcdctl user grant-role sequent sequent
//! ```

mod client;
mod cluster;
mod connect;
mod connection;
mod fault;
mod http;
mod instance;
mod keys;
mod ledger;
mod reach;
mod tls;

pub use ledger::EtcdLedger;
