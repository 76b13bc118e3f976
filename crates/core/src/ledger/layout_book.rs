//! Layout book: the ledger's record of the layout, and its change by a resize.

use super::{RESIZE_TRANSITIONS, ResizeStep};
use crate::{
    Era, ErrorKind, InstanceId, Key, Layout, LedgerId, Reply, SequenceName, SlotIndex, SourceError, Stamp,
};

/// The layout in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutRecord {
    /// The cluster's name.
    pub cluster: SequenceName,
    /// The shard bits n and the memory bits m.
    pub layout: Layout,
    /// The layout's generation: 1 at first, one more with each resize.
    pub generation: u64,
}

impl LayoutRecord {
    /// The layout with its generation.
    pub const fn era(&self) -> Era {
        Era { generation: self.generation, layout: self.layout }
    }

    /// The stamp that the store in `slot` has under this ledger.
    pub fn stamp(&self, ledger: LedgerId, slot: SlotIndex) -> Stamp {
        let Self { cluster, layout, generation } = self.clone();
        Stamp { ledger, cluster, layout, slot, generation }
    }
}

/// Record of the layout and, during a resize, of the next layout.
///
/// A change is first `planned` (nothing differs yet), then `fenced`, then in force. Once it is fenced, servers of the old
/// layout are refused: no [`Pass`](super::Pass) of that generation is valid. Each step replaces the page that was read.
///
/// ```
/// use sequent_core::{Layout, ledger::{LayoutPage, LayoutRecord}};
/// let (one, two) = (Layout::new(1, 0)?, Layout::new(2, 0)?);
/// let record = LayoutRecord { cluster: "shop".parse()?, layout: one, generation: 1 };
/// let planned = LayoutPage::of(&record).planned(two);
/// assert_eq!(planned.record()?, record, "still in force");
/// let fenced = planned.fenced().ok_or("planned")?;
/// assert!(fenced.record().is_err(), "no layout is in force");
/// let settled = fenced.settled().ok_or("fenced")?;
/// assert_eq!((settled.record()?.layout, settled.record()?.generation), (two, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutPage {
    /// The cluster's name.
    pub cluster: SequenceName,
    /// The layout in force; while a change is fenced, the old layout.
    pub layout: Layout,
    /// The generation that a pass must name; while a change is fenced, the next layout's.
    pub generation: u64,
    /// How far a change is.
    pub step: ResizeStep,
}

impl LayoutPage {
    /// The page of a layout in force.
    pub fn of(record: &LayoutRecord) -> Self {
        let LayoutRecord { cluster, layout, generation } = record.clone();
        Self { cluster, layout, generation, step: ResizeStep::InForce }
    }

    /// The layout in force. While a change is fenced there is none: the result is `Refused`, with advice.
    pub fn record(&self) -> Result<LayoutRecord, SourceError> {
        if let ResizeStep::Fenced(next) = self.step {
            let context = format!(
                "the ring is being changed from {} to {next} and gives no numbers until that is finished: run \
                 `sequent resize --go`",
                self.layout
            );
            return Err(SourceError::new(ErrorKind::Refused, context));
        }
        let Self { cluster, layout, generation, .. } = self.clone();
        Ok(LayoutRecord { cluster, layout, generation })
    }

    /// The change under way: the old and the next layout.
    pub fn change(&self) -> Option<LayoutChange> {
        let (cluster, next) = (self.cluster.clone(), self.step.next()?);
        let before = self.generation - u64::from(self.step.is_fenced());
        let record = |layout, generation| LayoutRecord { cluster: cluster.clone(), layout, generation };
        Some(LayoutChange { from: record(self.layout, before), next: record(next, before + 1) })
    }

    /// The change under way, if it is fenced.
    pub fn fenced_change(&self) -> Option<LayoutChange> {
        self.change().filter(|_| self.step.is_fenced())
    }

    /// This page with `next` planned. It replaces any earlier plan.
    #[must_use]
    pub fn planned(&self, next: Layout) -> Self {
        self.enter(ResizeStep::Planned(next))
    }

    /// This page without its plan; `None` unless a change is planned.
    #[must_use]
    pub fn withdrawn(&self) -> Option<Self> {
        matches!(self.step, ResizeStep::Planned(_)).then(|| self.enter(ResizeStep::InForce))
    }

    /// This page with the old layout refused; `None` unless a change is planned.
    #[must_use]
    pub fn fenced(&self) -> Option<Self> {
        let ResizeStep::Planned(next) = self.step else { return None };
        Some(Self { generation: self.generation + 1, ..self.enter(ResizeStep::Fenced(next)) })
    }

    /// This page with the next layout in force; `None` unless its change is fenced.
    #[must_use]
    pub fn settled(&self) -> Option<Self> {
        let ResizeStep::Fenced(layout) = self.step else { return None };
        Some(Self { layout, ..self.enter(ResizeStep::InForce) })
    }

