//! Some counters of one call: as many as one transaction holds, as they were read, and what the call makes of them.

use std::collections::{BTreeMap, BTreeSet};

use sequent_core::{
    SourceError,
    ledger::{Answer, Counter, Pass, Row},
};

use super::{
    MOVES_KEPT,
    admit::{Head, Shown},
    kept::{KeptMove, KeptPast, KeptRow},
    transact::{Change, Step, transact},
};
use crate::{
    etcd::{
        gateway::{Op, Span},
        link::{Link, Voice},
        names::Names,
        value::{self, Answers},
    },
    wire::Fault,
};

/// What a transaction of etcd may hold of each: comparisons, what is done, what is done otherwise.
pub(super) const OPS_MAX: usize = 128;

/// What a page needs of that beside its rows.
const OPS_OF_A_PAGE: usize = 6;

/// How many rows a call may raise in one transaction.
pub(super) const RAISED_MAX: usize = OPS_MAX - OPS_OF_A_PAGE;

/// How many lives a call may open in one transaction: each may end another, which goes into the history.
pub(super) const OPENED_MAX: usize = (OPS_MAX - OPS_OF_A_PAGE) / 2;

/// Counters as they are to be after the call.
pub(super) struct Page {
    pub(super) head: Head,
    rows: BTreeMap<Counter, Option<Row>>,
    moved: BTreeSet<Counter>,
    ended: Vec<(Counter, KeptPast)>,
}

impl Page {
    fn of(
        voice: Voice,
        names: &Names,
        pass: &Pass<'_>,
        counters: &BTreeSet<&Counter>,
        answers: &mut Answers,
    ) -> Result<Self, SourceError> {
        let head = Head::of(voice, names, pass.server, answers)?;
        let mut rows = BTreeMap::new();
        for counter in counters {
            let row = answers.one().map(|kv| KeptRow::read(&kv, head.losses)).transpose()?;
            rows.insert((*counter).clone(), row);
        }
        Ok(Self { head, rows, moved: BTreeSet::new(), ended: Vec::new() })
    }

    /// The row of a counter of this page.
    pub(super) fn row(&self, counter: &Counter) -> Option<&Row> {
        self.rows.get(counter)?.as_ref()
    }

    /// The counter's row is this one from now on.
    pub(super) fn set(&mut self, counter: &Counter, row: Row) {
        self.moved.insert(counter.clone());
        self.rows.insert(counter.clone(), Some(row));
    }

    /// The counter's life in force has ended.
    pub(super) fn end(&mut self, counter: &Counter) {
        if let Some(row) = self.row(counter).filter(|row| !row.is_unbegun()) {
            self.ended.push((counter.clone(), KeptPast::of(row)));
        }
    }

    /// The ledger's version once this is written.
    fn version(&self) -> u64 {
        self.head.version.saturating_add(u64::from(!self.moved.is_empty()))
    }

    /// It rests on the version, without which no row moves.
    fn change(self, names: &Names, pass: &Pass<'_>) -> Change {
        let mut ops = vec![self.head.sign(names, pass)];
        if !self.moved.is_empty() {
            self.write(names, &mut ops);
        }
        Change { unchanged: self.head.unchanged, ops }
    }

    fn write(&self, names: &Names, ops: &mut Vec<Op>) {
        let version = self.version();
        ops.push(Op::Put(names.only("version"), version.to_string()));
        let mut moves = Vec::with_capacity(self.moved.len());
        for (counter, row) in self.moved.iter().filter_map(|counter| Some((counter, self.row(counter)?))) {
            let name = names.row(counter);
            ops.push(Op::Put(name.clone(), value::text(&KeptRow::of(row, self.head.losses))));
            moves.push(KeptMove::of(name, row));
        }
        for (at, (counter, past)) in self.ended.iter().enumerate() {
            ops.push(Op::Put(names.past_life(counter, version, at), value::text(past)));
        }
        ops.push(Op::Put(names.moves_of(version), value::text(&moves)));
        if let Some(oldest) = version.checked_sub(MOVES_KEPT) {
            ops.push(Op::Delete(Span::under(names.moves()).to(names.moves_of(oldest))));
        }
    }
}

/// Judges asks in their order, so many in one transaction; at least one transaction, which leaves the nonce. Returns the
/// clock besides.
pub(super) async fn in_pages<A, T>(
    link: &mut Link,
    pass: &Pass<'_>,
    (asks, most): (&[A], usize),
    counter: impl Fn(&A) -> &Counter,
    judge: impl Fn(&mut Page, &A) -> T,
) -> Result<(Answer<Vec<T>>, u64), Fault> {
    let (voice, names) = (link.voice(), link.names());
    let (mut all, mut shown) = (Vec::with_capacity(asks.len()), Shown::Nonces(pass.nonces));
    let mut rest = asks;
    loop {
        let (now, after) = rest.split_at(rest.len().min(most));
        let counters: BTreeSet<&Counter> = now.iter().map(&counter).collect();
        let rows = counters.iter().map(|counter| Op::Read(Span::one(names.row(counter))));
        let reads: Vec<Op> = Head::reads(&names, pass.server).into_iter().chain(rows).collect();
        let ((value, version, clock_ms), revision) = transact(link, &reads, |mut answers| {
            let mut page = Page::of(voice, &names, pass, &counters, &mut answers)?;
            page.head.admit(pass, shown)?;
            let value: Vec<T> = now.iter().map(|ask| judge(&mut page, ask)).collect();
            let done = (value, page.version(), page.head.clock_ms);
            Ok(Step::Write(page.change(&names, pass), done))
        })
        .await?;
        all.extend(value);
        if after.is_empty() {
            return Ok((Answer { value: all, version }, clock_ms));
        }
        (rest, shown) = (after, Shown::Revision(revision));
    }
}
