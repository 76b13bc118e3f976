//! The layout's page and its turning, the rows of the next layout, and how far keys are advanced.

use sequent_core::{
    Epoch, ErrorKind, InstanceId, Layout, SHARD_BITS_MAX,
    ledger::{LayoutPage, Ledger, LedgerNote, Loss, NoteSubject, PastEpoch, Rebased},
};

use super::{
    super::{Checked, skipped},
    LedgerFixture,
    desk::{AHEAD, Desk, GENERATION, counter, layout, opening, raise, refused},
};

/// The layout that the checks go on with.
fn next() -> Layout {
    match Layout::new(3, 6) {
        Ok(layout) => layout,
        Err(error) => panic!("the next layout of the checks is wrong: {error}"),
    }
}

/// The page in force, planned for the next layout; `None` where the ledger knows no such thing.
async fn planned(ledger: &dyn Ledger) -> Result<Option<LayoutPage>, sequent_core::SourceError> {
    let page = ledger.page().await?.unwrap_or_else(|| panic!("the layout was founded"));
    let planned = page.planned(next());
    match ledger.turn(&page, &planned).await {
        Err(error) if error.context().contains("can't change its layout") => Ok(None),
        turned => turned.map(|_| Some(planned)),
    }
}

/// A page is replaced only by who has read it; each turn is another version, and outlives the handle.
pub async fn a_page_is_turned_by_who_has_read_it(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let (first, before) = (LayoutPage::of(&layout()), desk.version().await?);
    assert_eq!(desk.ledger.page().await?, Some(first.clone()));
    let Some(planned) = planned(&*desk.ledger).await? else { return skipped("change its layout") };
    assert!(desk.version().await? > before, "the version stayed");
    assert_eq!(desk.ledger.layout().await?, Some(layout()), "a plan changes nothing");
    refused(desk.ledger.turn(&first, &planned).await, ErrorKind::Refused, "a page that is no longer there");
    desk.heartbeat(&[]).await?;
    let fenced = planned.fenced().unwrap_or_else(|| panic!("it was planned"));
    desk.ledger.turn(&planned, &fenced).await?;
    assert_eq!(fixture.open().await.page().await?, Some(fenced.clone()));
    refused(desk.ledger.layout().await, ErrorKind::Refused, "the layout while it is fenced");
    refused(desk.ledger.found(&layout()).await, ErrorKind::Refused, "a founding while it is fenced");
    refused(desk.clone().heartbeat(&[]).await, ErrorKind::Refused, "a heartbeat under the layout before");
    let order = counter(0, "order");
    refused(desk.clone().open(&[opening(&order, 1, 0)]).await, ErrorKind::Refused, "an open under it");
    let settled = fenced.settled().unwrap_or_else(|| panic!("it was fenced"));
    desk.ledger.turn(&fenced, &settled).await?;
    let held = desk.ledger.layout().await?.map(|held| (held.layout, held.generation));
    assert_eq!(held, Some((next(), GENERATION + 1)));
    refused(
        desk.clone().heartbeat(&[]).await,
        ErrorKind::Refused,
        "a heartbeat of the layout before, afterwards",
    );
    desk.generation = GENERATION + 1;
    desk.open_one(opening(&order, 1, 0)).await?;
    Ok(())
}

/// A rebase replaces all rows of a key, in one step, and no other's; the epochs before are history.
pub async fn a_rebase_replaces_the_rows_of_its_keys(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let [order, other, beside] = [counter(0, "order"), counter(3, "order"), counter(0, "order2")];
    for counter in [&order, &other, &beside] {
        desk.open_one(opening(counter, 1, 0)).await?;
    }
    desk.raise_one(raise(&order, 1, 900)).await?;
    let untouched = desk.row(&beside).await?;
    let Some(planned) = planned(&*desk.ledger).await? else { return skipped("change its layout") };
    let bases = vec![(0, 450), (1, 450), (7, 449)];
    let keys = [Rebased { key: order.key.clone(), bases: bases.clone() }];
    refused(desk.ledger.rebase(&planned, &keys).await, ErrorKind::Refused, "a rebase before the fence");
    let fenced = planned.fenced().unwrap_or_else(|| panic!("it was planned"));
    desk.ledger.turn(&planned, &fenced).await?;
    let before = desk.version().await?;
    let version = desk.ledger.rebase(&fenced, &keys).await?;
    assert_eq!((version, desk.version().await?), (before + 1, version));
    let change = fenced.change().unwrap_or_else(|| panic!("it was fenced"));
    for (slot, base) in bases {
        let row =
            desk.row(&counter(slot, "order")).await?.unwrap_or_else(|| panic!("slot {slot} has no row"));
        assert_eq!((row.base, row.ceiling, row.seen), (base, base, base));
        assert_eq!((row.epoch, row.store), (Epoch::of_generation(GENERATION + 1), change.marker()));
    }
    assert_eq!(desk.row(&other).await?, None, "a row of the layout before");
    assert_eq!(desk.row(&beside).await?, untouched, "another key's");
    let ended = |base, ceiling| vec![PastEpoch { epoch: Epoch::from_stored(1), base, ceiling }];
    assert_eq!(desk.ledger.history(&order).await?, ended(0, 900));
    assert_eq!(desk.ledger.history(&other).await?, ended(0, AHEAD));
    let moved = desk.ledger.moved(&desk.under, before, 100).await?;
    assert_eq!(moved.len(), 3, "{moved:?}");
    desk.generation = GENERATION + 1;
    let settled = fenced.settled().unwrap_or_else(|| panic!("it was fenced"));
    desk.ledger.turn(&fenced, &settled).await?;
    refused(desk.ledger.rebase(&fenced, &keys).await, ErrorKind::Refused, "a rebase after it was settled");
    assert_eq!(desk.open_one(opening(&order, 5, 0)).await?.base, 450);
    Ok(())
}