    /// This page at another step. Nothing else changes the step.
    fn enter(&self, step: ResizeStep) -> Self {
        RESIZE_TRANSITIONS.check(self.step.name(), step.name());
        Self { step, ..self.clone() }
    }

    /// The change that is completed if `new` replaces this page; `None` if it completes none.
    pub fn settles(&self, new: &Self) -> Option<LayoutChange> {
        self.change().filter(|_| self.settled().as_ref() == Some(new))
    }
}

/// Change from one layout to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutChange {
    /// The old layout.
    pub from: LayoutRecord,
    /// The next layout. Its generation is one higher.
    pub next: LayoutRecord,
}

impl LayoutChange {
    /// The raw id that every counter of the next layout must exceed if counters of the old one gave raw ids up to `raw`.
    pub fn turned(&self, raw: u64) -> u64 {
        let last = self.from.layout.slots() - 1;
        let place = self.from.layout.place_of(raw, last);
        place.map_or(0, |place| self.next.layout.raw_behind(self.carried(place), 0))
    }

    /// The place of the next layout after which every number is above that of `place` in the old layout. It is so in
    /// either [`Numbering`](crate::Numbering): encoded numbers become smaller, place for place, where a ring shrinks.
    pub const fn carried(&self, place: u64) -> u64 {
        let less = self.from.layout.origin().saturating_sub(self.next.layout.origin());
        place.saturating_add(less)
    }

    /// The store placeholder of rows in the next layout, until an epoch is opened there. No real store has this id.
    pub fn marker(&self) -> InstanceId {
        InstanceId::nobody(&format!("the layout of generation {} begins here", self.next.generation))
    }
}

/// Bases of a key's counters in the next layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebased {
    /// The key.
    pub key: Key,
    /// For each slot of the next layout, the raw id that its counter must exceed; ascending by slot.
    pub bases: Vec<(SlotIndex, u64)>,
}

/// Layout book: the one page that says how raw ids become numbers.
pub trait LayoutBook: Send + Sync {
    /// The layout in force, or `None` for a new ledger. `Refused` while a change is fenced ([`LayoutPage::record`]).
    fn layout(&self) -> Reply<'_, Option<LayoutRecord>>;

    /// Writes the first layout if there is none, and returns the layout held afterwards. `Refused` while a change is fenced.
    fn found<'a>(&'a self, first: &'a LayoutRecord) -> Reply<'a, LayoutRecord>;

    /// As [`found`](Self::found), and whether this call wrote the layout. Of several servers that start at once, exactly one is
    /// told so. The default implementation only guesses from a read before, so several may be told so.
    fn found_anew<'a>(&'a self, first: &'a LayoutRecord) -> Reply<'a, (LayoutRecord, bool)> {
        Box::pin(async move {
            let is_new = self.layout().await?.is_none();
            Ok((self.found(first).await?, is_new))
        })
    }

    /// The current page, or `None` for a new ledger.
    fn page(&self) -> Reply<'_, Option<LayoutPage>>;

    /// Replaces the page if it is `held` now; otherwise `Refused`, naming what was found. The ledger's version goes up by one
    /// and is returned.
    ///
    /// If this [completes](LayoutPage::settles) a change, two things happen in the same step. The floor of counters without a
    /// row is [converted](LayoutChange::turned) to the next layout and rises to at least that, and every store's record is
    /// deleted.
    fn turn<'a>(&'a self, held: &'a LayoutPage, new: &'a LayoutPage) -> Reply<'a, u64>;

    /// Replaces the rows of each key by one row for each slot named. Requires that the page is `held` and its change fenced;
    /// otherwise `Refused`.
    ///
    /// A new row has the epoch [`Epoch::of_generation`](crate::Epoch::of_generation), the store [`LayoutChange::marker`], and
    /// the base as its ceiling and `seen`. The old rows go into the history. The ledger's version goes up by at least one and
    /// is returned.
    ///
    /// Each key takes one step, or several if a transaction holds too few rows. A key found half done is done again. Each of
    /// several steps replaces only the rows of its own slots, so that a late step removes none of the others' rows.
    fn rebase<'a>(&'a self, held: &'a LayoutPage, keys: &'a [Rebased]) -> Reply<'a, u64>;
}

/// The error when a page cannot be replaced because another one was found.
pub fn other_page(found: Option<&LayoutPage>, held: &LayoutPage) -> SourceError {
    let shown = |page: &LayoutPage| {
        let next = match page.step {
            ResizeStep::InForce => String::new(),
            ResizeStep::Planned(next) => format!(", planned to {next}"),
            ResizeStep::Fenced(next) => format!(", fenced to {next}"),
        };
        format!("generation {} of {}{next}", page.generation, page.layout)
    };
    let found = found.map_or_else(|| "none".to_owned(), shown);
    SourceError::new(ErrorKind::Refused, format!("layout: found {found}, expected {}", shown(held)))
}
