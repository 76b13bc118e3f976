//! Rows: for each counter its life, its base and its ceiling.

use sequent_core::{
    BoxFuture, Incarnation, SlotIndex, SourceError,
    ledger::{Answer, Counter, Moved, Opened, Opening, Pass, PastLife, Raise, Raised, Reading, Row, Rows},
};

use super::{
    EtcdLedger,
    admit::{reborn_unless, speaker},
    kept::{KeptPast, KeptRow, Losses},
    lives::{Open, RaiseThem},
    moves::Moves,
    page::RAISED_MAX,
    transact::look,
};
use crate::{
    etcd::{
        gateway::{Kv, Op, Span},
        link::Link,
        names::Names,
        value::{self, or_default, unreadable},
    },
    wire::{Fault, Work},
};

/// Rows of one page of a list.
const PAGE: usize = 1000;

/// Spans that are asked for together, and rows of each at first: most sequences have few keys in a slot.
const SPANS_AT_ONCE: usize = 100;
const ROWS_AT_FIRST: usize = 50;

/// A call of so many takes some ten transactions.
const BATCH_MAX: usize = 1024;

impl Rows for EtcdLedger {
    fn batch_max(&self) -> usize {
        BATCH_MAX
    }

    fn read<'a>(
        &'a self,
        under: &'a Incarnation,
        counters: &'a [Counter],
    ) -> BoxFuture<'a, Result<Reading, SourceError>> {
        Box::pin(self.pool.perform(Read { under, counters }))
    }

    fn open<'a>(
        &'a self,
        pass: Pass<'a>,
        openings: &'a [Opening],
    ) -> BoxFuture<'a, Result<Answer<Vec<Opened>>, SourceError>> {
        Box::pin(self.pool.perform(Open { pass, openings }))
    }

    fn raise<'a>(
        &'a self,
        pass: Pass<'a>,
        raises: &'a [Raise],
    ) -> BoxFuture<'a, Result<Answer<Vec<Raised>>, SourceError>> {
        Box::pin(self.pool.perform(RaiseThem { pass, raises }))
    }

    fn moved<'a>(
        &'a self,
        under: &'a Incarnation,
        since: u64,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Moved>, SourceError>> {
        Box::pin(self.pool.perform(Moves { under, since, most }))
    }

    fn list<'a>(
        &'a self,
        sequence: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<(Counter, Row)>, SourceError>> {
        Box::pin(self.pool.perform(List { sequence, most }))
    }

    fn history<'a>(&'a self, counter: &'a Counter) -> BoxFuture<'a, Result<Vec<PastLife>, SourceError>> {
        Box::pin(self.pool.perform(History { counter }))
    }
}

struct Read<'a> {
    under: &'a Incarnation,
    counters: &'a [Counter],
}

impl Work<Link> for Read<'_> {
    type Out = Reading;
    const VERB: &'static str = "read rows from";

    async fn run(&self, link: &mut Link) -> Result<Reading, Fault> {
        let (voice, names) = (link.voice(), link.names());
        let (mut rows, mut rest) = (Vec::with_capacity(self.counters.len()), self.counters);
        loop {
            let (now, after) = rest.split_at(rest.len().min(RAISED_MAX));
            let only = ["run", "losses"].map(|what| names.only(what));
            let all = only.into_iter().chain(now.iter().map(|counter| names.row(counter)));
            let mut answers = look(link, all.map(Span::one).map(Op::Read).collect()).await?;
            reborn_unless(&speaker(voice, answers.one().as_ref())?, self.under)?;
            let (losses, _) = or_default("losses", answers.one().as_ref())?;
            for _ in now {
                rows.push(answers.one().map(|kv| KeptRow::read(&kv, losses)).transpose()?);
            }
            if after.is_empty() {
                return Ok(Reading { rows, clock_ms: answers.clock_ms });
            }
            rest = after;
        }
    }
}

pub(super) struct List<'a> {
    pub(super) sequence: Option<&'a str>,
    pub(super) most: usize,
}

impl Work<Link> for List<'_> {
    type Out = Vec<(Counter, Row)>;
    const VERB: &'static str = "list rows of";

    async fn run(&self, link: &mut Link) -> Result<Vec<(Counter, Row)>, Fault> {
        let names = link.names();
        let mut reads = vec![Op::Read(Span::one(names.only("losses")))];
        reads.push(Op::Read(Span::under(names.rows()).last_first().most(1)));
        let mut answers = look(link, reads).await?;
        let (losses, _) = or_default("losses", answers.one().as_ref())?;
        let Some(last) = answers.one() else { return Ok(Vec::new()) };
        let last = counter(&names, &last)?.slot;
        let Some(sequence) = self.sequence else {
            let all = scan(link, Span::under(names.rows()), self.most, PAGE).await?;
            return Ok(listed(&names, &all, losses)?);
        };
        let mut found = Vec::new();
        for spans in spans(&names, sequence, last).chunks(SPANS_AT_ONCE) {
            let most = self.most.saturating_sub(found.len());
            found.extend(scan_each(link, spans, most).await?);
        }
        Ok(listed(&names, &found, losses)?)
    }
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

struct History<'a> {
    counter: &'a Counter,
}

impl Work<Link> for History<'_> {
    type Out = Vec<PastLife>;
    const VERB: &'static str = "read history from";

    async fn run(&self, link: &mut Link) -> Result<Vec<PastLife>, Fault> {
        let span = Span::under(link.names().past(self.counter));
        let past = scan(link, span, usize::MAX, PAGE).await?;
        let lives = past.iter().map(|kv| Ok(value::of::<KeptPast>("history", kv)?.past()));
        Ok(lives.collect::<Result<_, SourceError>>()?)
    }
}
