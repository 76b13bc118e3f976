//! Reader of the cells of all stores at once, page by page.

use std::{sync::Arc, time::Duration};

use sequent_core::{SlotIndex, SourceError, Store};
use sequent_engine::ledger_timeout::within;
use tokio::task::JoinSet;

use super::{Extent, Reached};
use crate::ceiling_view::Permitted;

/// The most pages of one store that a recovery reads: some hundred million cells.
const PAGES_MAX: usize = 1 << 16;

/// How much of each store is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pages {
    /// So many pages of some thousand cells …
    pub(crate) most: usize,
    /// … each within this time.
    pub(crate) limit: Duration,
}

impl Pages {
    /// Everything.
    pub(crate) fn all(limit: Duration) -> Self {
        Self { most: PAGES_MAX, limit }
    }
}

/// Reads the cells of these stores, all stores at once, and compares them with the ceilings of a ledger that
/// has rows. `None`: the ledger has no rows. Changes nothing.
pub(crate) async fn extent_of(
    stores: impl Iterator<Item = (SlotIndex, Arc<dyn Store>)>,
    permitted: Option<&Arc<Permitted>>,
    pages: Pages,
) -> Extent {
    let looks = stores.map(|(slot, store)| of_one(slot, store, permitted.cloned(), pages));
    let mut all = Extent { has_rows: permitted.is_some(), ..Extent::default() };
    looks.collect::<JoinSet<_>>().join_all().await.into_iter().for_each(|own| all.add(own));
    all.sort();
    all
}

async fn of_one(
    slot: SlotIndex,
    store: Arc<dyn Store>,
    permitted: Option<Arc<Permitted>>,
    pages: Pages,
) -> Extent {
    let mut own = Extent::default();
    if let Err(error) = own.read(slot, &*store, permitted.as_deref(), pages).await {
        own.unread.push((slot, error));
    }
    own
}

impl Extent {
    async fn read(
        &mut self,
        slot: SlotIndex,
        store: &dyn Store,
        permitted: Option<&Permitted>,
        Pages { most, limit }: Pages,
    ) -> Result<(), SourceError> {
        let Some(examiner) = store.examiner() else {
            self.untold.push(slot);
            return Ok(());
        };
        let mut from: Option<String> = None;
        for _ in 0..most {
            let page = within(limit, "read the cells", examiner.cells(from.as_deref())).await?;
            // Rows are read after their cells, so that a ceiling raised in between does not look like a loss.
            let cells = match permitted {
                Some(permitted) => permitted.of(slot, page.cells).await?,
                None => page.cells.into_iter().map(|(key, value)| Reached::bare(slot, key, value)).collect(),
            };
            for cell in cells {
                self.meet(cell);
            }
            if page.is_partial {
                self.untold.push(slot);
                return Ok(());
            }
            from = page.next;
            if from.is_none() {
                return Ok(());
            }
        }
        self.cut.push(slot);
        Ok(())
    }
}
