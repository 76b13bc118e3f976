//! JSON format of each record, readable for operators.

use sequent_core::{
    Epoch, ErrorKind, InstanceId, Layout, SlotIndex, SourceError,
    ledger::{Definition, LayoutPage, Moved, PastEpoch, ResizeStep, Row, SlotCommand, SlotVerb},
};
use serde::{Deserialize, Serialize};

use crate::{
    etcd::{
        client::Kv,
        json_value::{self, unreadable},
        keys::Names,
    },
    ledger::{DenseCount, bounded_sum},
};

/// A server's row.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptServer {
    pub(super) nonce: u64,
    pub(super) seen_ms: u64,
}

/// The sum of the losses stated by operators, and the floor.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Losses {
    /// The sum of all losses.
    pub(super) lost: u64,
    /// The ceiling of counters without a row.
    pub(super) floor: u64,
}

impl Losses {
    /// Adds a loss.
    pub(super) fn and(self, more: u64) -> Self {
        Self { lost: self.lost.saturating_add(more), floor: bounded_sum(self.floor, more) }
    }
}

/// A row. `lost` is the sum of losses at the time of its write.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptRow {
    epoch: i64,
    store: String,
    ledger: String,
    base: u64,
    ceiling: u64,
    seen: u64,
    opened_at_ms: u64,
    lost: u64,
}

impl KeptRow {
    /// The stored form under the current sum of losses.
    pub(super) fn of(row: &Row, losses: Losses) -> Self {
        Self {
            epoch: row.epoch.to_stored(),
            store: row.store.as_str().to_owned(),
            ledger: row.ledger.as_str().to_owned(),
            base: row.base,
            ceiling: row.ceiling,
            seen: row.seen,
            opened_at_ms: row.opened_at_ms,
            lost: losses.lost,
        }
    }

    /// The row, with the losses added since it was written.
    fn row(self, losses: Losses) -> Row {
        let lost = losses.lost.saturating_sub(self.lost);
        Row {
            epoch: Epoch::from_stored(self.epoch),
            store: InstanceId::new(self.store),
            ledger: InstanceId::new(self.ledger),
            base: self.base,
            ceiling: bounded_sum(self.ceiling, lost),
            seen: bounded_sum(self.seen, lost),
            opened_at_ms: self.opened_at_ms,
        }
    }

    pub(super) fn read(kv: &Kv, losses: Losses) -> Result<Row, SourceError> {
        Ok(json_value::of::<Self>("row", kv)?.row(losses))
    }
}

/// A dense counter. `lost` is the sum of losses at the time of its write.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptDense {
    value: u64,
    begun_at_ms: u64,
    lost: u64,
}

impl KeptDense {
    pub(super) fn of(count: DenseCount, losses: Losses) -> Self {
        Self { value: count.value, begun_at_ms: count.begun_at_ms, lost: losses.lost }
    }

    pub(super) fn read(kv: &Kv, losses: Losses) -> Result<DenseCount, SourceError> {
        let Self { value, begun_at_ms, lost } = json_value::of("dense counter", kv)?;
        Ok(DenseCount { value: bounded_sum(value, losses.lost.saturating_sub(lost)), begun_at_ms })
    }
}

/// An ended epoch.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptPast {
    epoch: i64,
    base: u64,
    ceiling: u64,
}

impl KeptPast {
    pub(super) fn of(past: &PastEpoch) -> Self {
        Self { epoch: past.epoch.to_stored(), base: past.base, ceiling: past.ceiling }
    }

    pub(super) fn read(kv: &Kv) -> Result<PastEpoch, SourceError> {
        let Self { epoch, base, ceiling } = json_value::of("history", kv)?;
        Ok(PastEpoch { epoch: Epoch::from_stored(epoch), base, ceiling })
    }
}

/// A changed row: its name, its epoch, and `seen`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptMove(String, i64, u64);

impl KeptMove {
    pub(super) fn of(name: String, row: &Row) -> Self {
        Self(name, row.epoch.to_stored(), row.seen)
    }

    pub(super) fn moved(self, names: &Names, version: u64) -> Result<Moved, SourceError> {
        let Self(name, epoch, seen) = self;
        let counter = names.counter(&name).ok_or_else(|| unreadable("name of a moved row"))?;
        Ok(Moved { counter, epoch: Epoch::from_stored(epoch), seen, version })
    }
}

