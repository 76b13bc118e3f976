//! `recover`: going on after a loss that an operator names.

mod adopt;
mod answers;
mod recovery_plan;
mod restored_layout;
pub(crate) mod since;
pub(crate) mod unreadable_witnesses;

pub use adopt::NamedLoss;
pub use answers::{Answer, Answers};
pub use recovery_plan::{PlannedKey, RecoveryPlan};
pub use since::{BUMP_MAX, CopyMade, LossEstimate};
pub use unreadable_witnesses::{MarksReport, UnreadMark};

use std::{collections::BTreeSet, sync::Arc};

use sequent_core::{
    MarkPlace, SlotIndex, SourceError,
    ledger::{Counter, Loss},
};
use sequent_engine::{OpenError, bootstrap::FIRST_CALL_FACTOR, data::Unjudged};

use crate::{
    admin::Admin,
    ceiling_view::{Permitted, without_generation},
    cell_scan::{Extent, Pages, Reached, extent_of},
    jumps::bound,
    named_floor::note,
};
use unreadable_witnesses::check_named;

impl Admin {
    /// Names the loss after which this cluster may go on. Every counter then opens a new epoch above its
    /// ceiling. No process of the cluster should be running. Returns what was done, for people.
    ///
    /// # Errors
    ///
    /// As [`recover_without`](Self::recover_without). The mark of every shard must be read.
    pub async fn recover(&self, loss: Loss) -> Result<String, OpenError> {
        self.recover_without(loss, &BTreeSet::new()).await
    }

    /// As [`recover`](Self::recover), if an operator has confirmed that the marks of some slots can't be
    /// read. [`MarksReport`] explains the consequence.
    ///
    /// # Errors
    ///
    /// `Refused`, with nothing done, if another slot's mark can't be read. `Recovery` if the shards belong to
    /// another ledger. Those of the data directory, which is made if missing, also with nothing done. Those
    /// of the ledger.
    pub async fn recover_without(
        &self,
        loss: Loss,
        without: &BTreeSet<SlotIndex>,
    ) -> Result<String, OpenError> {
        let cluster = &self.0;
        self.check_loss(loss, without).await?;
        let shards = self.0.stores();
        let unjudged = cluster.home.as_deref().map(Unjudged);
        let home = unjudged.as_ref().map(|home| home as &dyn MarkPlace);
        let unreadable = match &cluster.home {
            Some(home) => home.unreadable().await?.map(|found| (home.path(), found)),
            None => None,
        };
        if let Some(home) = &cluster.home {
            // Prepared before the ledger is changed. If it failed afterwards, a repeated command would add
            // the loss once more.
            home.prepare().await?;
        }
        sequent_guard::recover(&*cluster.ledger, &shards, home, loss, cluster.limit).await?;
        if let Loss::Bump(bump) = loss {
            // If the note fails, then doctor reports cells that the loss covers. There is no other
            // consequence.
            drop(note(&*cluster.ledger, bump, cluster.limit).await);
        }
        // Written after the ledger is changed. If the process ends in between, the marker still demands a
        // recovery, and the command is repeated.
        if let Some(home) = &cluster.home {
            home.renew(Some(cluster.record.era())).await?;
        }
        let done = match loss {
            Loss::Moved => "this is the newest state: each counter goes on above its ceiling".to_owned(),
            Loss::Bump(ids) => {
                format!("each counter goes on {ids} raw ids above its ceiling, all of them skipped")
            }
        };
        Ok(match unreadable {
            None => done,
            Some((file, found)) => {
                format!(
                    "{done}; the marker {} could not be read, and was written again: {found}",
                    file.display()
                )
            }
        })
    }

    /// Refuses a loss that can't be named here. Either a mark or a store can't be read and the operator has
    /// not named it, or cells have come further. Changes nothing.
    ///
    /// # Errors
    ///
    /// Those of [`recover_without`](Self::recover_without).
    pub async fn check_loss(&self, loss: Loss, without: &BTreeSet<SlotIndex>) -> Result<(), OpenError> {
        let cluster = &self.0;
        check_named(without, cluster.record.layout.slots())?;
        let stores: Vec<_> = self.0.stores().into_iter().map(|(_, store)| store).collect();
        sequent_guard::belongs(&*cluster.ledger, &stores, cluster.limit).await?;
        self.marks().await.check(loss, without)?;
        self.check_named_enough(loss, without).await
    }

    /// Checks that no cell is further above the ledger's bound than the named loss. Without a row the bound
    /// is 0, or the floor that an earlier recovery left.
    async fn check_named_enough(&self, loss: Loss, without: &BTreeSet<SlotIndex>) -> Result<(), OpenError> {
        let Loss::Bump(bump) = loss else { return Ok(()) };
        self.extent().await?.check(bump, without).map(drop)
    }

    /// How far the cells are above what the ledger permits them.
    pub(crate) async fn extent(&self) -> Result<Extent, OpenError> {
        let limit = self.limit() * FIRST_CALL_FACTOR;
        let stores = self.0.stores().into_iter();
        if self.is_bare().await? {
            return Ok(extent_of(stores, None, Pages::all(limit)).await);
        }
        let permitted = Permitted::by(&self.0.ledger, self.0.record.generation, limit).await?;
        let mut extent = extent_of(stores, Some(&Arc::new(permitted)), Pages::all(limit)).await;
        for cell in extent.far() {
            // If the history can't be read, the warning contains less.
            cell.reach = self.reach_of(cell).await.unwrap_or_default();
        }
        Ok(extent)
    }

    /// How far the epoch of a cell can have come, by records other than row and cell. `None` for other
    /// layouts, whose raw ids are other numbers.
    async fn reach_of(&self, cell: &Reached) -> Result<Option<u64>, SourceError> {
        if cell.key.generation() != self.0.record.generation {
            return Ok(None);
        }
        let counter = Counter { slot: cell.slot, key: without_generation(&cell.key) };
        let rows = self.rows_of(&counter.key).await?;
        let Some((_, row)) = rows.iter().find(|(held, _)| *held == counter) else { return Ok(None) };
        let inspection = self.0.inspected().await?;
        let under = (self.layout(), &inspection);
        bound(self.ledger(), (&counter, row), &rows, under, self.limit()).await.map(Some)
    }

    /// Whether the ledger has no row of any counter.
    pub(crate) async fn is_bare(&self) -> Result<bool, OpenError> {
        Ok(self.0.within("read the rows", self.ledger().list(None, 1)).await?.is_empty())
    }
}
