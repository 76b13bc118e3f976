//! Scans of an etcd ledger: rows, dense counters, history, and changed rows.

use std::collections::BTreeMap;

use sequent_core::{
    InstanceId, Key, SlotIndex, SourceError,
    ledger::{Counter, DenseRow, Moved, PastEpoch, Row},
};

use super::{
    formats::{KeptDense, KeptMove, KeptPast, KeptRow, Losses},
    load::{Loaded, reads},
    transact::look,
};
use crate::{
    etcd::{
        client::{Kv, Op, Span},
        connection::Connection,
        json_value::{self, or_default, unreadable},
        keys::Names,
    },
    ledger::{DenseCount, Keys, Selection},
    net::{Fault, Operation},
};

/// Rows per page of a scan.
pub(super) const PAGE: usize = 1000;

/// Versions read at once; each lists at most about a hundred rows.
const VERSIONS_PAGE: u64 = 64;

/// Ranges read in one request, and the rows first read of each. Most sequences have few keys in a slot.
const SPANS_AT_ONCE: usize = 100;
const ROWS_AT_FIRST: usize = 50;

/// Scans rows of counters.
pub(super) struct Rows<'a> {
    pub(super) slot: Option<SlotIndex>,
    pub(super) keys: Keys<'a>,
    pub(super) most: usize,
}

impl Operation<Connection> for Rows<'_> {
    type Out = Vec<(Counter, Row)>;

    fn name(&self) -> &'static str {
        "list rows of"
    }

    async fn run(&self, connection: &mut Connection) -> Result<Vec<(Counter, Row)>, Fault> {
        let names = connection.names();
        let sequence = match (self.slot, self.keys) {
            (_, Keys::Of(sequence)) => sequence,
            (Some(slot), Keys::Between(from, below)) => {
                let rows = names.rows_of(slot);
                let span = Span::one(format!("{rows}{from}")).to(format!("{rows}{below}"));
                return rows_within(connection, span, self.most).await;
            }
            _ => return all_rows(connection, self.most).await,
        };
        let mut reads = vec![Op::Read(Span::one(names.only("losses")))];
        reads.push(Op::Read(Span::under(names.rows()).last_first().most(1)));
        let mut answers = look(connection, reads).await?;
        let (losses, _) = or_default("losses", answers.one().as_ref())?;
        let Some(last) = answers.one() else { return Ok(Vec::new()) };
        let last = counter(&names, &last)?.slot;
        let mut found = Vec::new();
        for spans in spans(&names, sequence, last).chunks(SPANS_AT_ONCE) {
            let most = self.most.saturating_sub(found.len());
            found.extend(scan_each(connection, spans, most).await?);
        }
        Ok(listed(&names, &found, losses)?)
    }
}

/// All rows, at most `most`.
pub(super) async fn all_rows(connection: &mut Connection, most: usize) -> Result<Vec<(Counter, Row)>, Fault> {
    let span = Span::under(connection.names().rows());
    rows_within(connection, span, most).await
}

async fn rows_within(
    connection: &mut Connection,
    span: Span,
    most: usize,
) -> Result<Vec<(Counter, Row)>, Fault> {
    let losses = losses(connection).await?;
    let found = scan(connection, span, most, PAGE).await?;
    Ok(listed(&connection.names(), &found, losses)?)
}

async fn losses(connection: &mut Connection) -> Result<Losses, Fault> {
    let reads = vec![Op::Read(Span::one(connection.names().only("losses")))];
    Ok(or_default("losses", look(connection, reads).await?.one().as_ref())?.0)
}

/// The ranges of a sequence's rows: in each slot the key equal to its name, and the keys that begin with it and `|`.
fn spans(names: &Names, sequence: &str, last: SlotIndex) -> Vec<Span> {
    let of_slot = |slot| {
        let name = format!("{}{sequence}", names.rows_of(slot));
        [Span::one(name.clone()), Span::under(format!("{name}|"))]
    };
    (0..=last).flat_map(of_slot).collect()
}

/// At most `most` names of several ranges, in order.
async fn scan_each(connection: &mut Connection, spans: &[Span], most: usize) -> Result<Vec<Kv>, Fault> {
    let first = most.min(ROWS_AT_FIRST);
    if first == 0 {
        return Ok(Vec::new());
    }
    let reads = spans.iter().map(|span| Op::Read(span.clone().most(first as u64)));
    let mut answers = look(connection, reads.collect()).await?;
    let mut found = Vec::new();
    for span in spans {
        let some = answers.all();
        let rest = some.kvs.last().filter(|_| some.more).map(Kv::name).transpose()?;
        let rest = rest.map(|last| span.clone().from(format!("{last}\0")).at(answers.revision));
        found.extend(some.kvs);
        if let Some(rest) = rest {
            let most = most.saturating_sub(found.len());
            found.extend(scan(connection, rest, most, PAGE).await?);
        }
        if found.len() >= most {
            break;
        }
    }
    found.truncate(most);
    Ok(found)
}

fn listed(names: &Names, found: &[Kv], losses: Losses) -> Result<Vec<(Counter, Row)>, SourceError> {
    found.iter().map(|kv| Ok((counter(names, kv)?, KeptRow::read(kv, losses)?))).collect()
}