/// The page of the layout.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptLayout {
    cluster: String,
    shard_bits: u8,
    memory_bits: u8,
    generation: u64,
    /// Shard bits and memory bits of the next layout.
    next: Option<(u8, u8)>,
    is_fenced: bool,
}

impl KeptLayout {
    pub(super) fn of(page: &LayoutPage) -> Self {
        let LayoutPage { cluster, layout, generation, step } = page;
        let bits = |layout: &Layout| (layout.shard_bits(), layout.memory_bits());
        let ((shard_bits, memory_bits), cluster) = (bits(layout), cluster.as_str().to_owned());
        let (next, generation, is_fenced) = (step.next().as_ref().map(bits), *generation, step.is_fenced());
        Self { cluster, shard_bits, memory_bits, generation, next, is_fenced }
    }

    pub(super) fn read(kv: &Kv) -> Result<LayoutPage, SourceError> {
        let Self { cluster, shard_bits, memory_bits, generation, next, is_fenced } =
            json_value::of("layout", kv)?;
        let layout = |(n, m)| Layout::new(n, m).map_err(|error| unreadable("layout").because(error));
        let cluster = cluster.parse();
        let cluster =
            cluster.map_err(|error: sequent_core::NameError| unreadable("layout").because(error))?;
        let next = next.map(layout).transpose()?;
        let step = ResizeStep::from_stored(next, is_fenced).ok_or_else(|| unreadable("layout"))?;
        Ok(LayoutPage { cluster, layout: layout((shard_bits, memory_bits))?, generation, step })
    }
}

/// A definition.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptDefinition {
    name: String,
    version: u32,
    body: String,
}

impl KeptDefinition {
    pub(super) fn of(definition: &Definition) -> Self {
        let Definition { name, version, body } = definition;
        Self { name: name.as_str().to_owned(), version: *version, body: body.clone() }
    }

    pub(super) fn read(kv: &Kv) -> Result<Definition, SourceError> {
        let Self { name, version, body } = json_value::of("definition", kv)?;
        let unreadable = |error: sequent_core::NameError| unreadable("definition").because(error);
        Ok(Definition { name: name.parse().map_err(unreadable)?, version, body })
    }
}

/// An operator's command.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptCommand {
    verb: String,
    who: String,
    why: String,
    at_ms: u64,
    until_ms: Option<u64>,
}

impl KeptCommand {
    pub(super) fn of(word: &SlotCommand) -> Self {
        let SlotCommand { verb, who, why, at_ms, until_ms, .. } = word.clone();
        Self { verb: verb.as_str().to_owned(), who, why, at_ms, until_ms }
    }

    pub(super) fn read(slot: SlotIndex, kv: &Kv) -> Result<SlotCommand, SourceError> {
        let Self { verb, who, why, at_ms, until_ms } = json_value::of("command", kv)?;
        let verb = SlotVerb::from_word(&verb).ok_or_else(|| {
            SourceError::new(ErrorKind::Refused, format!("command about slot {slot}: found verb {verb:?}"))
        })?;
        Ok(SlotCommand { slot, verb, who, why, at_ms, until_ms })
    }
}

#[cfg(test)]
mod tests {
    use sequent_core::Block;

    use super::*;

    fn row(ceiling: u64) -> Row {
        Row {
            epoch: Epoch::from_stored(-7),
            store: InstanceId::new("s"),
            ledger: InstanceId::new("l"),
            base: 3,
            ceiling,
            seen: 5,
            opened_at_ms: 9,
        }
    }

    #[test]
    fn a_row_has_what_was_lost_since_it_was_written_and_no_more() {
        let losses = [40, 1040, u64::MAX].map(|lost| Losses { lost, floor: 0 });
        assert_eq!(KeptRow::of(&row(100), losses[0]).row(losses[0]), row(100));
        let widened = KeptRow::of(&row(100), losses[0]).row(losses[1]);
        assert_eq!((widened.base, widened.ceiling, widened.seen), (3, 1100, 1005));
        let again = KeptRow::of(&widened, losses[1]).row(losses[1]);
        assert_eq!(again, widened);
        let edge = KeptRow::of(&row(Block::NUMBER_MAX - 1), losses[0]).row(losses[2]);
        assert_eq!(edge.ceiling, Block::NUMBER_MAX);
    }
}
