//! A look for an operator's sake.

use std::collections::BTreeMap;

use sequent_core::{Examine, Key, Sight, SourceError};

use super::{super::Checked, Hand, StoreFixture, epoch, identity::stamp_of, key};
use crate::{conformance::skipped, seeded};

/// A look sees stamp, mark and cells as they are, of a run that is known by its name, and leaves all of it as it was.
pub async fn a_look_changes_nothing_and_sees_what_is_there(fixture: &dyn StoreFixture) -> Checked {
    let (hand, store) = (Hand::of(fixture).await?, fixture.open().await);
    let Some(examiner) = store.examiner() else { return skipped("be looked into") };
    let (open, closed, none) = (key("open"), key("closed"), key("none"));
    let new = examiner.examine(std::slice::from_ref(&open)).await?;
    assert_eq!((new.cells, new.mark), (vec![Sight::Missing], 0), "of a new store");
    assert_eq!((new.inspection.stamp, new.inspection.has_cells), (None, false), "of a new store");
    let stamp = stamp_of(&seeded(7), 1)?;
    hand.stamp(None, &stamp).await?;
    hand.mark(5).await?;
    hand.begin(&open, epoch(-7), 100).await?;
    hand.take(&open, epoch(-7), 3).await?;
    hand.close(&closed, epoch(8)).await?;
    let before = hand.inspect().await?;
    for _ in 0..2 {
        let seen = examiner.examine(&[closed.clone(), none.clone(), open.clone()]).await?;
        let held = |bits, open, value| Sight::Held { epoch: epoch(bits), open, value, expires_ms: None };
        assert_eq!(seen.cells, [held(8, false, 0), Sight::Missing, held(-7, true, 103)]);
        assert_eq!(seen.mark, 5);
        let clock_ms = before.clock_ms;
        assert_eq!(
            sequent_core::Inspection { clock_ms, ..seen.inspection },
            before,
            "another run, or another store"
        );
    }
    assert_eq!(hand.take(&open, epoch(-7), 1).await?.first(), 104, "a look took a number");
    assert_eq!(hand.inspect().await?.instance, before.instance, "a look made it another run");
    if let Some(told) = all_told(examiner).await? {
        assert_eq!(
            told,
            [(open, 104), (closed.clone(), 0)].into(),
            "every cell is told of, whatever its key"
        );
    }
    hand.install(&closed, epoch(8), 0).await?;
    Ok(())
}

/// No store of a test has more pages.
const PAGES_MAX: usize = 64;

/// Every cell with its value; `None` from a kind that can't tell of all.
async fn all_told(examiner: &dyn Examine) -> Result<Option<BTreeMap<Key, u64>>, SourceError> {
    let (mut told, mut from) = (BTreeMap::new(), None);
    for _ in 0..PAGES_MAX {
        let page = examiner.cells(from.as_deref()).await?;
        told.extend(page.cells);
        match page.next {
            _ if page.is_partial => return Ok(None),
            None => return Ok(Some(told)),
            next => from = next,
        }
    }
    panic!("there is a next page after {PAGES_MAX} of them: {told:?}");
}
