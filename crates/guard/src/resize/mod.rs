//! Resize: the ring grows, or its slots move. The change is planned, fenced, then in force.
//!
//! The ledger records the progress. A resize that was killed, or found a store away, continues where it stopped.
//!
//! | step | why |
//! |---|---|
//! | every store and the data directory take a mark | a place that refuses writes must be found before anything is changed |
//! | the ledger's page is fenced | passes of the old layout are refused: no epoch is opened and no ceiling raised under it |
//! | every cell that has a row is closed | a server that cannot reach the ledger takes nothing any more, however long it was paused |
//! | each key's counters are rebased | above every *number* of the old layout: the higher of ceiling and value |
//! | the stores are stamped | the stores, too, refuse servers of the old layout |
//! | the ledger's page is settled | servers of the next layout may open |
//!
//! A key without a row has given nothing: no number leaves before an epoch is opened, and none can be opened after the fence.

mod close_cells;
mod inspect;
mod keys;
mod preflight;
mod write_rows;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use sequent_core::{
    Env, ErrorKind, Key, Layout, MarkPlace, Rules, SlotIndex, SourceError, Stamp, Store,
    ledger::{Counter, LayoutChange, LayoutPage, LayoutRecord, Ledger, Rebased, ResizeStep, Row},
};

use crate::{old_layout_marks::note_end, timeouts::patiently};
use inspect::Sight;
use write_rows::Rebasing;

/// The most counters of a ring that this version can change, since all their rows are read at once.
pub const COUNTERS_MAX: usize = 1 << 20;

/// The most cells closed before their keys are rebased and marks are left, unless a single key has more.
const CELLS_MAX: usize = 4096;

/// Advice: an interrupted change need not start again.
const WHAT_STAYS: &str = "still fenced, and what was done stays done";

/// A store, and its slot in the next layout.
pub struct Placed {
    /// Its slot in the next layout; `None` if it leaves the ring.
    pub slot: Option<SlotIndex>,
    /// The store.
    pub store: Arc<dyn Store>,
}

/// A change of the layout, with everything that it needs.
pub struct Resize {
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// Every store of the old and of the next layout, each once. Its stamp tells its present slot.
    pub stores: Vec<Placed>,
    /// The next layout.
    pub next: Layout,
    /// Slots of the old layout whose stores no server can ever reach again, as an operator declares.
    pub gone: BTreeSet<SlotIndex>,
    /// Whether the ledger and all stores of the old layout are files. A copied directory then looks consistent.
    pub embedded: bool,
    /// The server's data directory, which also takes marks.
    pub home: Option<Arc<dyn MarkPlace>>,
    /// The time limit of each call.
    pub limit: Duration,
    /// Clock and entropy.
    pub env: Env,
    /// The rules in force: all of them, except in mutation tests.
    pub rules: Rules,
}

/// Progress of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The ledger holds the next layout; nothing else is changed.
    Planned,
    /// The old layout is refused.
    Fenced,
    /// These keys have their rows in the next layout.
    Rebased {
        /// Keys done.
        done: usize,
        /// Keys in all.
        of: usize,
    },
    /// The next layout is in force.
    Current,
}

/// Plan of a change, or its result.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The old and the next layout.
    pub change: LayoutChange,
    /// Whether the old layout is already refused. The change must then be finished.
    pub is_fenced: bool,
    /// The keys with counters of the old layout, ascending.
    pub keys: Vec<KeyPlan>,
    /// The slots of the next layout whose stores are new to the ring.
    pub new: Vec<SlotIndex>,
    /// Stores that move: their old and next slots.
    pub moved: Vec<(SlotIndex, SlotIndex)>,
    /// Slots of the old layout whose stores leave the ring.
    pub leaving: Vec<SlotIndex>,
}

/// Plan of one key.
#[derive(Debug, Clone)]
pub struct KeyPlan {
    /// The key.
    pub key: Key,
    /// The place, from 0, of the highest number reported as taken; `None` if there is none.
    pub taken: Option<u64>,
    /// The place of the highest number that can have been given, by the ledger's ceilings and the cells.
    pub last: Option<u64>,
    /// The place after which it was to begin in the next layout, by the rows of a resize that was interrupted within the key.
    begun: Option<u64>,
    /// Its rows in the old layout.
    rows: Vec<(SlotIndex, Row)>,
}

