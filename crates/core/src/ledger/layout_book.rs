//! The layout belongs to the ledger, and so does its change.

use crate::{BoxFuture, Era, ErrorKind, InstanceId, Key, Layout, SequenceName, SlotIndex, SourceError};

/// The layout in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutRecord {
    /// The cluster's name.
    pub cluster: SequenceName,
    /// n and m.
    pub layout: Layout,
    /// One more with each resize, from 1.
    pub generation: u64,
}

impl LayoutRecord {
    /// The layout with its generation.
    pub const fn era(&self) -> Era {
        Era { generation: self.generation, layout: self.layout }
    }
}

/// The page on which a ledger keeps the layout and, while it is being changed, the next one.
///
/// A change is `planned` (nothing is different yet), then `fenced` (whoever counts by the layout before is refused: no
/// [`Pass`](super::Pass) of its generation is good any more), then in force. Each step replaces the page that was read.
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
    /// The layout in force; while a change is fenced, the one before.
    pub layout: Layout,
    /// The generation that a pass must name; while a change is fenced, the next layout's.
    pub generation: u64,
    /// The layout to come, while there is a change.
    pub next: Option<Layout>,
    /// Whether the layout before is refused already.
    pub is_fenced: bool,
}

impl LayoutPage {
    /// The page of a layout in force.
    pub fn of(record: &LayoutRecord) -> Self {
        let LayoutRecord { cluster, layout, generation } = record.clone();
        Self { cluster, layout, generation, next: None, is_fenced: false }
    }

    /// The layout in force. While a change is fenced there is none: `Refused`, saying what to do.
    pub fn record(&self) -> Result<LayoutRecord, SourceError> {
        if let (Some(next), true) = (self.next, self.is_fenced) {
            let context = format!(
                "the ring is being changed from {} to {next}, and gives no numbers before that is done: finish it by \
                 `sequent resize --go`",
                self.layout
            );
            return Err(SourceError::new(ErrorKind::Refused, context));
        }
        let Self { cluster, layout, generation, .. } = self.clone();
        Ok(LayoutRecord { cluster, layout, generation })
    }

    /// The change under way: the layout before, and the one to come.
    pub fn change(&self) -> Option<LayoutChange> {
        let (cluster, next) = (self.cluster.clone(), self.next?);
        let before = self.generation - u64::from(self.is_fenced);
        let record = |layout, generation| LayoutRecord { cluster: cluster.clone(), layout, generation };
        Some(LayoutChange { from: record(self.layout, before), next: record(next, before + 1) })
    }

    /// With this next layout; a plan that was there is another one now.
    #[must_use]
    pub fn planned(&self, next: Layout) -> Self {
        Self { next: Some(next), ..self.clone() }
    }

    /// With the layout before refused; `None` unless a change is planned.
    #[must_use]
    pub fn fenced(&self) -> Option<Self> {
        let is_planned = self.next.is_some() && !self.is_fenced;
        is_planned.then(|| Self { generation: self.generation + 1, is_fenced: true, ..self.clone() })
    }

    /// With the next layout in force; `None` unless its change is fenced.
    #[must_use]
    pub fn settled(&self) -> Option<Self> {
        let layout = self.next.filter(|_| self.is_fenced)?;
        Some(Self { layout, next: None, is_fenced: false, ..self.clone() })
    }

    /// Whether `new` in the place of this page puts the next layout in force: which change that ends.
    pub fn settles(&self, new: &Self) -> Option<LayoutChange> {
        self.change().filter(|_| self.settled().as_ref() == Some(new))
    }
}

/// From one layout to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutChange {
    /// The layout before.
    pub from: LayoutRecord,
    /// The one to come, its generation one higher.
    pub next: LayoutRecord,
}

impl LayoutChange {
    /// The raw id that every counter of the next layout must be past, where those before gave raw ids up to `raw`.
    pub fn turned(&self, raw: u64) -> u64 {
        let last = self.from.layout.slots() - 1;
        let place = self.from.layout.place_of(raw, last);
        place.map_or(0, |place| self.next.layout.raw_behind(place, 0))
    }

