//! Rows, one caller at a time.

use sequent_core::{
    Block, Incarnation,
    ledger::{Opened, PastLife, Raise, Raised, Row},
};

use super::{
    super::{Checked, odd_keys::odd_keys},
    LedgerFixture,
    desk::{AHEAD, Desk, counter, life, opening, raise},
};

/// The most that one call may carry.
const BATCH: u64 = 4096;

/// An open writes the row that it returns, and every process reads it.
pub async fn an_open_writes_the_row(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(3, "order|8:20170304"));
    let (before, version) = (desk.ledger.inspect().await?.clock_ms, desk.version().await?);
    let answer = desk.open(&[opening(&order, -7, 5)]).await?;
    let after = desk.ledger.inspect().await?.clock_ms;
    let [Opened::Row(row)] = answer.value.as_slice() else { panic!("found {:?}", answer.value) };
    assert!(
        (before..=after).contains(&row.opened_at_ms),
        "opened at {} of {before}..={after}",
        row.opened_at_ms
    );
    let expected = Row {
        life: life(-7),
        store: Incarnation::new("store 1"),
        ledger: desk.under.clone(),
        base: 5,
        ceiling: 5 + AHEAD,
        seen: 5,
        opened_at_ms: row.opened_at_ms,
    };
    assert_eq!((row, answer.version), (&expected, version + 1));
    desk.unchanged(&order, &expected).await?;
    Desk::of(fixture, 2).await?.unchanged(&order, &expected).await?;
    assert_eq!(desk.row(&counter(2, "order|8:20170304")).await?, None, "another slot's row");
    Ok(())
}

/// The base of the next life is the ceiling of the one before, however high it was raised.
pub async fn the_next_life_begins_at_the_old_ceiling(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    desk.open_one(opening(&order, 1, 0)).await?;
    let row = desk.open_one(opening(&order, 2, 7)).await?;
    assert_eq!((row.base, row.ceiling, row.seen), (AHEAD, 2 * AHEAD, AHEAD));
    desk.raise_one(raise(&order, 2, 5000)).await?;
    let row = desk.open_one(opening(&order, 3, 0)).await?;
    assert_eq!((row.base, row.ceiling, row.seen), (5000, 5000 + AHEAD, 5000));
    Ok(())
}

/// A value found above the ceiling is the base.
pub async fn a_value_above_the_ceiling_is_the_base(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    desk.open_one(opening(&order, 1, 0)).await?;
    let row = desk.open_one(opening(&order, 2, AHEAD + 1)).await?;
    assert_eq!((row.base, row.ceiling), (AHEAD + 1, 2 * AHEAD + 1));
    let row = desk.open_one(opening(&order, 3, 2 * AHEAD + 1)).await?;
    assert_eq!(row.base, 2 * AHEAD + 1, "value and ceiling are equal");
    Ok(())
}

/// Each ended life is kept with its base and its ceiling, oldest first.
pub async fn ended_lives_are_kept_in_order(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(1, "order"));
    let mut expected = Vec::new();
    // Falling tokens, so that an order by token shows.
    for (bits, to) in [(9, 150), (-4, 0), (3, 999)] {
        let row = desk.open_one(opening(&order, bits, 0)).await?;
        let (ceiling, _) = desk.raise_one(raise(&order, bits, to)).await?;
        assert_eq!(desk.ledger.history(&order).await?, expected, "the life in force has not ended");
        expected.push(PastLife { life: row.life, base: row.base, ceiling });
    }
    desk.open_one(opening(&order, 1, 0)).await?;
    assert_eq!(desk.ledger.history(&order).await?, expected);
    assert_eq!(desk.ledger.history(&counter(0, "order")).await?, [], "another slot's history");
    Ok(())
}

/// A raise to less is done without effect; 0 asks for none.
pub async fn a_ceiling_is_never_lowered(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    desk.open_one(opening(&order, 1, 0)).await?;
    for (asked, held) in [(0, AHEAD), (AHEAD - 1, AHEAD), (300, 300), (299, 300), (0, 300), (301, 301)] {
        assert_eq!(desk.raise_one(raise(&order, 1, asked)).await?.0, held, "asked for {asked}");
        assert_eq!(desk.row(&order).await?.map(|row| row.ceiling), Some(held), "asked for {asked}");
    }
    Ok(())
}

