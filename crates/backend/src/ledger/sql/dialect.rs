//! What an SQL engine brings.

use std::future::Future;

use sequent_core::{
    Durability, Fact, InstanceId,
    ledger::{Answer, DenseAsk, DenseTaken, Pass},
};

use crate::{
    net::{Fault, TxMode},
    sql::{Many, SqlSession},
};

/// How the ledger is held until a transaction has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// Against all others: they follow one after the other.
    Write,
    /// So that all that is read is of one moment.
    Read,
    /// Not at all, on a connection that can change nothing.
    Look,
}

/// What an engine says of itself.
#[derive(Debug)]
pub(crate) struct SqlFacts {
    /// How much outlives a crash.
    pub(crate) durability: Durability,
    /// Its name and version, for people.
    pub(crate) engine: String,
    /// What tells that it takes writes from another master, too.
    pub(crate) other_master: Option<String>,
}

/// A connection to a ledger's tables.
pub(crate) trait LedgerSession: SqlSession + 'static {
    /// How a look at what the ledger says of itself is held together.
    const INSPECTS_BY: TxMode = TxMode::Read;

    /// The engine's statements.
    const STATEMENTS: &'static Statements;

    /// Who speaks here if the ledger's token is `token`.
    fn speaks_by(&self, token: &str) -> InstanceId;

    /// Holds the ledger; returns its token, and its clock in milliseconds since 1970.
    fn hold(&mut self, hold: Hold) -> impl Future<Output = Result<(String, u64), Fault>> + Send;

    /// What the engine says of itself.
    fn facts(&mut self) -> impl Future<Output = Result<SqlFacts, Fault>> + Send;

    /// Whether it counts in one statement, where nothing speaks against it.
    const COUNTS_AT_ONCE: bool = false;

    /// Counts in one statement; `None`: nothing was written.
    fn count_at_once(
        &mut self,
        pass: &Pass<'_>,
        asks: &[DenseAsk],
    ) -> impl Future<Output = Result<Option<Answer<Vec<DenseTaken>>>, Fault>> + Send {
        let _ = (pass, asks);
        std::future::ready(Ok(None))
    }

    /// What is worth knowing besides.
    fn examine(&mut self, facts: &SqlFacts) -> impl Future<Output = Result<Vec<Fact>, Fault>> + Send;
}

/// The statements of a dialect, each with what it is given.
///
/// Columns of a counter: `slot, k, epoch, store, ledger, base, ceiling, seen, opened_at`.
#[derive(Debug)]
pub(crate) struct Statements {
    /// `(server)`: `nonce, version, catalog, floor, accepted`, and of the layout `cluster, shard_bits, memory_bits, generation,
    /// next_shard_bits, next_memory_bits, fenced`.
    pub(crate) head: &'static str,
    /// `id, version, token`.
    pub(crate) identity: &'static str,

    /// `(slot, k)` each: columns of a counter.
    pub(crate) read_counters: Many,
    /// All counters: `(most)`.
    pub(crate) all_counters: &'static str,
    /// Those of a sequence: `(k, from, below, most)`.
    pub(crate) counters_of: &'static str,
    /// Those of a slot: `(slot, from, below, most)`.
    pub(crate) counters_between: &'static str,
    /// `(since, most)`: `slot, k, epoch, seen, moved`.
    pub(crate) moved: &'static str,
    /// `(k, slot)`: `epoch, base, ceiling`.
    pub(crate) history: &'static str,
    /// Columns of a counter and the version, each.
    pub(crate) write_counters: Many,
    /// `(slot, k, epoch, ceiling, seen, version)` each, where the row is there and of that epoch; `None` where the whole row is
    /// written as well.
    pub(crate) raise_counters: Option<Many>,
    /// `(slot, k, epoch, base, ceiling)` each.
    pub(crate) write_history: Many,
    /// `(slot, k)` each.
    pub(crate) delete_counters: Many,
    /// `(slot, k)` each.
    pub(crate) delete_history: Many,
    /// Of nobody: whoever may do this may delete.
    pub(crate) delete_none: &'static [&'static str],

    /// `(k)` each, held until the transaction ends: `k, v, begun_at`. Rows that others hold are left out.
    pub(crate) hold_dense: Many,
    /// `(k)` each: `k` of those that there are, whoever holds them; `None` where nobody can hold a row alone.
    pub(crate) known_dense: Option<Many>,
    /// `(most)`: `k, v, begun_at`.
    pub(crate) all_dense: &'static str,
    /// `(k, from, below, most)`.
    pub(crate) dense_of: &'static str,
    /// `(from, below, most)`.
    pub(crate) dense_between: &'static str,
    /// `(k, v, begun_at)` each, of counters that have a row.
    pub(crate) write_dense: Many,
    /// The same of counters that have none; a row that is there all the same stays as it is.
    pub(crate) begin_dense: Many,
    /// `(k)` each.
    pub(crate) delete_dense: Many,

    /// `(k)` each: `k, number`.
    pub(crate) read_notes: Many,
    /// `k, number`.
    pub(crate) all_notes: &'static str,
    /// `(k, number)` each.
    pub(crate) write_notes: Many,
    /// `(k)` each.
    pub(crate) delete_notes: Many,

    /// `(name)`: `name, version, body` of the highest version.
    pub(crate) definition: &'static str,
    /// The same of each.
    pub(crate) all_definitions: &'static str,
    /// `(name, version, body)`.
    pub(crate) write_definition: &'static str,

    /// `slot, verb, who, why, at_ms, until_ms`.
    pub(crate) commands: &'static str,
    /// The same.
    pub(crate) write_command: &'static str,

    /// `slot, instance`.
    pub(crate) stores: &'static str,
    /// `(slot, instance)`.
    pub(crate) write_store: &'static str,
    /// All of them.
    pub(crate) delete_stores: &'static str,

    /// `(version, catalog, floor, accepted or null, token or null)`.
    pub(crate) write_meta: &'static str,
    /// The columns of the layout.
    pub(crate) write_layout: &'static str,
    /// `(loss)` each: ceilings and `seen`, dense counters.
    pub(crate) add_loss: &'static [&'static str],

    /// `(server, nonce, seen_ms)`.
    pub(crate) write_server: &'static str,
    /// `(oldest, kept, most)`: while there are more than `kept`, the longest silent go of those that are silent since before `oldest`,
    /// at most `most`.
    pub(crate) purge_servers: &'static str,
    /// `(server)`.
    pub(crate) delete_server: &'static str,
}
