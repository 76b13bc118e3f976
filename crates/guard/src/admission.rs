//! Who may take part: the layout, the stamps, and whether everything moved at once.

use std::{collections::BTreeMap, sync::Arc};

use sequent_core::{
    ErrorKind, Inspection, InstanceId, SlotIndex, SourceError,
    ledger::{Known, LayoutRecord, Ledger},
};

use crate::shard::Shard;

/// What a first look at the shards found: an inspection, or why there is none.
pub(crate) type Looks = Vec<(Arc<Shard>, Result<Inspection, SourceError>)>;

/// Looks at every shard at once.
pub(crate) async fn look(shards: &[Arc<Shard>]) -> Looks {
    let asked: Vec<_> = shards
        .iter()
        .map(|shard| {
            let store = Arc::clone(shard.store());
            (Arc::clone(shard), tokio::spawn(async move { store.inspect().await }))
        })
        .collect();
    let mut looks = Looks::with_capacity(asked.len());
    for (shard, look) in asked {
        let found = look.await.unwrap_or_else(|error| {
            Err(SourceError::new(ErrorKind::Unavailable, "inspect: its task ended early").because(error))
        });
        looks.push((shard, found));
    }
    looks
}

/// Refuses two slots on one store: their counters would be one counter.
pub(crate) fn no_two_on_one(looks: &Looks) -> Result<(), SourceError> {
    let mut seen: BTreeMap<&InstanceId, SlotIndex> = BTreeMap::new();
    for (shard, look) in looks {
        let Ok(found) = look else { continue };
        if let Some(other) = seen.insert(&found.instance, shard.slot()) {
            let context = format!("slots {other} and {} are on one store, {}", shard.slot(), found.instance);
            return Err(SourceError::new(ErrorKind::Refused, context));
        }
    }
    Ok(())
}

/// The layout in force, refused where it is not the one expected.
pub(crate) async fn layout(
    ledger: &dyn Ledger,
    first: &LayoutRecord,
) -> Result<Option<LayoutRecord>, SourceError> {
    let Some(held) = ledger.layout().await? else { return Ok(None) };
    agree(&held, first)?;
    Ok(Some(held))
}

/// Refuses a layout that is not the one expected.
pub(crate) fn agree(held: &LayoutRecord, first: &LayoutRecord) -> Result<(), SourceError> {
    if held.cluster != first.cluster {
        return Err(refused("cluster", &held.cluster, &first.cluster));
    }
    let (found, expected) = (held.layout, first.layout);
    if found.shard_bits() != expected.shard_bits() {
        return Err(refused("shard_bits", found.shard_bits(), expected.shard_bits()));
    }
    if found.memory_bits() != expected.memory_bits() {
        return Err(refused("memory_bits", found.memory_bits(), expected.memory_bits()));
    }
    Ok(())
}

fn refused(field: &str, found: impl std::fmt::Display, expected: impl std::fmt::Display) -> SourceError {
    let context = format!(
        "{field}: the ledger was founded with {found}, the config says {expected}; \
         the layout belongs to the ledger: leave {field} out, or set it to {found}"
    );
    SourceError::new(ErrorKind::Refused, context)
}

/// Whether a directory was copied or restored, as far as the instances on record tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    /// The ledger, or some shard, is the one on record.
    Not,
    /// The ledger is another one, and so is every shard that can be reached.
    All,
    /// The ledger is another one, and no shard on record can be reached to compare.
    Unknown,
}

/// Whether ledger and stores all are other ones than those on record, so that they were copied or restored together: what an
/// opening refuses where everything lies in files. `found` are the runs of the stores that were reached.
pub fn all_moved(known: &Known, ledger: &InstanceId, found: &[(SlotIndex, &InstanceId)]) -> bool {
    let compared = found.iter().filter_map(|(slot, is)| {
        let (_, record) = known.stores.iter().find(|(known, _)| known == slot)?;
        Some(record != *is)
    });
    Move::among(known, ledger, compared) == Move::All
}

impl Move {
    /// Compares looks already taken with the records.
    pub(crate) fn of(known: &Known, ledger: &InstanceId, looks: &Looks) -> Self {
        let records: BTreeMap<SlotIndex, &InstanceId> =
            known.stores.iter().map(|(slot, instance)| (*slot, instance)).collect();
        let compared = looks.iter().filter_map(|(shard, look)| {
            let record = records.get(&shard.slot())?;
            Some(look.as_ref().ok()?.instance != **record)
        });
        Self::among(known, ledger, compared)
    }

    /// The same of shards that were compared already: of each whether it is another than the one on record.
    pub(crate) fn among(
        known: &Known,
        ledger: &InstanceId,
        mut compared: impl Iterator<Item = bool>,
    ) -> Self {
        if known.ledger.as_ref().is_none_or(|record| record == ledger) || known.stores.is_empty() {
            return Self::Not;
        }
        match compared.next() {
            None => Self::Unknown,
            Some(first_moved) if first_moved && compared.all(|moved| moved) => Self::All,
            Some(_) => Self::Not,
        }
    }

    /// The same, refused where nobody can tell yet: what was accepted then would never be asked again.
    pub(crate) fn told(self) -> Result<Self, SourceError> {
        if self == Self::Unknown {
            let context = "the ledger is another file than the one on record, and no shard can be reached to tell \
                 whether the directory was copied";
            return Err(SourceError::new(ErrorKind::NoWitness, context));
        }
        Ok(self)
    }
}