/// `seen` is greatest-of over all servers, and moves no ceiling.
pub async fn seen_only_grows(fixture: &dyn LedgerFixture) -> Checked {
    let (mut a, mut b) = (Desk::of(fixture, 1).await?, Desk::of(fixture, 2).await?);
    let order = counter(0, "order");
    a.open_one(opening(&order, 1, 10)).await?;
    let report = |seen| Raise { seen, ..raise(&order, 1, 0) };
    assert_eq!(a.raise_one(report(20)).await?, (10 + AHEAD, 20));
    assert_eq!(b.raise_one(report(15)).await?, (10 + AHEAD, 20), "a lower report");
    assert_eq!(b.raise_one(report(30)).await?, (10 + AHEAD, 30));
    assert_eq!(a.raise_one(report(0)).await?, (10 + AHEAD, 30), "no report");
    assert_eq!(a.row(&order).await?.map(|row| row.seen), Some(30));
    Ok(())
}

/// A raise in another life than the row's, or without a row, is `Ended` and writes nothing.
pub async fn a_raise_needs_the_life(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    desk.open_one(opening(&order, 1, 0)).await?;
    let row = desk.open_one(opening(&order, 2, 0)).await?;
    let version = desk.version().await?;
    let dead = Raise { seen: row.seen + 1, leap_max: 1 << 40, ..raise(&order, 1, 9000) };
    let asks = [dead, raise(&counter(1, "order"), 2, 9000), raise(&counter(0, "other"), 2, 9000)];
    let answer = desk.raise(&asks).await?;
    assert_eq!((answer.value, answer.version), (vec![Raised::Ended; 3], version));
    desk.unchanged(&order, &row).await?;
    assert_eq!(desk.row(&asks[1].counter).await?, None, "a raise created a row");
    Ok(())
}

/// The version goes up by one with each call that opened or really raised, and with no other.
pub async fn the_version_counts_calls_that_opened_or_raised(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let counters: Vec<_> = (0..3).map(|slot| counter(slot, "order")).collect();
    let version = desk.version().await?;
    let openings: Vec<_> = counters.iter().map(|counter| opening(counter, 1, 0)).collect();
    assert_eq!(desk.open(&openings).await?.version, version + 1, "a batch is one call");
    let raises: Vec<_> = counters.iter().map(|counter| raise(counter, 1, 500)).collect();
    assert_eq!(desk.raise(&raises).await?.version, version + 2);
    assert_eq!(desk.raise(&raises).await?.version, version + 2, "nothing was raised");
    let report = Raise { seen: 50, ..raise(&counters[0], 1, 0) };
    assert_eq!(desk.raise(&[report]).await?.version, version + 2, "seen alone is no raise");
    assert_eq!(desk.raise(&[raise(&counters[0], 7, 900)]).await?.version, version + 2, "an ended life");
    assert_eq!(
        desk.show_up(&[raise(&counters[0], 1, 600)]).await?.version,
        version + 3,
        "a show up raises too"
    );
    assert_eq!(desk.show_up(&[]).await?.version, version + 3);
    assert_eq!(desk.version().await?, version + 3);
    Ok(())
}

/// Sums that would leave the range stop at its edge.
pub async fn the_edge_of_the_range_never_wraps(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    let edge = Block::NUMBER_MAX;
    let far =
        |bits, value| sequent_core::ledger::Opening { leap_max: u64::MAX, ..opening(&order, bits, value) };
    let row = desk.open_one(far(1, edge - 10)).await?;
    assert_eq!((row.base, row.ceiling), (edge - 10, edge));
    let beyond = Raise { seen: edge - 1, leap_max: u64::MAX, ..raise(&order, 1, u64::MAX) };
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
    let presence = desk.show_up(&[]).await?;
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
    let told = desk.show_up(&raises).await?.value.raised;
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
    let names = |list: Vec<(sequent_core::ledger::Counter, Row)>| {
        list.into_iter().map(|(found, _)| found).collect::<Vec<_>>()
    };
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
