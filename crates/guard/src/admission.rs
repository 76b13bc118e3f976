//! Admission: checks of layout and stamps, and detection of a copied directory.

use std::{collections::BTreeMap, sync::Arc};

use sequent_core::{
    ErrorKind, Inspection, InstanceId, SlotIndex, SourceError,
    ledger::{Known, LayoutRecord, Ledger},
};

use crate::shard::Shard;

/// Results of a first look at the shards: an inspection, or its error.
pub(crate) type Looks = Vec<(Arc<Shard>, Result<Inspection, SourceError>)>;

/// Inspects all shards at once.
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

/// The layout in force; refused if it is not the expected one.
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

/// Whether a directory was copied or restored, judged by the instances on record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    /// The ledger or some shard is the one on record.
    Not,
    /// The ledger and every reachable shard differ from the record.
    All,
    /// The ledger differs from the record, and no shard on record can be reached for comparison.
    Unknown,
}

/// Whether the ledger and all stores differ from those on record: they were copied or restored together. An opening refuses
/// this if everything is in files.
///
/// `found` are the instances of the stores that were reached.
pub fn all_moved(known: &Known, ledger: &InstanceId, found: &[(SlotIndex, &InstanceId)]) -> bool {
    let compared = found.iter().filter_map(|(slot, is)| {
        let (_, record) = known.stores.iter().find(|(known, _)| known == slot)?;
        Some(record != *is)
    });
    Move::among(known, ledger, compared) == Move::All
}

impl Move {
    /// Compares inspections with the records.
    pub(crate) fn of(known: &Known, ledger: &InstanceId, looks: &Looks) -> Self {
        let records: BTreeMap<SlotIndex, &InstanceId> =
            known.stores.iter().map(|(slot, instance)| (*slot, instance)).collect();
        let compared = looks.iter().filter_map(|(shard, look)| {
            let record = records.get(&shard.slot())?;
            Some(look.as_ref().ok()?.instance != **record)
        });
        Self::among(known, ledger, compared)
    }

    /// Compares by flags, one per shard: whether it differs from the record.
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

    /// Refuses an undecided comparison: once accepted, it would never be repeated.
    pub(crate) fn told(self) -> Result<Self, SourceError> {
        if self == Self::Unknown {
            let context = "the ledger is not the file on record, and no shard is reachable to check whether the directory was \
                 copied";
            return Err(SourceError::new(ErrorKind::NoWitness, context));
        }
        Ok(self)
    }
}
