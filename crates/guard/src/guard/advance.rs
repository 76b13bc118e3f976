//! Advance of a key by an operator, in every slot of the ring.

use std::sync::Arc;

use sequent_core::{
    Block, Epoch, ErrorKind, InstanceId, Key, Scope, SlotIndex, SourceError,
    ledger::{Counter, Opened},
};
use tokio::task::JoinSet;

use super::{Ask, Guard, Shared};
use crate::{
    counter::{Guarded, decreed, is_past},
    jump_limit::{self, JumpBound},
};

/// Store placeholder of an epoch that was advanced without its store.
const ADVANCED: &str = "advanced by an operator";

/// How far a counter is, and how far it may be advanced without a jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Headroom {
    /// The slot.
    pub slot: SlotIndex,
    /// The counter gives nothing at or below this raw id any more.
    pub at: u64,
    /// It may have given ids up to this one: its ceiling.
    pub ceiling: u64,
    /// The highest raw id that is no jump.
    pub bound: u64,
    /// The limit that determines `bound`.
    pub decided_by: JumpBound,
}

impl Guard {
    /// How far a key's counters are in every slot, including slots without a store, in one ledger call.
    ///
    /// # Errors
    ///
    /// `NoWitness` if the ledger is away; `LedgerBehind` if it is not trusted.
    pub async fn headroom(&self, key: &Key, raw_max: u64) -> Result<Vec<Headroom>, SourceError> {
        self.shared.client.trusted()?;
        let counters: Vec<Counter> = self.every_slot(key).collect();
        let (_, reading) = self.shared.client.read(&counters).await?;
        let headroom = |(counter, row): (&Counter, &Option<_>)| {
            let row: Option<&sequent_core::ledger::Row> = row.as_ref();
            let at = row.map_or(0, sequent_core::ledger::Row::reached);
            let ceiling = row.map_or(0, |row| row.ceiling).max(at);
            let bound = ceiling.saturating_add(jump_limit::advance_max(at, raw_max)).min(Block::NUMBER_MAX);
            let decided_by = jump_limit::advance_bound(at, raw_max);
            Headroom { slot: counter.slot, at, ceiling, bound, decided_by }
        };
        Ok(counters.iter().zip(&reading.rows).map(headroom).collect())
    }

    /// Ends the epoch of each of the key's counters that is not above its floor, and begins the next one above it. `floors` has
    /// one entry for each slot of the ring. Nothing is lowered, and repeating the call changes nothing.
    ///
    /// For a store that is unreachable, or can't hold the counter, only the row is changed, and the store follows when it is back. Its earlier ids may leave until
    /// the servers with a grant have read the row, which takes two seconds.
    ///
    /// # Errors
    ///
    /// Those of the ledger; `Jumped` if a store's value is far above its ceiling.
    pub async fn advance(&self, key: &Key, raw_max: u64, floors: &[u64]) -> Result<(), SourceError> {
        // Keeps the counters alive until all of them are advanced.
        let _sources = self.counters(key, raw_max).await?;
        let highest = floors.iter().copied().max().unwrap_or(0);
        if highest > 0 {
            // Noted first, so that a server that meets such an epoch does not take it for one set by hand.
            self.shared.client.note_begun(key, highest).await?;
        }
        let mut works = JoinSet::new();
        for (counter, &floor) in self.every_slot(key).zip(floors) {
            let guarded = self.registry().get(&counter).cloned();
            let shared = Arc::clone(&self.shared);
            works.spawn(async move { advance_one(shared, guarded, counter, floor).await });
        }
        while let Some(done) = works.join_next().await {
            done.map_err(|error| SourceError::new(ErrorKind::Unavailable, "advance").because(error))??;
        }
        Ok(())
    }

    /// Notes in one call what [`advance`](Self::advance) notes of each key first: how far its highest floor is. A note that is
    /// there is not written again.
    ///
    /// # Errors
    ///
    /// Those of the ledger.
    pub async fn announce(&self, keys: &[(Key, u64)]) -> Result<(), SourceError> {
        self.shared.client.trusted()?;
        self.shared.client.note_all_begun(keys).await
    }

    fn every_slot(&self, key: &Key) -> impl Iterator<Item = Counter> + use<'_> {
        let key = key.clone();
        (0..self.layout.layout.slots()).map(move |slot| Counter { slot, key: key.clone() })
    }
}

async fn advance_one(
    shared: Arc<Shared>,
    guarded: Option<Arc<Guarded>>,
    counter: Counter,
    floor: u64,
) -> Result<(), SourceError> {
    if floor == 0 {
        return Ok(());
    }
    if let Some(guarded) = guarded {
        match guarded.advance_to(floor).await {
            Err(error) if error.kind().verdict().scope == Scope::Slot || error.kind() == ErrorKind::Unfit => {
            }
            outcome => return outcome,
        }
    }
    let (_, reading) = shared.client.read(std::slice::from_ref(&counter)).await?;
    if reading.rows.into_iter().flatten().any(|row| is_past(&row, floor)) {
        return Ok(());
    }
    let epoch = Epoch::random(&*shared.env.entropy);
    let opening = decreed(counter, epoch, InstanceId::nobody(ADVANCED), floor);
    match shared.ask(Ask::Open(opening)).await?.opened()? {
        Opened::Row(_) | Opened::Known(_) => Ok(()),
        Opened::Overtaken => Err(SourceError::new(ErrorKind::Contended, "another server was faster")),
        Opened::Jumped { found, bound } => {
            let context = format!("raw id {found} is a jump: at most {bound} is accepted");
            Err(SourceError::new(ErrorKind::Jumped, context))
        }
    }
}
