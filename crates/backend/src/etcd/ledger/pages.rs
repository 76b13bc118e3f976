//! Reading etcd records in pages: folders of documents, and scans of rows, dense counters, history and changed rows.

use std::collections::BTreeMap;

use sequent_core::{SlotIndex, SourceError};

use super::{
    load::{Loaded, reads},
    transact::look,
};
use crate::{
    etcd::{
        client::{Answers, Op, Span},
        connection::Connection,
        keys::{Named, Names},
    },
    ledger::{Keys, Records, Scan, Selection, documents::DEFINITIONS},
    net::Fault,
};

/// Records per page. No folder that a transaction reads has more: a ring has at most 1024 slots.
const PAGE: u64 = 1024;

/// Definitions, of which some are a few kilobytes long, per page; and versions, each of which lists at most about a
/// hundred changed rows.
const LONG_PAGE: u64 = 64;

/// The first rows read of each key range of a sequence. Most sequences have few keys in a slot.
const ROWS_AT_FIRST: u64 = 50;

/// The most records in one request.
const RECORDS_AT_ONCE: u64 = 100 * ROWS_AT_FIRST;

/// A range of names, of which one page is read at a time.
pub(super) struct Pages {
    span: Span,
    page: u64,
}

impl Pages {
    fn of(span: Span, page: u64) -> Self {
        Self { span, page }
    }

    /// Reads the next page.
    pub(super) fn read(&self) -> Op {
        Op::Read(self.span.clone().most(self.page))
    }
}

/// The ranges of a selection of which the first page is read together with its single records.
pub(super) fn first_pages(names: &Names, selection: &Selection<'_>) -> Vec<Pages> {
    let page = |folder| if folder == DEFINITIONS { LONG_PAGE } else { PAGE };
    let folders = selection.folders().map(|folder| Pages::of(Span::under(names.only(folder)), page(folder)));
    folders.chain(selection.scan.iter().flat_map(|scan| of_scan(names, scan))).collect()
}

fn of_scan(names: &Names, scan: &Scan<'_>) -> Vec<Pages> {
    let within = |folder: &str, from: &str, below: &str| {
        Span::one(format!("{folder}{from}")).to(format!("{folder}{below}"))
    };
    match *scan {
        // The ranges depend on the number of slots.
        Scan::Rows { keys: Keys::Of(_), .. } => Vec::new(),
        Scan::Rows { slot: Some(slot), keys: Keys::Between(from, below), most } => {
            vec![Pages::of(within(&names.rows_of(slot), from, below), page_of(most))]
        }
        Scan::Rows { most, .. } => vec![Pages::of(Span::under(names.rows()), page_of(most))],
        Scan::Dense { keys, most } => {
            let all = names.all_dense();
            let spans = match keys {
                Keys::All => vec![Span::under(all)],
                Keys::Of(name) => ranges_of(&format!("{all}{name}")).into(),
                Keys::Between(from, below) => vec![within(&all, from, below)],
            };
            spans.into_iter().map(|span| Pages::of(span, page_of(most))).collect()
        }
        Scan::History(counter) => vec![Pages::of(Span::under(names.past(counter)), PAGE)],
        Scan::Moved { since, .. } => {
            let later = Span::under(names.moves()).from(names.moves_of(since.saturating_add(1)));
            vec![Pages::of(later, LONG_PAGE)]
        }
    }
}

fn page_of(most: usize) -> u64 {
    PAGE.min(most as u64).max(1)
}

/// The ranges of a sequence: the key equal to its name, and the keys that begin with it and `|`.
fn ranges_of(name: &str) -> [Span; 2] {
    [Span::one(name.to_owned()), Span::under(format!("{name}|"))]
}