impl Resize {
    /// Computes the plan. Changes nothing.
    ///
    /// # Errors
    ///
    /// `Refused` if the change is impossible: another change is under way, stores are missing, foreign or named twice, or there
    /// are too many counters. `LedgerBehind` if the ledger went back, or a directory was copied. Those of the ledger and the
    /// stores.
    pub async fn plan(&self) -> Result<Plan, SourceError> {
        let sight = self.look().await?;
        let mut plan = self.plan_of(&sight).await?;
        self.read_values(&sight, &mut plan).await?;
        Ok(plan)
    }

    /// Makes the change, or continues it. `tell` gets each step.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan). After any failure, the same call continues where this one stopped.
    pub async fn run(&self, tell: &(dyn Fn(Progress) + Sync)) -> Result<LayoutRecord, SourceError> {
        let sight = self.look().await?;
        // Planned before any change: a change that is impossible must leave everything as it is.
        let plan = self.plan_of(&sight).await?;
        let mut page = sight.page.clone();
        if self.is_in_force(&page, &plan)? {
            tell(Progress::Current);
            return page.record();
        }
        if page.step.is_fenced() {
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
            // Before any cell is closed. If this process is killed here, the next run notes a slightly higher version.
            note_end(&*self.ledger, &plan.change, version, self.limit).await?;
            self.note_volatile(&sight, &plan.change).await?;
            self.mark(&Sight { page: page.clone(), ..sight.clone() }, version).await?;
        }
        tell(Progress::Fenced);
        let sight = Sight { page: page.clone(), ..sight };
        // Read before the rows: a loss named after this raises the version, and the rows may lack it.
        let begun = patiently(self.limit, "inspect", || self.ledger.inspect()).await?.version;
        let plan = self.plan_of(&sight).await?;
        self.rebase(&sight, (&plan, begun), tell).await?;
        self.stamp(&sight, &plan.change).await?;
        let (page, version) = self.turn(&page, page.settled().ok_or_else(lost_its_plan)?).await?;
        self.mark(&sight, version).await?;
        tell(Progress::Current);
        page.record()
    }

    /// Cancels a plan that is not fenced yet. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// `Refused` if the change is fenced: it can only be finished.
    pub async fn cancel(ledger: &dyn Ledger, limit: Duration) -> Result<bool, SourceError> {
        let page = patiently(limit, "read of the layout", || ledger.page()).await?;
        let Some(page) = page else { return Ok(false) };
        let Some(without) = page.withdrawn() else { return page.record().map(|_| false) };
        patiently(limit, "turn of the layout's page", || ledger.turn(&page, &without)).await?;
        Ok(true)
    }

    /// Whether the change is already in force. An operator may repeat the command to be sure, and that must not stop the
    /// servers of the new layout.
    fn is_in_force(&self, page: &LayoutPage, plan: &Plan) -> Result<bool, SourceError> {
        let stays = plan.moved.is_empty() && plan.leaving.is_empty() && self.gone.is_empty();
        Ok(page.step == ResizeStep::InForce && stays && page.record()?.layout == self.next)
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

    /// Stamps every store that stays for its slot in the next layout. The first server stamps new stores.
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

    /// Marks the version of a step on every store and in the data directory, so that a backup of the ledger from before the
    /// step is recognized.
    async fn mark(&self, sight: &Sight, version: u64) -> Result<(), SourceError> {
        for seen in &sight.stores {
            let slot = seen.was.or(seen.slot).unwrap_or(0);
            self.limited(slot, "mark", seen.store.mark(&seen.found.instance, version)).await?;
        }
        if let Some(home) = &self.home {
            home.bear(version, Some(sight.era())).await?;
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
    /// The lowest base of each of a key's counters in the next layout: by slot, the raw id that it must exceed.
    pub fn bases(&self, key: &KeyPlan) -> Vec<(SlotIndex, u64)> {
        let highest: Vec<(SlotIndex, u64)> =
            key.rows.iter().map(|(slot, row)| (*slot, row.ceiling)).collect();
        close_cells::bases(&self.change, (&highest, key.begun), Rules::ALL)
    }

    /// The place, from 0, of the lowest number that a key can give in the next layout from these slots; `None` without slots.
    /// Empty slots give none.
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
    SourceError::new(ErrorKind::Refused, "the ledger's layout page no longer has a change")
}

/// A counter as text, for errors.
fn shown(Counter { slot, key }: &Counter) -> String {
    format!("slot {slot} key {key}")
}
