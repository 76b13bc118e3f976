//! Scans: rows, dense counters, history, and what moved.

use std::collections::BTreeMap;

use sequent_core::{
    Incarnation, Key, SlotIndex, SourceError,
    ledger::{Counter, DenseRow, Moved, PastLife, Row},
};

use super::{
    formats::{KeptDense, KeptMove, KeptPast, KeptRow, Losses},
    load::{Loaded, reads},
    transact::look,
};
use crate::{
    etcd::{
        gateway::{Kv, Op, Span},
        link::Link,
        names::Names,
        value::{self, or_default, unreadable},
    },
    ledger::{DenseCount, Keys, Selection},
    wire::{Fault, Work},
};

/// Rows of one page of a list.
pub(super) const PAGE: usize = 1000;

/// Versions read at once: each names some hundred rows at most.
const VERSIONS_PAGE: u64 = 64;

/// Spans that are asked for together, and rows of each at first: most sequences have few keys in a slot.
const SPANS_AT_ONCE: usize = 100;
const ROWS_AT_FIRST: usize = 50;

/// Rows of counters.
pub(super) struct Rows<'a> {
    pub(super) slot: Option<SlotIndex>,
    pub(super) keys: Keys<'a>,
    pub(super) most: usize,
}

impl Work<Link> for Rows<'_> {
    type Out = Vec<(Counter, Row)>;
    const VERB: &'static str = "list rows of";

    async fn run(&self, link: &mut Link) -> Result<Vec<(Counter, Row)>, Fault> {
        let names = link.names();
        let sequence = match (self.slot, self.keys) {
            (_, Keys::Of(sequence)) => sequence,
            (Some(slot), Keys::Between(from, below)) => {
                let rows = names.rows_of(slot);
                let span = Span::one(format!("{rows}{from}")).to(format!("{rows}{below}"));
                return rows_within(link, span, self.most).await;
            }
            _ => return all_rows(link, self.most).await,
        };
        let mut reads = vec![Op::Read(Span::one(names.only("losses")))];
        reads.push(Op::Read(Span::under(names.rows()).last_first().most(1)));
        let mut answers = look(link, reads).await?;
        let (losses, _) = or_default("losses", answers.one().as_ref())?;
        let Some(last) = answers.one() else { return Ok(Vec::new()) };
        let last = counter(&names, &last)?.slot;
        let mut found = Vec::new();
        for spans in spans(&names, sequence, last).chunks(SPANS_AT_ONCE) {
            let most = self.most.saturating_sub(found.len());
            found.extend(scan_each(link, spans, most).await?);
        }
        Ok(listed(&names, &found, losses)?)
    }
}

/// All rows, at most `most`.
pub(super) async fn all_rows(link: &mut Link, most: usize) -> Result<Vec<(Counter, Row)>, Fault> {
    let span = Span::under(link.names().rows());
    rows_within(link, span, most).await
}

async fn rows_within(link: &mut Link, span: Span, most: usize) -> Result<Vec<(Counter, Row)>, Fault> {
    let losses = losses(link).await?;
    let found = scan(link, span, most, PAGE).await?;
    Ok(listed(&link.names(), &found, losses)?)
}

async fn losses(link: &mut Link) -> Result<Losses, Fault> {
    let reads = vec![Op::Read(Span::one(link.names().only("losses")))];
    Ok(or_default("losses", look(link, reads).await?.one().as_ref())?.0)
}

/// Where the rows of a sequence are: in each slot the key that is its name, and those that begin with it and `|`.
fn spans(names: &Names, sequence: &str, last: SlotIndex) -> Vec<Span> {
    let of_slot = |slot| {
        let name = format!("{}{sequence}", names.rows_of(slot));
        [Span::one(name.clone()), Span::under(format!("{name}|"))]
    };
    (0..=last).flat_map(of_slot).collect()
}