    /// What a row names as its store while nobody has opened an epoch in the next layout: no store says that of itself.
    pub fn marker(&self) -> InstanceId {
        InstanceId::nobody(&format!("the layout of generation {} begins here", self.next.generation))
    }
}

/// Where the counters of a key begin in the next layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebased {
    /// The key.
    pub key: Key,
    /// For each slot of the next layout the raw id that its counter must be past, ascending by slot.
    pub bases: Vec<(SlotIndex, u64)>,
}

/// The one page that says how raw ids become numbers.
pub trait LayoutBook: Send + Sync {
    /// The layout in force, or `None` for a new ledger. `Refused` while a change is fenced ([`LayoutPage::record`]).
    fn layout(&self) -> BoxFuture<'_, Result<Option<LayoutRecord>, SourceError>>;

    /// Writes the first layout if there is none; returns what is held afterwards. `Refused` while a change is fenced.
    fn found<'a>(&'a self, first: &'a LayoutRecord) -> BoxFuture<'a, Result<LayoutRecord, SourceError>>;

    /// The same, and whether it was this call that wrote it: of several first servers at once one is told so. By default
    /// that is guessed from a look before, and each of them may be.
    fn found_anew<'a>(
        &'a self,
        first: &'a LayoutRecord,
    ) -> BoxFuture<'a, Result<(LayoutRecord, bool), SourceError>> {
        Box::pin(async move {
            let is_new = self.layout().await?.is_none();
            Ok((self.found(first).await?, is_new))
        })
    }

    /// The page as it is, or `None` for a new ledger.
    fn page(&self) -> BoxFuture<'_, Result<Option<LayoutPage>, SourceError>> {
        Box::pin(async move { Ok(self.layout().await?.as_ref().map(LayoutPage::of)) })
    }

    /// Replaces the page if it is `held` now, otherwise `Refused`, naming what was found. The ledger's version goes up by
    /// one, and is returned.
    ///
    /// Where that [settles](LayoutPage::settles) a change, in the same step the floor of counters without a row becomes
    /// at least what it is [turned](LayoutChange::turned) into, and every store's record is forgotten.
    fn turn<'a>(
        &'a self,
        held: &'a LayoutPage,
        new: &'a LayoutPage,
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        let _ = (held, new);
        Box::pin(std::future::ready(Err(unchangeable())))
    }

    /// While the page is `held`, and its change fenced (otherwise `Refused`): replaces the rows of each key by one for each
    /// slot named, in one step a key, or in several where a transaction holds too few rows: whoever finds a key half done
    /// does it once more; each of several replaces the rows of its own slots alone, so that one that comes late takes none of
    /// the others away. The epoch of such a row is [`Epoch::of_generation`](crate::Epoch::of_generation), its store
    /// [`LayoutChange::marker`], its ceiling and `seen` the base; the rows before go into the history. The ledger's version
    /// goes up by one at least, and is returned.
    fn rebase<'a>(
        &'a self,
        held: &'a LayoutPage,
        keys: &'a [Rebased],
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        let _ = (held, keys);
        Box::pin(std::future::ready(Err(unchangeable())))
    }
}

fn unchangeable() -> SourceError {
    SourceError::new(ErrorKind::Refused, "this ledger can't change its layout")
}

/// What keeps a page from being replaced: another one was found.
pub fn other_page(found: Option<&LayoutPage>, held: &LayoutPage) -> SourceError {
    let shown = |page: &LayoutPage| {
        let next = page.next.map_or(String::new(), |next| {
            format!(", {} to {next}", if page.is_fenced { "fenced" } else { "planned" })
        });
        format!("generation {} of {}{next}", page.generation, page.layout)
    };
    let found = found.map_or_else(|| "none".to_owned(), shown);
    SourceError::new(ErrorKind::Refused, format!("layout: found {found}, expected {}", shown(held)))
}