/// A ring of as many slots as there may be is rebased: all rows of a key, more than one transaction may hold.
pub async fn a_rebase_of_a_wide_ring(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    desk.open_one(opening(&counter(0, "order"), 1, 0)).await?;
    let mut page = LayoutPage::of(&layout());
    for n in [SHARD_BITS_MAX, 7] {
        let next = Layout::new(n, 0)?;
        let planned = page.planned(next);
        match desk.ledger.turn(&page, &planned).await {
            Err(error) if error.context().contains("can't change its layout") => {
                return skipped("change its layout");
            }
            turned => turned?,
        };
        let fenced = planned.fenced().unwrap_or_else(|| panic!("it was planned"));
        desk.ledger.turn(&planned, &fenced).await?;
        let base = 1000 + u64::from(n);
        let bases = (0..next.slots()).map(|slot| (slot, base)).collect();
        let before = desk.version().await?;
        let version = desk.ledger.rebase(&fenced, &[Rebased { key: counter(0, "order").key, bases }]).await?;
        assert!(version > before && desk.version().await? == version, "{before} to {version}");
        let rows = desk.ledger.list(None, 1 << 12).await?;
        assert_eq!(rows.len(), usize::from(next.slots()), "a row for each slot of {next}, and no other");
        assert!(rows.iter().all(|(_, row)| row.ceiling == base), "{rows:?}");
        let settled = fenced.settled().unwrap_or_else(|| panic!("it was fenced"));
        desk.ledger.turn(&fenced, &settled).await?;
        page = settled;
    }
    assert_eq!(
        desk.ledger.history(&counter(1023, "order")).await?.len(),
        1,
        "the last slot's epoch has ended"
    );
    Ok(())
}

/// What an operator named as lost holds in the next layout too; and which stores were in use is forgotten.
pub async fn a_settled_layout_turns_the_floor(fixture: &dyn LedgerFixture) -> Checked {
    let desk = Desk::of(fixture, 1).await?;
    desk.ledger.recover(Loss::Bump(1000), 0).await?;
    let mut desk = Desk::of(fixture, 2).await?;
    desk.ledger.record(&desk.under, Some(0), &InstanceId::new("store 1")).await?;
    let page = LayoutPage::of(&layout());
    // Half as many slots: the same numbers are twice as many raw ids.
    let narrower = Layout::new(1, 6)?;
    let planned = page.planned(narrower);
    match desk.ledger.turn(&page, &planned).await {
        Err(error) if error.context().contains("can't change its layout") => {
            return skipped("change its layout");
        }
        turned => turned?,
    };
    let fenced = planned.fenced().unwrap_or_else(|| panic!("it was planned"));
    desk.ledger.turn(&planned, &fenced).await?;
    let settled = fenced.settled().unwrap_or_else(|| panic!("it was fenced"));
    desk.ledger.turn(&fenced, &settled).await?;
    assert_eq!(desk.ledger.known().await?.stores, [], "the slots are others now");
    desk.generation = GENERATION + 1;
    let base = desk.open_one(opening(&counter(0, "late"), 1, 0)).await?.base;
    let last = layout().layout.place_of(1000, 3).map(|place| {
        let less = layout().layout.origin() - narrower.origin();
        narrower.raw_behind(place + less, 0)
    });
    assert_eq!(Some(base), last, "about twice a thousand");
    Ok(())
}

/// How far a key is advanced only rises, and the catalog's version tells of it.
pub async fn an_advance_goes_forward(fixture: &dyn LedgerFixture) -> Checked {
    let ledger = fixture.open().await;
    let note = |name: &str, to| LedgerNote { about: NoteSubject::Advanced(counter(0, name).key), to };
    let (before, _) = ledger.definitions().await?;
    assert_eq!(ledger.notes().await?, []);
    match ledger.note(&note("order", 70)).await {
        Err(error) if error.context().contains("can't note") => {
            return skipped("note how far a key is advanced");
        }
        held => assert_eq!(held?, 70),
    }
    assert_eq!(ledger.definitions().await?.0, before + 1);
    assert_eq!(ledger.note(&note("order", 30)).await?, 70, "it went back");
    assert_eq!(ledger.definitions().await?.0, before + 1, "nothing was moved");
    ledger.note(&note("a|8:20170304|3:\u{53f7}10", 5)).await?;
    assert_eq!(ledger.note(&note("order", u64::MAX >> 1)).await?, u64::MAX >> 1);
    let held = [note("a|8:20170304|3:\u{53f7}10", 5), note("order", u64::MAX >> 1)];
    assert_eq!(fixture.open().await.notes().await?, held);
    Ok(())
}
