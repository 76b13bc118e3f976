//! Rows of the layout before, replaced by rows of the next one: a key's slots in as many transactions as they need.
//!
//! A key that is cut off between two of them has rows of both layouts, or too few: the next resize sees it, and begins it
//! anew above all that either says. Nobody else reads them before the page is settled.

use std::collections::BTreeMap;

use sequent_core::{
    Incarnation, Life, SlotIndex, SourceError,
    ledger::{Counter, LayoutChange, LayoutPage, Rebased, Row, other_page},
};

use super::{
    MOVES_KEPT,
    admit::speaker,
    kept::{KeptMove, KeptPast, KeptRow, Losses},
    layout_book::expect,
    page::OPS_MAX,
    transact::{Change, Step, transact},
};
use crate::{
    etcd::{
        gateway::{Kv, Op, Span},
        link::Link,
        names::Names,
        value::{self, Answers, or_default},
    },
    wire::{Fault, Work},
};

/// What stands before the rows of a key.
const PARTS: [&str; 4] = ["layout", "run", "version", "losses"];

/// What is written beside the rows: the version, what moved, and what is forgotten of that.
const OPS_BESIDE: usize = 3;

/// How many slots of a key one transaction replaces: each may end a life, which goes into the history.
const SLOTS_MAX: usize = (OPS_MAX - OPS_BESIDE) / 2;

// What a transaction rests on is as bounded as what it writes.
const _: () = assert!(PARTS.len() + SLOTS_MAX <= OPS_MAX);

pub(super) struct Rebase<'a> {
    pub(super) held: &'a LayoutPage,
    pub(super) keys: &'a [Rebased],
}

impl Work<Link> for Rebase<'_> {
    type Out = u64;
    const VERB: &'static str = "rebase counters in";

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let Some(change) = self.held.change().filter(|_| self.held.is_fenced) else {
            return Err(other_page(Some(self.held), self.held).into());
        };
        let slots = change.from.layout.slots().max(change.next.layout.slots());
        let all: Vec<SlotIndex> = (0..slots).collect();
        let mut version = 0;
        for key in self.keys {
            for some in all.chunks(SLOTS_MAX) {
                version = replace(link, self.held, &change, (key, some)).await?;
            }
        }
        Ok(version)
    }
}

/// Replaces a key's rows in these slots; returns the version.
async fn replace(
    link: &mut Link,
    held: &LayoutPage,
    change: &LayoutChange,
    (rebased, slots): (&Rebased, &[SlotIndex]),
) -> Result<u64, Fault> {
    let (voice, names) = (link.voice(), link.names());
    let counter = |slot| Counter { slot, key: rebased.key.clone() };
    let rows = slots.iter().map(|slot| names.row(&counter(*slot)));
    let parts = PARTS.map(|what| names.only(what));
    let reads: Vec<Op> = parts.iter().cloned().chain(rows).map(Span::one).map(Op::Read).collect();
    let (version, _) = transact(link, &reads, |mut answers| {
        let found = [answers.one(), answers.one(), answers.one(), answers.one()];
        expect(found[0].as_ref(), held)?;
        let speaks = speaker(voice, found[1].as_ref())?;
        let (version, _): (u64, _) = or_default("version", found[2].as_ref())?;
        let (losses, _): (Losses, _) = or_default("losses", found[3].as_ref())?;
        let revision = |kv: &Option<Kv>| kv.as_ref().map_or(0, |kv| kv.mod_revision);
        let unchanged = parts.iter().cloned().zip(found.iter().map(revision)).collect();
        let next = version.saturating_add(1);
        let mut page = Replaced { names: &names, losses, version: next, unchanged, ops: Vec::new() };
        let clock_ms = answers.clock_ms;
        let bases = rebased.bases.iter().filter(|(slot, _)| slots.contains(slot));
        let begun = bases.map(|(slot, base)| (*slot, begun(change, &speaks, *base, clock_ms)));
        page.fill(&mut answers, slots.iter().copied().map(counter), begun.collect())?;
        Ok(Step::Write(Change { unchanged: page.unchanged, ops: page.ops }, next))
    })
    .await?;
    Ok(version)
}

fn begun(change: &LayoutChange, ledger: &Incarnation, base: u64, now_ms: u64) -> Row {
    Row {
        life: Life::of_epoch(change.next.epoch),
        store: change.marker(),
        ledger: ledger.clone(),
        base,
        ceiling: base,
        seen: base,
        opened_at_ms: now_ms,
    }
}

/// What replaces rows of a key.
struct Replaced<'a> {
    names: &'a Names,
    losses: Losses,
    version: u64,
    unchanged: Vec<(String, u64)>,
    ops: Vec<Op>,
}

impl Replaced<'_> {
    fn fill(
        &mut self,
        answers: &mut Answers,
        counters: impl Iterator<Item = Counter>,
        mut begun: BTreeMap<SlotIndex, Row>,
    ) -> Result<(), SourceError> {
        let mut moves = Vec::new();
        for counter in counters {
            let (name, kv) = (self.names.row(&counter), answers.one());
            let Some(kv) = kv else {
                self.put(name, begun.remove(&counter.slot), &mut moves);
                continue;
            };
            self.unchanged.push((name.clone(), kv.mod_revision));
            let old = KeptPast::of(&KeptRow::read(&kv, self.losses)?);
            self.ops.push(Op::Put(self.names.past_life(&counter, self.version, 0), value::text(&old)));
            match begun.remove(&counter.slot) {
                None => self.ops.push(Op::Delete(Span::one(name))),
                new => self.put(name, new, &mut moves),
            }
        }
        self.ops.push(Op::Put(self.names.only("version"), self.version.to_string()));
        self.ops.push(Op::Put(self.names.moves_of(self.version), value::text(&moves)));
        if let Some(oldest) = self.version.checked_sub(MOVES_KEPT) {
            let old = Span::under(self.names.moves()).to(self.names.moves_of(oldest));
            self.ops.push(Op::Delete(old));
        }
        Ok(())
    }

    fn put(&mut self, name: String, row: Option<Row>, moves: &mut Vec<KeptMove>) {
        let Some(row) = row else { return };
        moves.push(KeptMove::of(name.clone(), &row));
        self.ops.push(Op::Put(name, value::text(&KeptRow::of(&row, self.losses))));
    }
}
