//! The ring grows, or its slots move: planned, fenced, in force. The ledger says how far it has come, so whoever is
//! killed on the way, or finds a store away, begins again where it was.
//!
//! | step | why |
//! |---|---|
//! | every store and the data directory take a mark | what can't be written to must be known while nothing is different |
//! | the ledger's page is fenced | no pass of the layout before is good any more: no epoch is opened, no ceiling raised, under it |
//! | every cell that has a row is closed | a server that the ledger does not reach takes nothing any more, however long it slept |
//! | each key's counters are rebased | above every *number* that the layout before can have given: the higher of ceiling and value |
//! | the stores are stamped | whoever comes with the layout before is told by the store, too |
//! | the ledger's page is settled | servers of the next layout may open |
//!
//! A key without a row has given nothing: nothing leaves before an epoch was opened, and none can be after the fence.

mod close_cells;
mod inspect;
mod keys;
mod preflight;
mod write_rows;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use sequent_core::{
    Env, ErrorKind, Key, Layout, MarkPlace, Rules, SlotIndex, SourceError, Stamp, Store,
    ledger::{Counter, LayoutChange, LayoutPage, LayoutRecord, Ledger, Rebased, Row},
};

use crate::{old_layout_marks::note_end, timeouts::patiently};
use inspect::Sight;
use write_rows::Rebasing;

/// The most counters that a ring may have to be changed by this version: all their rows are read at once.
pub const COUNTERS_MAX: usize = 1 << 20;

/// Cells that are closed before the keys that they are of are rebased, and marks are left: as many, unless a single key has
/// more.
const CELLS_MAX: usize = 4096;

/// Why a change that has ended amid its keys need not be begun anew.
const WHAT_STAYS: &str = "still fenced, and what was done stays done";

/// A store at hand: which slot of the next layout it shall have; `None` for one that leaves the ring.
pub struct Placed {
    /// Its slot in the next layout.
    pub slot: Option<SlotIndex>,
    /// The store.
    pub store: Arc<dyn Store>,
}

/// A change of the layout, and all that it needs.
pub struct Resize {
    /// The durable book of record.
    pub ledger: Arc<dyn Ledger>,
    /// Every store of the layout before and of the next one, each once. What its stamp says tells where it is now.
    pub stores: Vec<Placed>,
    /// The next layout.
    pub next: Layout,
    /// Slots of the layout before whose stores no server can reach any more, as a person says.
    pub gone: BTreeSet<SlotIndex>,
    /// Whether the ledger and all stores of the layout before are files: a copied directory then looks consistent.
    pub embedded: bool,
    /// The server's data directory, where versions are left besides.
    pub home: Option<Arc<dyn MarkPlace>>,
    /// The time limit of each call.
    pub limit: Duration,
    /// Clock and entropy.
    pub env: Env,
    /// The rules in force: all of them, except in mutation tests.
    pub rules: Rules,
}

/// How far a change has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The ledger holds the next layout; nothing is different yet.
    Planned,
    /// Whoever counts by the layout before is refused.
    Fenced,
    /// So many of the keys have their counters of the next layout.
    Rebased {
        /// Keys done.
        done: usize,
        /// Keys in all.
        of: usize,
    },
    /// The next layout is in force.
    Current,
}

/// What a change would do, or did.
#[derive(Debug, Clone)]
pub struct Plan {
    /// From which layout to which.
    pub change: LayoutChange,
    /// Whether the layout before is refused already: the change must be finished.
    pub is_fenced: bool,
    /// The keys whose counters are still of the layout before, ascending.
    pub keys: Vec<KeyPlan>,
    /// The slots of the next layout whose stores are new to the ring.
    pub new: Vec<SlotIndex>,
    /// Stores that move: from which slot to which.
    pub moved: Vec<(SlotIndex, SlotIndex)>,
    /// Slots of the layout before whose stores leave the ring.
    pub leaving: Vec<SlotIndex>,
}

/// What becomes of a key.
#[derive(Debug, Clone)]
pub struct KeyPlan {
    /// The key.
    pub key: Key,
    /// The place, from 0, of the highest number that servers have reported as taken; `None`: none.
    pub taken: Option<u64>,
    /// The place of the highest number that can have been given: as far as the ledger has permitted, and the cells are.
    pub last: Option<u64>,
    /// Where it was to begin in the next layout, by the rows that a resize left which was cut off amid the key: the place
    /// before.
    begun: Option<u64>,
    /// Its rows in the layout before.
    rows: Vec<(SlotIndex, Row)>,
}

