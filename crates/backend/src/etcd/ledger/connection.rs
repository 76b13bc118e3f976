//! Ledger calls on a connection to etcd.

use sequent_core::{
    LedgerId, SourceError,
    ledger::{LedgerInspection, ServerId},
};

use super::{
    facts::{durability, facts},
    formats::KeptServer,
    load::{Loaded, RECORDS_MAX, reads},
    pages::view,
    save::change,
    transact::{Change, Step, look, transact},
};
use crate::{
    etcd::{
        client::{Kv, Op, Span},
        connect::About,
        connection::Connection,
    },
    ledger::{
        Examined, Keys, Records, Scan, Selection, Token,
        documents::{parsed, unreadable},
        pooled::{Decide, LedgerConnection},
    },
    net::Fault,
};

/// Number of servers' rows that are kept however old they are, so that a server suspended for days is still known when
/// it wakes.
const SERVERS_KEPT: usize = 1024;

/// The most server rows that one enlistment reads, and the most that it removes.
const SERVERS_SEEN_MAX: u64 = 2048;
const SERVERS_PURGED_MAX: usize = 50;

impl LedgerConnection for Connection {
    const RECORDS_MAX: usize = RECORDS_MAX;

    // A call with this many counters takes about ten transactions.
    const BATCH_MAX: usize = 1024;

    async fn transact<T: Send + 'static>(
        &mut self,
        selection: &Selection<'_>,
        token: Option<&str>,
        decide: Decide<'_, T>,
    ) -> Result<T, Fault> {
        let (cluster, names) = (self.cluster(), self.names());
        let token = token.map(|text| Token { instance: cluster.instance(text), text: text.to_owned() });
        let rests_on_rows = !(selection.counters.is_empty() && selection.dense.is_empty());
        let reads = reads(&names, selection);
        let (value, silent_since) = transact(self, &reads, |answers| {
            let mut loaded = Loaded::of(cluster, &names, selection, answers)?;
            loaded.records.token.clone_from(&token);
            let value = decide(&mut loaded.records)?;
            let silent_since = loaded.records.changes.servers_silent_since_ms;
            let change = change(&names, loaded, rests_on_rows);
            let done = (value, silent_since);
            Ok(if change.ops.is_empty() { Step::Done(done) } else { Step::Write(change, done) })
        })
        .await?;
        if let Some(since_ms) = silent_since {
            // If this fails, the next enlistment removes them.
            let _ = purge_servers(self, since_ms).await;
        }
        Ok(value)
    }

    async fn view(&mut self, selection: &Selection<'_>) -> Result<Records, Fault> {
        view(self, selection).await
    }

    async fn inspect(&mut self) -> Result<LedgerInspection, Fault> {
        let (cluster, names) = (self.cluster(), self.names());
        let about = Op::Read(Span::one(names.only("about")));
        let reads = [vec![about], reads(&names, &Selection::default())].concat();
        let mut answers = look(self, reads).await?;
        let about = answers.one().map(|kv| kv.value).unwrap_or_default();
        let About { id, .. } = parsed("about", &about)?;
        let id: LedgerId = id.parse().map_err(|error: std::num::ParseIntError| unreadable("id", error))?;
        let records = Loaded::of(cluster, &names, &Selection::default(), answers)?.records;
        Ok(LedgerInspection {
            instance: records.instance,
            id,
            version: records.version,
            durability: durability(self.metrics().await?.as_deref()),
            clock_ms: records.clock_ms,
            engine: format!("etcd {}", self.version),
            other_master: None,
        })
    }

    async fn examine(&mut self, most: usize) -> Result<Examined, Fault> {
        let inspection = self.inspect().await?;
        let scan = Scan::Rows { slot: None, keys: Keys::All, most };
        let records = view(self, &scan.into()).await?;
        let facts = facts(self.metrics().await?.as_deref());
        Ok(Examined { inspection, records, facts })
    }

    async fn delist(&mut self, server: ServerId) -> Result<(), Fault> {
        let name = self.names().server(server);
        look(self, vec![Op::Delete(Span::one(name))]).await.map(drop)
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