fn counter(names: &Names, kv: &Kv) -> Result<Counter, SourceError> {
    names.counter(kv.name()?).ok_or_else(|| unreadable("name of a row"))
}

/// At most `most` names of a range, `page` at a time, all of one revision.
pub(super) async fn scan(
    connection: &mut Connection,
    mut span: Span,
    most: usize,
    page: usize,
) -> Result<Vec<Kv>, Fault> {
    let mut found: Vec<Kv> = Vec::new();
    while found.len() < most {
        let want = page.min(most - found.len());
        let ask = span.clone().most(want as u64);
        let mut answers = look(connection, vec![Op::Read(ask)]).await?;
        let some = answers.all();
        found.extend(some.kvs);
        let (true, Some(last)) = (some.more, found.last()) else { break };
        span = span.from(format!("{}\0", last.name()?)).at(answers.revision);
    }
    Ok(found)
}

/// Scans dense counters.
pub(super) struct DenseRows<'a> {
    pub(super) keys: Keys<'a>,
    pub(super) most: usize,
}

impl Operation<Connection> for DenseRows<'_> {
    type Out = Vec<DenseRow>;

    fn name(&self) -> &'static str {
        "list dense counters of"
    }

    async fn run(&self, connection: &mut Connection) -> Result<Vec<DenseRow>, Fault> {
        let (losses, all) = (losses(connection).await?, connection.names().all_dense());
        let spans = match self.keys {
            Keys::All => vec![Span::under(all.clone())],
            Keys::Of(name) => vec![Span::one(format!("{all}{name}")), Span::under(format!("{all}{name}|"))],
            Keys::Between(from, below) => {
                vec![Span::one(format!("{all}{from}")).to(format!("{all}{below}"))]
            }
        };
        let mut listed = Vec::new();
        for span in spans {
            let most = self.most.saturating_sub(listed.len());
            for kv in scan(connection, span, most, PAGE).await? {
                listed.push(dense_row(&all, &kv, losses)?);
            }
        }
        Ok(listed)
    }
}

fn dense_row(all: &str, kv: &Kv, losses: Losses) -> Result<DenseRow, SourceError> {
    let key = kv.name()?.strip_prefix(all).ok_or_else(|| unreadable("name of a dense counter"))?;
    let DenseCount { value, begun_at_ms } = KeptDense::read(kv, losses)?;
    Ok(DenseRow { key: Key::from_stored(key), value, begun_at_ms })
}

/// Reads the ended epochs of a counter.
pub(super) struct History<'a> {
    pub(super) counter: &'a Counter,
}

impl Operation<Connection> for History<'_> {
    type Out = Vec<PastEpoch>;

    fn name(&self) -> &'static str {
        "read history from"
    }

    async fn run(&self, connection: &mut Connection) -> Result<Vec<PastEpoch>, Fault> {
        let span = Span::under(connection.names().past(self.counter));
        let past = scan(connection, span, usize::MAX, PAGE).await?;
        Ok(past.iter().map(KeptPast::read).collect::<Result<_, _>>()?)
    }
}

/// Reads the instance and the changed rows.
pub(super) struct Moves {
    pub(super) since: u64,
    pub(super) most: usize,
}

impl Operation<Connection> for Moves {
    type Out = (InstanceId, Vec<Moved>);

    fn name(&self) -> &'static str {
        "read what moved in"
    }

    async fn run(&self, connection: &mut Connection) -> Result<Self::Out, Fault> {
        let (cluster, names) = (connection.cluster(), connection.names());
        let mut latest: BTreeMap<Counter, Moved> = BTreeMap::new();
        let (mut since, mut first) = (self.since, None);
        let instance = loop {
            let from = names.moves_of(since.saturating_add(1));
            let span = Span::under(names.moves()).from(from).most(VERSIONS_PAGE);
            let reads = [vec![Op::Read(span)], reads(&names, &Selection::default())].concat();
            let mut answers = look(connection, reads).await?;
            let page = answers.all();
            let instance = Loaded::of(cluster, &names, &Selection::default(), answers)?.records.instance;
            if *first.get_or_insert_with(|| instance.clone()) != instance {
                return Err(Fault::away("another run began while the ledger was read"));
            }
            for kv in &page.kvs {
                since = take(&names, kv, &mut latest)?;
            }
            if !page.more || latest.len() >= self.most {
                break instance;
            }
        };
        let mut moved: Vec<Moved> = latest.into_values().collect();
        moved.sort_by_key(|moved| moved.version);
        moved.truncate(self.most);
        Ok((instance, moved))
    }
}

/// Takes over the rows changed by one version, which replace older changes. Returns the version.
fn take(names: &Names, kv: &Kv, latest: &mut BTreeMap<Counter, Moved>) -> Result<u64, SourceError> {
    let version = names.version(kv.name()?).ok_or_else(|| unreadable("version of what moved"))?;
    for kept in json_value::of::<Vec<KeptMove>>("what moved", kv)? {
        let moved = kept.moved(names, version)?;
        latest.insert(moved.counter.clone(), moved);
    }
    Ok(version)
}