/// At most `most` of some spans, in their order.
async fn scan_each(link: &mut Link, spans: &[Span], most: usize) -> Result<Vec<Kv>, Fault> {
    let first = most.min(ROWS_AT_FIRST);
    if first == 0 {
        return Ok(Vec::new());
    }
    let reads = spans.iter().map(|span| Op::Read(span.clone().most(first as u64)));
    let mut answers = look(link, reads.collect()).await?;
    let mut found = Vec::new();
    for span in spans {
        let some = answers.all();
        let rest = some.kvs.last().filter(|_| some.more).map(Kv::name).transpose()?;
        let rest = rest.map(|last| span.clone().from(format!("{last}\0")).at(answers.revision));
        found.extend(some.kvs);
        if let Some(rest) = rest {
            let most = most.saturating_sub(found.len());
            found.extend(scan(link, rest, most, PAGE).await?);
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

/// At most `most` of a span, as many at a time as `page` says; all of one revision.
pub(super) async fn scan(
    link: &mut Link,
    mut span: Span,
    most: usize,
    page: usize,
) -> Result<Vec<Kv>, Fault> {
    let mut found: Vec<Kv> = Vec::new();
    while found.len() < most {
        let want = page.min(most - found.len());
        let ask = span.clone().most(want as u64);
        let mut answers = look(link, vec![Op::Read(ask)]).await?;
        let some = answers.all();
        found.extend(some.kvs);
        let (true, Some(last)) = (some.more, found.last()) else { break };
        span = span.from(format!("{}\0", last.name()?)).at(answers.revision);
    }
    Ok(found)
}

/// Dense counters.
pub(super) struct DenseRows<'a> {
    pub(super) keys: Keys<'a>,
    pub(super) most: usize,
}

impl Work<Link> for DenseRows<'_> {
    type Out = Vec<DenseRow>;
    const VERB: &'static str = "list dense counters of";

    async fn run(&self, link: &mut Link) -> Result<Vec<DenseRow>, Fault> {
        let (losses, all) = (losses(link).await?, link.names().all_dense());
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
            for kv in scan(link, span, most, PAGE).await? {
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

/// The ended lives of a counter.
pub(super) struct History<'a> {
    pub(super) counter: &'a Counter,
}

impl Work<Link> for History<'_> {
    type Out = Vec<PastLife>;
    const VERB: &'static str = "read history from";

    async fn run(&self, link: &mut Link) -> Result<Vec<PastLife>, Fault> {
        let span = Span::under(link.names().past(self.counter));
        let past = scan(link, span, usize::MAX, PAGE).await?;
        Ok(past.iter().map(KeptPast::read).collect::<Result<_, _>>()?)
    }
}

/// Who speaks, and what has moved.
pub(super) struct Moves {
    pub(super) since: u64,
    pub(super) most: usize,
}

impl Work<Link> for Moves {
    type Out = (Incarnation, Vec<Moved>);
    const VERB: &'static str = "read what moved in";

    async fn run(&self, link: &mut Link) -> Result<Self::Out, Fault> {
        let (voice, names) = (link.voice(), link.names());
        let mut latest: BTreeMap<Counter, Moved> = BTreeMap::new();
        let (mut since, mut first) = (self.since, None);
        let speaks = loop {
            let from = names.moves_of(since.saturating_add(1));
            let span = Span::under(names.moves()).from(from).most(VERSIONS_PAGE);
            let reads = [vec![Op::Read(span)], reads(&names, &Selection::default())].concat();
            let mut answers = look(link, reads).await?;
            let page = answers.all();
            let speaks = Loaded::of(voice, &names, &Selection::default(), answers)?.records.speaks;
            if *first.get_or_insert_with(|| speaks.clone()) != speaks {
                return Err(Fault::away("the ledger was made to speak anew while it was read"));
            }
            for kv in &page.kvs {
                since = take(&names, kv, &mut latest)?;
            }
            if !page.more || latest.len() >= self.most {
                break speaks;
            }
        };
        let mut moved: Vec<Moved> = latest.into_values().collect();
        moved.sort_by_key(|moved| moved.version);
        moved.truncate(self.most);
        Ok((speaks, moved))
    }
}

/// Notes what one version moved, over what was moved before; returns the version.
fn take(names: &Names, kv: &Kv, latest: &mut BTreeMap<Counter, Moved>) -> Result<u64, SourceError> {
    let version = names.version(kv.name()?).ok_or_else(|| unreadable("version of what moved"))?;
    for kept in value::of::<Vec<KeptMove>>("what moved", kv)? {
        let moved = kept.moved(names, version)?;
        latest.insert(moved.counter.clone(), moved);
    }
    Ok(version)
}
