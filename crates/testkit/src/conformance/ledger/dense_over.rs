//! Dense counters of periods that are over: forgotten in one step with their fence, and begun no more.

use std::sync::Arc;

use sequent_core::{
    Key,
    ledger::{DenseAsk, DenseTaken, LedgerNote, Loss, NoteSubject},
};

use super::{
    super::Checked,
    LedgerFixture,
    dense::ask,
    desk::{Desk, counter, opening},
    over::fence,
};

fn day(of_month: u8, area: &str) -> String {
    format!("order|8:202604{of_month:02}|{}:{area}", area.len())
}

/// Dense counters behind a fence are forgotten, in one step with it, and begin no more; others stay, and begin.
pub async fn dense_counters_behind_a_fence_are_forgotten_and_begin_no_more(
    fixture: &dyn LedgerFixture,
) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let ledger = Arc::clone(&desk.ledger);
    let old = [day(1, "010"), day(1, "磁|盘"), day(2, "010")];
    let kept = [day(3, "010"), "order".to_owned(), "orders|8:20260401".to_owned()];
    for key in old.iter().chain(&kept) {
        assert_eq!(desk.count(&[ask(key, 5)]).await?, [DenseTaken::Last(5)], "{key}");
    }
    let spread = counter(0, &old[0]);
    desk.open_one(opening(&spread, 1, 0)).await?;
    ledger.note(&LedgerNote { about: NoteSubject::Advanced(Key::from_stored(&old[0])), to: 3 }).await?;
    let (from, below) = ("order|8:", "order|8:20260402}");
    let found = ledger.dense_between(from, below, 100).await?;
    let mut all: Vec<Key> = old.iter().map(|key| Key::from_stored(key)).collect();
    all.sort();
    assert_eq!(found, all);
    assert_eq!(ledger.dense_between(from, below, 1).await?, found[..1], "ascending, and cut");
    assert_eq!(ledger.dense_between(&format!("{}\0", found[0]), below, 100).await?, found[1..]);
    // The fence alone lets those that have begun go on, and none begin.
    assert_eq!(ledger.forget_dense(&fence(2), &[]).await?, fence(2).to);
    let late = day(2, "new");
    let asks = [ask(&old[0], 1), ask(&late, 1), ask(&kept[0], 1), ask(&late, 0)];
    let taken = desk.count(&asks).await?;
    assert_eq!(taken, [DenseTaken::Last(6), DenseTaken::Over, DenseTaken::Last(6), DenseTaken::Over]);
    assert_eq!(desk.given(&late).await?, None);
    let version = desk.version().await?;
    assert_eq!(ledger.forget_dense(&fence(1), &found).await?, fence(2).to, "a fence only rises");
    assert!(desk.version().await? > version, "states of the rows never share a version");
    assert_eq!(ledger.dense_between(from, below, 100).await?, []);
    assert_eq!(ledger.notes().await?, [fence(2).note()], "the fence stays, and nothing else of them");
    assert!(desk.row(&spread).await?.is_some(), "a counter of a slot is no dense one");
    let told = |above| DenseAsk { above, ..ask(&old[0], 1) };
    let taken = desk.count(&[told(0), told(5), ask(&kept[0], 1)]).await?;
    assert_eq!(taken, [DenseTaken::Over, DenseTaken::Over, DenseTaken::Last(7)]);
    // As a server asks, which some engines answer in one statement.
    desk.put_on_record().await?;
    assert_eq!(desk.count(&[ask(&kept[0], 1)]).await?, [DenseTaken::Last(8)]);
    assert_eq!(desk.count(&[ask(&old[2], 1)]).await?, [DenseTaken::Over]);
    for key in &kept[1..] {
        assert_eq!(desk.count(&[ask(key, 1)]).await?, [DenseTaken::Last(6)], "{key}");
    }
    let first = ask(&day(3, "new"), 1);
    assert_eq!(desk.count(&[first]).await?, [DenseTaken::Last(1)], "a day that is not over");
    // Not even above a loss that was named.
    ledger.recover(Loss::Bump(1000), 0).await?;
    let mut desk = Desk::of(fixture, 2).await?;
    assert_eq!(desk.count(&[ask(&old[0], 1)]).await?, [DenseTaken::Over]);
    Ok(())
}

/// As many as one call may name, and asks of as many.
pub async fn many_dense_counters_are_forgotten_at_once(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let keys: Vec<String> = (0..700).map(|at| day(1, &format!("{at:04}"))).collect();
    let asks: Vec<DenseAsk> = keys.iter().map(|key| ask(key, 1)).collect();
    assert_eq!(desk.count(&asks).await?, vec![DenseTaken::Last(1); 700]);
    let keys: Vec<Key> = keys.iter().map(|key| Key::from_stored(key)).collect();
    desk.ledger.forget_dense(&fence(1), &keys).await?;
    assert_eq!(desk.ledger.dense(None, 1000).await?, []);
    assert_eq!(desk.count(&asks).await?, vec![DenseTaken::Over; 700]);
    Ok(())
}