impl Resize {
    /// What it would do. Changes nothing.
    ///
    /// # Errors
    ///
    /// `Refused` for what keeps it from being done: another change under way, stores that are missing, foreign or twice,
    /// too many counters. `LedgerBehind` where the ledger went back, or a directory was copied. Those of the ledger and the stores.
    pub async fn plan(&self) -> Result<Plan, SourceError> {
        let sight = self.look().await?;
        let mut plan = self.plan_of(&sight).await?;
        self.read_values(&sight, &mut plan).await?;
        Ok(plan)
    }

    /// Does it, from wherever it has come to. `tell` hears of each step.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan). Whatever fails, the same call once more goes on where this one ended.
    pub async fn run(&self, tell: &(dyn Fn(Progress) + Sync)) -> Result<LayoutRecord, SourceError> {
        let sight = self.look().await?;
        // Before anything is different: what can't be done must leave everything as it is.
        let plan = self.plan_of(&sight).await?;
        let mut page = sight.page.clone();
        if self.is_in_force(&page, &plan)? {
            tell(Progress::Current);
            return page.record();
        }
        if page.is_fenced {
            let inspected = patiently(self.limit, "inspect", || self.ledger.inspect()).await?;
            self.try_out(&sight, inspected.version).await?;
            note_end(&*self.ledger, &plan.change, inspected.version, self.limit).await?;
        } else {
            let (planned, version) = self.turn(&page, page.planned(self.next)).await?;
            self.try_out(&sight, version).await?;
            tell(Progress::Planned);
            let fenced = planned.fenced().ok_or_else(lost_its_plan)?;
            let (fenced, version) = self.turn(&planned, fenced).await?;
            page = fenced;
            // Before any cell is closed. Who is killed before it is followed by one that notes it a few versions later.
            note_end(&*self.ledger, &plan.change, version, self.limit).await?;
            self.note_volatile(&sight, &plan.change).await?;
            self.mark(&Sight { page: page.clone(), ..sight.clone() }, version).await?;
        }
        tell(Progress::Fenced);
        let sight = Sight { page: page.clone(), ..sight };
        // Before the rows are read: whoever names a loss after that moves it, and what they say does not have the loss in it.
        let begun = patiently(self.limit, "inspect", || self.ledger.inspect()).await?.version;
        let plan = self.plan_of(&sight).await?;
        self.rebase(&sight, (&plan, begun), tell).await?;
        self.stamp(&sight, &plan.change).await?;
        let (page, version) = self.turn(&page, page.settled().ok_or_else(lost_its_plan)?).await?;
        self.mark(&sight, version).await?;
        tell(Progress::Current);
        page.record()
    }

    /// Takes a plan back, as long as nothing is different yet; whether there was one.
    ///
    /// # Errors
    ///
    /// `Refused` where the layout before is refused already: then only the end of it leads out.
    pub async fn cancel(ledger: &dyn Ledger, limit: Duration) -> Result<bool, SourceError> {
        let page = patiently(limit, "read of the layout", || ledger.page()).await?;
        let Some(page) = page.filter(|page| page.next.is_some()) else { return Ok(false) };
        if page.is_fenced {
            return page.record().map(|_| false);
        }
        let without = LayoutPage { next: None, ..page.clone() };
        patiently(limit, "turn of the layout's page", || ledger.turn(&page, &without)).await?;
        Ok(true)
    }

    /// Whether there is nothing to do: whoever is unsure whether it ended asks once more, and must not turn out the servers of
    /// the layout that it left.
    fn is_in_force(&self, page: &LayoutPage, plan: &Plan) -> Result<bool, SourceError> {
        let stays = plan.moved.is_empty() && plan.leaving.is_empty() && self.gone.is_empty();
        Ok(page.next.is_none() && stays && page.record()?.layout == self.next)
    }

    async fn turn(&self, held: &LayoutPage, new: LayoutPage) -> Result<(LayoutPage, u64), SourceError> {
        let step = "turn of the layout's page";
        let version = patiently(self.limit, step, || self.ledger.turn(held, &new)).await?;
        Ok((new, version))
    }

