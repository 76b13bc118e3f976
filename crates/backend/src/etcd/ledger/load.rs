//! Loading ledger records from etcd, with the revisions that a write compares.

use std::collections::{BTreeMap, VecDeque};

use sequent_core::{
    Condition, InstanceId, SourceError,
    ledger::{Counter, Moved},
};

use super::{
    formats::{KeptDense, KeptMove, KeptPast, KeptRow, KeptServer, Losses},
    pages::{Pages, first_pages},
};
use crate::{
    etcd::{
        client::{Answers, Kv, Op, Span, Unchanged},
        connection::ClusterId,
        instance::Run,
        keys::{Named, Names},
    },
    ledger::{
        Records, Selection,
        documents::{LAYOUT, parsed, unreadable},
    },
    net::refused,
};

/// etcd's default limit of a transaction: comparisons, operations on success, and operations on failure, each.
const OPS_MAX: usize = 128;

/// The records that every transaction reads, beside the server's row.
const HEAD: [&str; 6] = ["run", LAYOUT, "version", "losses", "accepted", "catalog"];

/// The most further records in one transaction, whether read, compared or written. It leaves room for the list of
/// changed rows.
pub(super) const RECORDS_MAX: usize = OPS_MAX - HEAD.len() - 4;

/// Records, with what etcd needs to write them.
pub(super) struct Loaded {
    pub(super) records: Records,
    pub(super) losses: Losses,
    pub(super) run: Run,
    /// The names read, with their revisions: a write of a single record compares them.
    pub(super) unchanged: Vec<Unchanged>,
    /// The revisions of the ledger's version and of the catalog's version. Only some writes compare them.
    pub(super) version: Unchanged,
    pub(super) catalog: Unchanged,
    /// The revision of all records.
    pub(super) revision: u64,
    /// The latest change of each changed row that was read.
    pub(super) moved: BTreeMap<Counter, Moved>,
    /// Pages that were not read yet, ascending.
    pub(super) unread: VecDeque<Pages>,
}

/// The reads of a selection: the head, single records, and the first pages.
pub(super) fn reads(names: &Names, selection: &Selection<'_>) -> Vec<Op> {
    let head = HEAD.map(|what| names.only(what));
    let single = head.into_iter().chain(rows(names, selection)).chain(compared(names, selection));
    let single = single.map(|name| Op::Read(Span::one(name)));
    single.chain(first_pages(names, selection).iter().map(Pages::read)).collect()
}

/// The names of the rows. A write of a row also raises the version, which is compared, so the row needs no comparison
/// of its own.
fn rows(names: &Names, selection: &Selection<'_>) -> impl Iterator<Item = String> {
    selection.counters.iter().map(|counter| names.row(counter))
}

/// The names of the other single records.
fn compared(names: &Names, selection: &Selection<'_>) -> Vec<String> {
    let server = selection.server.map(|server| names.server(server));
    let dense = selection.dense.iter().map(|key| names.dense(key));
    let documents = selection.documents().into_iter().map(|name| names.only(&name));
    server.into_iter().chain(dense).chain(documents).collect()
}

impl Loaded {
    /// The records from the answers to [`reads`], in the same order.
    pub(super) fn of(
        cluster: ClusterId,
        names: &Names,
        selection: &Selection<'_>,
        mut answers: Answers,
    ) -> Result<Self, SourceError> {
        let mut loaded = Self::head(cluster, names, &mut answers)?;
        for _ in &selection.counters {
            if let Some(kv) = answers.one() {
                loaded.take(names, &kv)?;
            }
        }
        for name in compared(names, selection) {
            let kv = answers.one();
            loaded.unchanged.push((name, kv.as_ref().map_or(0, |kv| kv.mod_revision)));
            if let Some(kv) = kv {
                loaded.take(names, &kv)?;
            }
        }
        loaded.take_pages(names, first_pages(names, selection), &mut answers)?;
        Ok(loaded)
    }

    fn head(cluster: ClusterId, names: &Names, answers: &mut Answers) -> Result<Self, SourceError> {
        let held = HEAD.map(|_| answers.one());
        let [run, layout, version, losses, accepted, catalog] = &held;
        let gone = || refused("the ledger's run is gone: restore it from a copy").with(Condition::RunMissing);
        let run: Run = parsed("run", &run.as_ref().ok_or_else(gone)?.value)?;
        let count = |what, kv: &Option<Kv>| kv.as_ref().map_or(Ok(0), |kv| parsed(what, &kv.value));
        let losses: Losses =
            losses.as_ref().map(|kv| parsed("losses", &kv.value)).transpose()?.unwrap_or_default();
        let accepted: Option<String> =
            accepted.as_ref().map(|kv| parsed("instance", &kv.value)).transpose()?;
        let revision = |kv: &Option<Kv>| kv.as_ref().map_or(0, |kv| kv.mod_revision);
        let [run_at, layout_at, version_at, losses_at, accepted_at, catalog_at] =
            std::array::from_fn(|at| (names.only(HEAD[at]), revision(&held[at])));
        let mut records = Records {
            version: count("version", version)?,
            catalog: count("catalog", catalog)?,
            floor: losses.floor,
            accepted: accepted.map(InstanceId::new),
            ..Records::of(cluster.instance(&run.token), answers.clock_ms)
        };
        if let Some(layout) = layout {
            records.take_document(LAYOUT, &layout.value)?;
        }
        Ok(Self {
            records,
            losses,
            run,
            unchanged: vec![run_at, layout_at, losses_at, accepted_at],
            version: version_at,
            catalog: catalog_at,
            revision: answers.revision,
            moved: BTreeMap::new(),
            unread: VecDeque::new(),
        })
    }

    /// Takes over a record that was read.
    pub(super) fn take(&mut self, names: &Names, kv: &Kv) -> Result<(), SourceError> {
        let (name, records) = (kv.name()?, &mut self.records);
        match names.parsed(name).ok_or_else(|| unreadable("name", format!("found {name:?}")))? {
            Named::Row(counter) => drop(records.rows.insert(counter, KeptRow::read(kv, self.losses)?)),
            Named::Dense(key) => drop(records.dense.insert(key, KeptDense::read(kv, self.losses)?)),
            Named::Past => records.history.push(KeptPast::read(kv)?),
            Named::Server => records.nonce = Some(parsed::<KeptServer>("server", &kv.value)?.nonce),
            Named::Document(name) => records.take_document(name, &kv.value)?,
            Named::Moves(version) => {
                for kept in parsed::<Vec<KeptMove>>("what moved", &kv.value)? {
                    let moved = kept.moved(names, version)?;
                    self.moved.insert(moved.counter.clone(), moved);
                }
            }
        }
        Ok(())
    }
}
