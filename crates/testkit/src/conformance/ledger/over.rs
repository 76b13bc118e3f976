//! Periods that are over: fences, and counters that are forgotten.

use sequent_core::{
    Key,
    ledger::{Counter, Fence, LedgerNote, NoteSubject, PeriodUnit, Periods},
};

use super::{
    super::Checked,
    LedgerFixture,
    desk::{Desk, counter, opening},
};

pub(super) fn fence(of_month: u8) -> Fence {
    let periods = Periods { sequence: "order".to_owned(), unit: PeriodUnit::Day };
    Fence { periods, to: 20_260_400 + u64::from(of_month) }
}

fn day(slot: u16, of_month: u8, area: &str) -> Counter {
    counter(slot, &format!("order|8:202604{of_month:02}|{}:{area}", area.len()))
}

fn keys(counters: &[Counter]) -> Vec<Key> {
    counters.iter().map(|counter| counter.key.clone()).collect()
}

/// Counters that are forgotten are gone with their history, in one step with the fence; others stay.
pub async fn counters_behind_a_fence_are_forgotten(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let old = [day(0, 1, "010"), day(0, 1, "磁|盘"), day(0, 2, "010")];
    let kept = [day(0, 3, "010"), day(1, 1, "010"), counter(0, "order"), counter(0, "orders|8:20260401")];
    for counter in old.iter().chain(&kept) {
        desk.open_one(opening(counter, 1, 0)).await?;
        desk.open_one(opening(counter, 2, 0)).await?;
    }
    let ledger = std::sync::Arc::clone(&desk.ledger);
    ledger.note(&LedgerNote { about: NoteSubject::Advanced(old[0].key.clone()), to: 7 }).await?;
    let (from, below) = ("order|8:", "order|8:20260402}");
    let mut found = ledger.keys_between(0, from, below, 100).await?;
    assert_eq!(found.len(), 3, "{found:?}");
    found.sort();
    let mut all = keys(&old);
    all.sort();
    assert_eq!(found, all);
    assert_eq!(ledger.keys_between(0, from, below, 1).await?, [found[0].clone()], "ascending, and cut");
    let rest = format!("{}\0", found[0]);
    assert_eq!(ledger.keys_between(0, &rest, below, 100).await?, found[1..], "from there on");
    assert_eq!(ledger.keys_between(2, from, below, 100).await?, [], "another slot");
    let (version, catalog) = (desk.version().await?, ledger.definitions().await?.0);
    assert_eq!(
        (ledger.noted(&fence(2).about()).await?, ledger.forget(&fence(2), &old).await?),
        (0, fence(2).to)
    );
    assert!(desk.version().await? > version, "states of the rows never share a version");
    assert!(ledger.definitions().await?.0 > catalog, "every server hears of it");
    for counter in &old {
        assert_eq!(desk.row(counter).await?, None, "{counter:?}");
        assert_eq!(ledger.history(counter).await?, [], "{counter:?}");
    }
    for counter in &kept {
        assert!(desk.row(counter).await?.is_some(), "{counter:?}");
        assert_eq!(ledger.history(counter).await?.len(), 1, "{counter:?}");
    }
    assert_eq!(ledger.notes().await?, [fence(2).note()], "the fence stays, and nothing else of them");
    let version = desk.version().await?;
    assert_eq!(ledger.forget(&fence(1), &old).await?, fence(2).to, "a fence only rises");
    assert_eq!(
        (ledger.noted(&fence(9).about()).await?, desk.version().await?),
        (fence(2).to, version),
        "nothing went"
    );
    Ok(())
}

/// As many as one call may name.
pub async fn many_counters_are_forgotten_at_once(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let old: Vec<Counter> = (0..700).map(|at| day(at % 3, 1, &format!("{at:04}"))).collect();
    let openings: Vec<_> = old.iter().map(|counter| opening(counter, 1, 0)).collect();
    desk.open(&openings).await?;
    let ledger = std::sync::Arc::clone(&desk.ledger);
    ledger.forget(&fence(1), &old).await?;
    for slot in 0..3 {
        assert_eq!(ledger.keys_between(slot, "order|8:", "order|8:9", 1000).await?, [], "slot {slot}");
    }
    Ok(())
}
