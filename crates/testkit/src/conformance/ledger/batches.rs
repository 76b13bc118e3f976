//! Edges of rows and of batches: the range, no asks, many asks, odd keys, lists.

use sequent_core::{
    Block,
    ledger::{Counter, Opened, Opening, Raise, Raised, Row},
};

use super::{
    super::{Checked, odd_keys::odd_keys},
    LedgerFixture,
    desk::{Desk, counter, opening, raise},
};

/// The most that one call may carry.
const BATCH: u64 = 4096;

/// Sums that would leave the range stop at its edge.
pub async fn the_edge_of_the_range_never_wraps(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    let edge = Block::NUMBER_MAX;
    let far = |bits, value| Opening { jump_max: u64::MAX, ..opening(&order, bits, value) };
    let row = desk.open_one(far(1, edge - 10)).await?;
    assert_eq!((row.base, row.ceiling), (edge - 10, edge));
    let beyond = Raise { seen: edge - 1, jump_max: u64::MAX, ..raise(&order, 1, u64::MAX) };
    assert_eq!(desk.raise_one(beyond).await?, (edge, edge - 1));
    let row = desk.open_one(far(2, edge)).await?;
    assert_eq!((row.base, row.ceiling, row.seen), (edge, edge, edge));
    desk.unchanged(&order, &row).await
}

/// No asks are an answer of none, and count as no change.
pub async fn no_asks_are_an_answer(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let version = desk.version().await?;
    assert_eq!(desk.ledger.read(&desk.under, &[]).await?.rows, []);
    let opened = desk.open(&[]).await?;
    assert_eq!((opened.value, opened.version), (vec![], version));
    let raised = desk.raise(&[]).await?;
    assert_eq!((raised.value, raised.version), (vec![], version));
    let presence = desk.heartbeat(&[]).await?;
    assert_eq!((presence.value.raised, presence.version), (vec![], version));
    Ok(())
}

/// 4096 asks in one call are answered in the order of the asks, whatever that is.
pub async fn a_batch_of_4096_keeps_its_order(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    // A stride that shares no factor with the batch visits every counter once, in no order.
    let at = |n: u64| n * 1237 % BATCH;
    let counters: Vec<_> =
        (0..BATCH).map(|n| counter(u16::from(n % 2 == 0), &format!("k{}", at(n)))).collect();
    let openings: Vec<_> = (0..).zip(&counters).map(|(n, counter)| opening(counter, 1, at(n))).collect();
    let opened = desk.open(&openings).await?;
    let base = |opened: &Opened| if let Opened::Row(row) = opened { row.base } else { u64::MAX };
    let expected: Vec<u64> = (0..BATCH).map(at).collect();
    assert_eq!(opened.value.iter().map(base).collect::<Vec<_>>(), expected);
    let rows = desk.ledger.read(&desk.under, &counters).await?.rows;
    assert_eq!(rows.iter().flatten().map(|row| row.base).collect::<Vec<_>>(), expected);
    let raises: Vec<_> = (0..).zip(&counters).map(|(n, counter)| raise(counter, 1, 10_000 + at(n))).collect();
    let told = desk.heartbeat(&raises).await?.value.raised;
    let held: Vec<_> = (0..BATCH).map(|n| Raised::Held { ceiling: 10_000 + at(n), seen: at(n) }).collect();
    assert_eq!(told, held);
    assert_eq!(desk.ledger.list(None, usize::MAX).await?.len(), counters.len());
    Ok(())
}

/// Two raises of one counter in one call follow each other.
pub async fn a_counter_twice_in_a_batch_is_raised_twice(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    desk.open_one(opening(&order, 1, 0)).await?;
    let answer = desk.raise(&[raise(&order, 1, 700), raise(&order, 1, 300)]).await?;
    assert_eq!(answer.value, vec![Raised::Held { ceiling: 700, seen: 0 }; 2]);
    Ok(())
}

/// Keys that an engine may fold, trim, cut or take for syntax are different counters.
pub async fn odd_keys_are_kept_apart(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let counters: Vec<_> = odd_keys().iter().map(|key| counter(0, key.as_str())).collect();
    let value = |at: usize| at as u64 * 10_000;
    for (at, counter) in counters.iter().enumerate() {
        desk.open_one(opening(counter, 1, value(at))).await?;
    }
    let rows = desk.ledger.read(&desk.under, &counters).await?.rows;
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(row.as_ref().map(|row| row.base), Some(value(at)), "{:?}", counters[at]);
        assert_eq!(desk.ledger.history(&counters[at]).await?, [], "{:?}", counters[at]);
    }
    let mut listed: Vec<_> =
        desk.ledger.list(None, 1000).await?.into_iter().map(|(found, _)| found).collect();
    listed.sort();
    let mut expected = counters;
    expected.sort();
    assert_eq!(listed, expected);
    Ok(())
}

/// A list holds the keys of one sequence, or all, ascending by slot and key, at most so many.
pub async fn a_list_is_cut_and_ascending(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let own = ["order", "order|8:20170304", "order|8:20170305"];
    let others = ["Order", "ord_r", "order2", "order.x", "orde", "order%"];
    for name in own.iter().chain(&others) {
        for slot in [1, 0] {
            desk.open_one(opening(&counter(slot, name), 1, 0)).await?;
        }
    }
    let names = |list: Vec<(Counter, Row)>| list.into_iter().map(|(found, _)| found).collect::<Vec<_>>();
    let expected: Vec<_> = (0..2).flat_map(|slot| own.map(|name| counter(slot, name))).collect();
    assert_eq!(names(desk.ledger.list(Some("order"), 100).await?), expected);
    assert_eq!(names(desk.ledger.list(Some("order"), 4).await?), expected[..4]);
    assert_eq!(
        names(desk.ledger.list(Some("ord_r"), 100).await?),
        [counter(0, "ord_r"), counter(1, "ord_r")]
    );
    assert_eq!(names(desk.ledger.list(Some("order%"), 100).await?).len(), 2);
    assert_eq!(names(desk.ledger.list(Some("none"), 100).await?), []);
    assert_eq!(names(desk.ledger.list(Some("order"), 0).await?), []);
    let all = names(desk.ledger.list(None, 100).await?);
    assert!(all.is_sorted(), "{all:?}");
    assert_eq!(all.len(), 2 * (own.len() + others.len()));
    Ok(())
}