/// Reads the records of a selection as of one revision.
pub(super) async fn view(connection: &mut Connection, selection: &Selection<'_>) -> Result<Records, Fault> {
    let (cluster, names) = (connection.cluster(), connection.names());
    let answers = look(connection, reads(&names, selection)).await?;
    let mut loaded = Loaded::of(cluster, &names, selection, answers)?;
    if let Some(Scan::Rows { keys: Keys::Of(sequence), .. }) = selection.scan {
        let last = Span::under(names.rows()).last_first().most(1).at(loaded.revision);
        if let Some(last) = look(connection, vec![Op::Read(last)]).await?.one()
            && let Some(Named::Row(last)) = names.parsed(last.name()?)
        {
            loaded.unread.extend(of_sequence(&names, sequence, last.slot, loaded.revision));
        }
    }
    while !loaded.has_enough(&names, selection) {
        let batch = loaded.next_batch();
        let mut answers = look(connection, batch.iter().map(Pages::read).collect()).await?;
        loaded.take_pages(&names, batch, &mut answers)?;
    }
    Ok(loaded.listed(selection))
}

/// The ranges of a sequence's rows in all slots up to the last.
fn of_sequence(names: &Names, sequence: &str, last: SlotIndex, revision: u64) -> impl Iterator<Item = Pages> {
    let of_slot = move |slot| ranges_of(&format!("{}{sequence}", names.rows_of(slot)));
    (0..=last).flat_map(of_slot).map(move |span| Pages::of(span.at(revision), ROWS_AT_FIRST))
}

impl Loaded {
    /// Takes over the answers to the reads of pages. What is left of each becomes unread.
    pub(super) fn take_pages(
        &mut self,
        names: &Names,
        read: Vec<Pages>,
        answers: &mut Answers,
    ) -> Result<(), SourceError> {
        let mut left = Vec::new();
        for Pages { span, page } in read {
            let found = answers.all();
            for kv in &found.kvs {
                self.take(names, kv)?;
            }
            if let (true, Some(last)) = (found.more, found.kvs.last()) {
                let span = span.from(format!("{}\0", last.name()?)).at(self.revision);
                left.push(Pages { span, page: if page == ROWS_AT_FIRST { PAGE } else { page } });
            }
        }
        left.into_iter().rev().for_each(|pages| self.unread.push_front(pages));
        Ok(())
    }

    /// Whether nothing that the selection needs is unread.
    fn has_enough(&self, names: &Names, selection: &Selection<'_>) -> bool {
        let Some(next) = self.unread.front() else { return true };
        match selection.scan {
            Some(Scan::Rows { most, .. }) => match names.parsed(next.span.first()) {
                Some(Named::Row(next)) => self.records.rows.range(..next).count() >= most,
                _ => false,
            },
            Some(Scan::Dense { most, .. }) => self.records.dense.len() >= most,
            Some(Scan::Moved { most, .. }) => self.moved.len() >= most,
            _ => false,
        }
    }

    /// The next pages that one request may read.
    fn next_batch(&mut self) -> Vec<Pages> {
        let mut batch: Vec<Pages> = Vec::new();
        while let Some(next) = self.unread.pop_front() {
            let records: u64 = batch.iter().map(|pages| pages.page).sum();
            if !batch.is_empty() && records + next.page > RECORDS_AT_ONCE {
                self.unread.push_front(next);
                break;
            }
            batch.push(next);
        }
        batch
    }

    /// The records, of which a scan lists no more than it asks for.
    fn listed(self, selection: &Selection<'_>) -> Records {
        let mut records = self.records;
        match selection.scan {
            Some(Scan::Rows { most, .. }) => keep_first(&mut records.rows, most),
            Some(Scan::Dense { most, .. }) => keep_first(&mut records.dense, most),
            Some(Scan::Moved { most, .. }) => {
                records.moved = self.moved.into_values().collect();
                records.moved.sort_by_key(|moved| moved.version);
                records.moved.truncate(most);
            }
            _ => {}
        }
        records
    }
}

fn keep_first<K: Ord, V>(records: &mut BTreeMap<K, V>, most: usize) {
    while records.len() > most {
        records.pop_last();
    }
}
