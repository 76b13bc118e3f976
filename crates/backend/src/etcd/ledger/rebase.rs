//! Rows of the layout before, replaced by rows of the next one: a transaction a key.

use std::collections::BTreeMap;

use sequent_core::{
    ErrorKind, Incarnation, Life, SlotIndex, SourceError,
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

/// The most slots of either layout: what one transaction can read beside that.
const SLOTS_MAX: usize = OPS_MAX - PARTS.len();

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
        if usize::from(slots) > SLOTS_MAX {
            return Err(too_many(slots).into());
        }
        let mut version = 0;
        for key in self.keys {
            version = replace(link, self.held, &change, (key, slots)).await?;
        }
        Ok(version)
    }
}

fn too_many(slots: SlotIndex) -> SourceError {
    let context = format!("{slots} slots: a ledger on etcd changes rings of at most {SLOTS_MAX} slots");
    SourceError::new(ErrorKind::Refused, context)
}

/// Replaces the rows of one key; returns the version.
async fn replace(
    link: &mut Link,
    held: &LayoutPage,
    change: &LayoutChange,
    (rebased, slots): (&Rebased, SlotIndex),
) -> Result<u64, Fault> {
    let (voice, names) = (link.voice(), link.names());
    let counter = |slot| Counter { slot, key: rebased.key.clone() };
    let rows = (0..slots).map(|slot| names.row(&counter(slot)));
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
        let begun = rebased.bases.iter().map(|(slot, base)| (*slot, begun(change, &speaks, *base, clock_ms)));
        page.fill(&mut answers, (0..slots).map(counter), begun.collect())?;
        page.checked(slots).map(|change| Step::Write(change, next))
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

/// What replaces the rows of a key.
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

    fn checked(self, slots: SlotIndex) -> Result<Change, Fault> {
        if self.ops.len() > OPS_MAX || self.unchanged.len() > OPS_MAX {
            return Err(too_many(slots).into());
        }
        Ok(Change { unchanged: self.unchanged, ops: self.ops })
    }
}
