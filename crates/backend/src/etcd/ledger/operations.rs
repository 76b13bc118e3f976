//! etcd ledger operations: transaction, view, inspection and examination.

use sequent_core::{
    LedgerId, SourceError,
    ledger::{LedgerInspection, ServerId},
};

use super::{
    facts::{durability, facts},
    formats::KeptServer,
    load::{Loaded, reads},
    pages::view,
    save::change,
    transact::{Change, Step, look, transact},
};
use crate::{
    etcd::{
        answers::Kv,
        client::{Op, Span},
        connect::About,
        connection::Connection,
    },
    ledger::{
        Examined, Keys, Records, Refusal, Scan, Selection, Token,
        documents::{parsed, unreadable},
    },
    net::{Fault, Operation, token},
};

/// Number of servers' rows that are kept however old they are, so that a server suspended for days is still known when
/// it wakes.
const SERVERS_KEPT: usize = 1024;

/// The most server rows that one enlistment reads, and the most that it removes.
const SERVERS_SEEN_MAX: u64 = 2048;
const SERVERS_PURGED_MAX: usize = 50;

/// Reads records, decides, and writes changes.
pub(super) struct Transaction<'a, F> {
    pub(super) verb: &'static str,
    pub(super) selection: &'a Selection<'a>,
    pub(super) decide: F,
}

impl<T: Send, F> Operation<Connection> for Transaction<'_, F>
where
    F: Fn(&mut Records) -> Result<T, Refusal> + Send + Sync,
{
    type Out = T;

    fn name(&self) -> &'static str {
        self.verb
    }

    async fn run(&self, connection: &mut Connection) -> Result<T, Fault> {
        let (cluster, names) = (connection.cluster(), connection.names());
        let fresh = self.selection.token.then(|| token(connection.env()));
        let fresh = fresh.map(|text| Token { instance: cluster.instance(&text), text });
        let rests_on_rows = !(self.selection.counters.is_empty() && self.selection.dense.is_empty());
        let reads = reads(&names, self.selection);
        let (value, silent_since) = transact(connection, &reads, |answers| {
            let mut loaded = Loaded::of(cluster, &names, self.selection, answers)?;
            loaded.records.token.clone_from(&fresh);
            let value = (self.decide)(&mut loaded.records).map_err(|refusal| match refusal {
                Refusal::Answer(error) | Refusal::OtherInstance(error) => error,
            })?;
            let silent_since = loaded.records.changes.servers_silent_since_ms;
            let change = change(&names, loaded, rests_on_rows);
            let done = (value, silent_since);
            Ok(if change.ops.is_empty() { Step::Done(done) } else { Step::Write(change, done) })
        })
        .await?;
        if let Some(since_ms) = silent_since {
            // If this fails, the next enlistment removes them.
            let _ = purge_servers(connection, since_ms).await;
        }
        Ok(value)
    }
}

/// If there are many servers' rows, removes those silent since before this time, longest silent first.
async fn purge_servers(connection: &mut Connection, since_ms: u64) -> Result<(), Fault> {
    let reads = [Op::Read(Span::under(connection.names().servers()).most(SERVERS_SEEN_MAX))];
    let purged = transact(connection, &reads, |mut answers| {
        let silent = silent(&answers.all().kvs, since_ms)?;
        let ops: Vec<Op> = silent.iter().map(|(name, _)| Op::Delete(Span::one(name.clone()))).collect();
        Ok(if ops.is_empty() { Step::Done(()) } else { Step::Write(Change { unchanged: silent, ops }, ()) })
    });
    purged.await
}

fn silent(servers: &[Kv], since_ms: u64) -> Result<Vec<(String, u64)>, SourceError> {
    let mut old = Vec::new();
    for kv in servers {
        let KeptServer { seen_ms, .. } = parsed("server", &kv.value)?;
        if seen_ms <= since_ms {
            old.push((seen_ms, kv.name()?.to_owned(), kv.mod_revision));
        }
    }
    old.sort_unstable();
    old.truncate(servers.len().saturating_sub(SERVERS_KEPT).min(SERVERS_PURGED_MAX));
    Ok(old.into_iter().map(|(_, name, revision)| (name, revision)).collect())
}

/// Reads records.
pub(super) struct View<'a> {
    pub(super) verb: &'static str,
    pub(super) selection: &'a Selection<'a>,
}

impl Operation<Connection> for View<'_> {
    type Out = Records;

    fn name(&self) -> &'static str {
        self.verb
    }

    async fn run(&self, connection: &mut Connection) -> Result<Records, Fault> {
        view(connection, self.selection).await
    }
}

/// Reads the ledger's identity, durability and clock.
pub(super) struct Inspect;

impl Operation<Connection> for Inspect {
    type Out = LedgerInspection;

    fn name(&self) -> &'static str {
        "inspect"
    }

    async fn run(&self, connection: &mut Connection) -> Result<LedgerInspection, Fault> {
        let (cluster, names) = (connection.cluster(), connection.names());
        let about = Op::Read(Span::one(names.only("about")));
        let reads = [vec![about], reads(&names, &Selection::default())].concat();
        let mut answers = look(connection, reads).await?;
        let about = answers.one().map(|kv| kv.value).unwrap_or_default();
        let About { id, .. } = parsed("about", &about)?;
        let id: LedgerId = id.parse().map_err(|error: std::num::ParseIntError| unreadable("id", error))?;
        let records = Loaded::of(cluster, &names, &Selection::default(), answers)?.records;
        Ok(LedgerInspection {
            instance: records.instance,
            id,
            version: records.version,
            durability: durability(connection.metrics().await?.as_deref()),
            clock_ms: records.clock_ms,
            engine: connection.engine(),
            other_master: None,
        })
    }
}

/// Examines the ledger on a connection that can't change anything.
pub(super) struct Examine {
    pub(super) most: usize,
}

impl Operation<Connection> for Examine {
    type Out = Examined;

    fn name(&self) -> &'static str {
        "examine"
    }

    async fn run(&self, connection: &mut Connection) -> Result<Examined, Fault> {
        let inspection = Inspect.run(connection).await?;
        let scan = Scan::Rows { slot: None, keys: Keys::All, most: self.most };
        let records = view(connection, &scan.into()).await?;
        let facts = facts(connection.metrics().await?.as_deref());
        Ok(Examined { inspection, records, facts })
    }
}

/// Removes the row of a leaving server.
pub(super) struct Delist {
    pub(super) server: ServerId,
}

impl Operation<Connection> for Delist {
    type Out = ();

    fn name(&self) -> &'static str {
        "delist from"
    }

    async fn run(&self, connection: &mut Connection) -> Result<(), Fault> {
        let name = connection.names().server(self.server);
        look(connection, vec![Op::Delete(Span::one(name))]).await.map(drop)
    }
}