    async fn rebase(
        &self,
        sight: &Sight,
        (plan, begun): (&Plan, u64),
        tell: &(dyn Fn(Progress) + Sync),
    ) -> Result<(), SourceError> {
        let slots = usize::from(self.next.slots());
        let mut rebasing = Rebasing::new(&*self.ledger, &sight.page, (plan.keys.len(), begun), self.limit);
        for keys in plan.keys.chunks((CELLS_MAX / slots).max(1)) {
            let mut rebased = Vec::with_capacity(keys.len());
            for (key, highest) in keys.iter().zip(self.close(sight, &plan.change, keys).await?) {
                let bases = close_cells::bases(&plan.change, (&highest, key.begun), self.rules);
                rebased.push(Rebased { key: key.key.clone(), bases });
            }
            let version = rebasing.write(&rebased, tell).await;
            self.mark(sight, version.map_err(|error| error.during(WHAT_STAYS))?).await?;
        }
        Ok(())
    }

    /// Every store that stays gets the stamp of its place in the next layout; new ones get theirs from the first server.
    async fn stamp(&self, sight: &Sight, change: &LayoutChange) -> Result<(), SourceError> {
        for seen in &sight.stores {
            let (Some(held), Some(slot)) = (&seen.found.stamp, seen.slot) else { continue };
            let LayoutRecord { cluster, layout, generation } = change.next.clone();
            let new = Stamp { ledger: held.ledger, cluster, layout, slot, generation };
            if *held != new {
                let under = &seen.found.instance;
                self.limited(slot, "stamp", seen.store.stamp(under, Some(held), &new)).await?;
            }
        }
        Ok(())
    }

    /// Leaves the version of a step on every store at hand, and at home: a ledger from before it is then told from the one
    /// that knows of it.
    async fn mark(&self, sight: &Sight, version: u64) -> Result<(), SourceError> {
        for seen in &sight.stores {
            let slot = seen.was.or(seen.slot).unwrap_or(0);
            self.limited(slot, "mark", seen.store.mark(&seen.found.instance, version)).await?;
        }
        if let Some(home) = &self.home {
            home.bear(version, sight.era()).await?;
        }
        Ok(())
    }

    async fn limited<T>(
        &self,
        slot: SlotIndex,
        verb: &str,
        call: impl Future<Output = Result<T, SourceError>>,
    ) -> Result<T, SourceError> {
        let late = |_| {
            let context = format!("{verb}: no answer within {} ms", self.limit.as_millis());
            Err(SourceError::new(ErrorKind::Timeout, context))
        };
        let answer = tokio::time::timeout(self.limit, call).await.unwrap_or_else(late);
        answer.map_err(|error| error.during(format!("slot {slot}")))
    }
}

impl Plan {
    /// Where each counter of a key begins in the next layout at least: by slot, the raw id that it must be past.
    pub fn bases(&self, key: &KeyPlan) -> Vec<(SlotIndex, u64)> {
        let highest: Vec<(SlotIndex, u64)> =
            key.rows.iter().map(|(slot, row)| (*slot, row.ceiling)).collect();
        close_cells::bases(&self.change, (&highest, key.begun), Rules::ALL)
    }

    /// The place, from 0, of the lowest number that a key can give in the next layout by these slots; `None` without any.
    /// Slots that are empty give none.
    pub fn first(&self, key: &KeyPlan, slots: impl Iterator<Item = SlotIndex>) -> Option<u64> {
        let next = self.change.next.layout;
        let slots: BTreeSet<SlotIndex> = slots.collect();
        let first = |(slot, base): (SlotIndex, u64)| {
            next.place_of(base.saturating_add(1), slot).map(|last| last + 1 - next.numbers_per_id())
        };
        self.bases(key).into_iter().filter(|(slot, _)| slots.contains(slot)).filter_map(first).min()
    }
}

fn lost_its_plan() -> SourceError {
    SourceError::new(ErrorKind::Refused, "the ledger's page has no change on it any more")
}

/// A row's counter, for errors.
pub(crate) fn shown(Counter { slot, key }: &Counter) -> String {
    format!("slot {slot} key {key}")
}
