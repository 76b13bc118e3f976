//! Interface of an SQL engine's ledger: session and statements.

use std::future::Future;

use sequent_core::{
    InstanceId,
    ledger::{Answer, DenseAsk, DenseTaken, Pass},
};

use crate::{
    net::{Fault, TxMode},
    sql::{Many, SqlSession},
};

/// A connection to a ledger's tables.
pub(crate) trait LedgerSession: SqlSession + 'static {
    /// Transaction mode of an inspection.
    const INSPECT_MODE: TxMode = TxMode::Read;

    /// The engine's statements.
    const STATEMENTS: &'static Statements;

    /// The instance that a ledger with this token has here.
    fn instance_of(&self, token: &str) -> InstanceId;

    /// Locks the ledger: for `Write` exclusively, so that transactions follow one another; for `Read` against writers, if
    /// a consistent read needs it; for `Single` not at all. Returns its token, and its clock in milliseconds since 1970.
    fn hold(&mut self, mode: TxMode) -> impl Future<Output = Result<(String, u64), Fault>> + Send;

    /// A sign that the server also takes writes from another master, if there is one.
    fn other_master(&mut self) -> impl Future<Output = Result<Option<String>, Fault>> + Send {
        std::future::ready(Ok(None))
    }

    /// Whether the engine can count in one statement.
    const HAS_COUNT_STATEMENT: bool = false;

    /// Counts in one statement. `None`: nothing was written.
    fn count_in_one_statement(
        &mut self,
        pass: &Pass<'_>,
        asks: &[DenseAsk],
    ) -> impl Future<Output = Result<Option<Answer<Vec<DenseTaken>>>, Fault>> + Send {
        let _ = (pass, asks);
        std::future::ready(Ok(None))
    }
}

/// The statements of a dialect, each with its parameters.
///
/// Columns of a counter: `slot, k, epoch, store, ledger, base, ceiling, seen, opened_at`.
#[derive(Debug)]
pub(crate) struct Statements {
    /// `(server)`: `nonce, version, catalog, floor, accepted`, and the body of the layout's document.
    pub(crate) head: &'static str,
    /// `id, version, token`.
    pub(crate) identity: &'static str,

    /// `(slot, k)` each: columns of a counter.
    pub(crate) read_counters: Many,
    /// All counters: `(most)`.
    pub(crate) all_counters: &'static str,
    /// The counters of a sequence: `(k, from, below, most)`.
    pub(crate) counters_of: &'static str,
    /// The counters of a slot: `(slot, from, below, most)`.
    pub(crate) counters_between: &'static str,
    /// `(since, most)`: `slot, k, epoch, seen, moved`.
    pub(crate) moved: &'static str,
    /// `(k, slot)`: `epoch, base, ceiling`.
    pub(crate) history: &'static str,
    /// Columns of a counter and the version, each.
    pub(crate) write_counters: Many,
    /// `(slot, k, epoch, base, ceiling)` each.
    pub(crate) write_history: Many,
    /// `(slot, k)` each.
    pub(crate) delete_counters: Many,
    /// `(slot, k)` each.
    pub(crate) delete_history: Many,
    /// Deletes no row: succeeds only with the privilege to delete.
    pub(crate) delete_none: &'static [&'static str],

    /// `(k)` each: `k, v, begun_at`, locked until the transaction ends. Rows locked by others are left out.
    pub(crate) hold_dense: Many,
    /// `(k)` each: `k` of the existing rows, locked or not; `None` if single rows can't be locked.
    pub(crate) known_dense: Option<Many>,
    /// `(most)`: `k, v, begun_at`.
    pub(crate) all_dense: &'static str,
    /// `(k, from, below, most)`.
    pub(crate) dense_of: &'static str,
    /// `(from, below, most)`.
    pub(crate) dense_between: &'static str,
    /// `(k, v, begun_at)` each, of counters that have a row.
    pub(crate) write_dense: Many,
    /// `(k, v, begun_at)` each, of counters without a row. A row that exists after all stays as it is.
    pub(crate) begin_dense: Many,
    /// `(k)` each.
    pub(crate) delete_dense: Many,

    /// `(name)` each: `name, body`.
    pub(crate) read_documents: Many,
    /// `(from, below)`: `name, body`, ascending by name.
    pub(crate) documents_in: &'static str,
    /// `(name, body)` each.
    pub(crate) write_documents: Many,
    /// `(name)` each.
    pub(crate) delete_documents: Many,
    /// `(from, below)`.
    pub(crate) delete_documents_in: &'static str,

    /// `(version, catalog, floor, accepted or null, token or null)`.
    pub(crate) write_meta: &'static str,
    /// `(loss)` each: adds to ceilings and `seen`, and to dense counters.
    pub(crate) add_loss: &'static [&'static str],

    /// `(server, nonce, seen_ms)`.
    pub(crate) write_server: &'static str,
    /// `(oldest, kept, most)`: if there are more than `kept` rows, deletes at most `most` of those silent since before
    /// `oldest`, longest silent first.
    pub(crate) purge_servers: &'static str,
    /// `(server)`.
    pub(crate) delete_server: &'static str,
}
