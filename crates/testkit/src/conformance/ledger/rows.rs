//! Rows, one caller at a time.

use sequent_core::{
    ErrorKind, InstanceId, SourceError,
    ledger::{Counter, Moved, Opened, Opening, Over, PastEpoch, Raise, Raised, Row},
};

use super::{
    super::Checked,
    LedgerFixture,
    desk::{AHEAD, Desk, counter, epoch, opening, raise},
};

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
        epoch: epoch(-7),
        store: InstanceId::new("store 1"),
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

/// The base of the next epoch is the ceiling of the one before, however high it was raised.
pub async fn the_next_epoch_begins_at_the_old_ceiling(fixture: &dyn LedgerFixture) -> Checked {
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

/// A claim begins a counter that has no row, and permits nothing. Where there is a row it writes nothing, and gives that back.
pub async fn a_claim_writes_where_there_is_no_row(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, mut other) = (Desk::of(fixture, 1).await?, Desk::of(fixture, 2).await?);
    let (order, bill) = (counter(0, "order"), counter(0, "bill"));
    let claim = |counter: &Counter, bits| Opening::claim(counter.clone(), epoch(bits));
    let row = desk.open_one(claim(&order, 1)).await?;
    assert_eq!((row.is_claim(), row.base, row.ceiling, row.seen), (true, 0, 0, 0));
    desk.unchanged(&order, &row).await?;
    let version = desk.version().await?;
    // Twice in one call, beside one that is new and one that is opened.
    let asks = [claim(&order, 2), claim(&bill, 3), claim(&bill, 4), opening(&counter(1, "bill"), 5, 0)];
    let answer = other.open(&asks).await?;
    let [known, Opened::Row(new), again, Opened::Row(_)] = answer.value.as_slice() else {
        panic!("found {answer:?}")
    };
    assert_eq!((known, new.epoch), (&Opened::Known(row.clone()), epoch(3)));
    assert_eq!(again, &Opened::Known(new.clone()));
    assert_eq!(answer.version, version + 1);
    other.unchanged(&order, &row).await?;
    assert_eq!(
        other.open(&[claim(&order, 2), claim(&bill, 3)]).await?.version,
        version + 1,
        "nothing was written"
    );
    // An epoch that began, and a ceiling: they are given back as they are; and the claim is not in the history.
    desk.open_one(opening(&order, 6, 0)).await?;
    desk.raise_one(raise(&order, 6, 500)).await?;
    let row = desk.row(&order).await?.unwrap_or_else(|| panic!("the row is gone"));
    assert_eq!(other.open(&[claim(&order, 7)]).await?.value, [Opened::Known(row.clone())]);
    other.unchanged(&order, &row).await?;
    assert_eq!(desk.ledger.history(&order).await?, []);
    Ok(())
}

/// An announcement writes where there is no row, yields to every row, and is gone over by claim and epoch; neither leaves it in the history.
pub async fn an_announcement_yields_to_whoever_begins(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let (order, bill) = (counter(0, "order"), counter(0, "bill"));
    let word = |counter: &Counter, bits| Opening::announcement(counter.clone(), epoch(bits));
    let row = desk.open_one(word(&order, 1)).await?;
    assert_eq!((row.is_announced(), row.base, row.ceiling, row.seen), (true, 0, 0, 0));
    desk.unchanged(&order, &row).await?;
    assert_eq!(desk.open(&[word(&order, 2)]).await?.value, [Opened::Known(row)]);
    let claim = desk.open_one(Opening::claim(order.clone(), epoch(3))).await?;
    assert!(claim.is_claim() && !claim.is_announced());
    assert_eq!(desk.open(&[word(&order, 4)]).await?.value, [Opened::Known(claim)]);
    desk.open_one(word(&bill, 5)).await?;
    let row = desk.open_one(opening(&bill, 6, 0)).await?;
    assert_eq!(desk.open(&[word(&bill, 7)]).await?.value, [Opened::Known(row.clone())]);
    desk.unchanged(&bill, &row).await?;
    for counter in [&order, &bill] {
        assert_eq!(desk.ledger.history(counter).await?, []);
    }
    Ok(())
}

/// The base is not below how far the key's other slots are, as far as a jump goes.
pub async fn an_open_is_not_behind_the_other_slots(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    for (number, beside, base) in
        [(0, 0, 7), (1, 6, 7), (2, 300, 300), (3, 500, 500), (4, 501, 500), (5, u64::MAX, 500)]
    {
        let ask = Opening { beside, jump_max: 1000, ..opening(&counter(number, "order"), 1, 7) };
        let row = desk.open_one(ask).await?;
        assert_eq!((row.base, row.ceiling, row.seen), (base, base + AHEAD, base), "{beside}");
        desk.unchanged(&counter(number, "order"), &row).await?;
    }
    // Above what a row says not at all, if it is more than a jump.
    let known = 7;
    for (number, beside, base) in [(0, known + 1000, known + 1000), (1, known + 1001, known + AHEAD)] {
        let over = Over::Epoch(epoch(1));
        let ask = Opening { beside, jump_max: 1000, over, ..opening(&counter(number, "order"), 2, 0) };
        assert_eq!(desk.open_one(ask).await?.base, base, "{beside}");
    }
    Ok(())
}

/// An epoch replaces the row that was read before its cell was closed, and no other: not one that was begun since, and not one that is
/// gone.
pub async fn an_epoch_is_opened_over_the_row_that_was_read(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order, bill) = (Desk::of(fixture, 1).await?, counter(0, "order"), counter(0, "bill"));
    let ask = |counter: &Counter, over, bits| Opening { over, ..opening(counter, bits, 0) };
    let first = desk.open_one(ask(&order, Over::Nothing, 1)).await?;
    let version = desk.version().await?;
    let late = [
        ask(&order, Over::Nothing, 2),
        ask(&order, Over::Epoch(epoch(9)), 3),
        ask(&bill, Over::Epoch(epoch(1)), 4),
    ];
    assert_eq!(desk.open(&late).await?.value, [Opened::Overtaken, Opened::Overtaken, Opened::Overtaken]);
    assert_eq!(desk.version().await?, version, "nothing was written");
    desk.unchanged(&order, &first).await?;
    assert_eq!(desk.row(&bill).await?, None);
    // Two that read the same, in one call.
    let asks = [ask(&order, Over::Epoch(epoch(1)), 5), ask(&order, Over::Epoch(epoch(1)), 6)];
    let answer = desk.open(&asks).await?;
    let [Opened::Row(row), Opened::Overtaken] = answer.value.as_slice() else { panic!("found {answer:?}") };
    assert_eq!((row.epoch, row.base), (epoch(5), first.ceiling));
    desk.unchanged(&order, row).await?;
    assert_eq!(desk.ledger.history(&order).await?.len(), 1, "one epoch has ended");
    Ok(())
}

/// Each ended epoch is kept with its base and its ceiling, oldest first.
pub async fn ended_epochs_are_kept_in_order(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(1, "order"));
    let mut expected = Vec::new();
    // Falling tokens, so that an order by token shows.
    for (bits, to) in [(9, 150), (-4, 0), (3, 999)] {
        let row = desk.open_one(opening(&order, bits, 0)).await?;
        let (ceiling, _) = desk.raise_one(raise(&order, bits, to)).await?;
        assert_eq!(desk.ledger.history(&order).await?, expected, "the epoch in force has not ended");
        expected.push(PastEpoch { epoch: row.epoch, base: row.base, ceiling });
    }
    desk.open_one(opening(&order, 1, 0)).await?;
    assert_eq!(desk.ledger.history(&order).await?, expected);
    assert_eq!(desk.ledger.history(&counter(0, "order")).await?, [], "another slot's history");
    Ok(())
}

/// What others opened, raised and reported is told by version, each row once, and nothing that moved nothing.
pub async fn what_moved_is_told_by_version(fixture: &dyn LedgerFixture) -> Checked {
    let (mut one, other) = (Desk::of(fixture, 1).await?, Desk::of(fixture, 2).await?);
    let (order, bill) = (counter(0, "order"), counter(1, "bill|8:20170304"));
    let told = async |since, most| {
        let moved = other.ledger.moved(&other.under, since, most).await?;
        let tuple = |moved: Moved| (moved.counter, moved.epoch, moved.seen, moved.version);
        Ok::<_, SourceError>(moved.into_iter().map(tuple).collect::<Vec<_>>())
    };
    let start = one.version().await?;
    assert_eq!(told(start, 10).await?, []);
    one.open_one(opening(&order, 1, 5)).await?;
    one.open_one(opening(&bill, -2, 0)).await?;
    let (first, second) = ((order.clone(), epoch(1), 5, start + 1), (bill.clone(), epoch(-2), 0, start + 2));
    assert_eq!(told(start, 10).await?, [first.clone(), second.clone()]);
    assert_eq!(told(start, 1).await?, [first]);
    one.raise_one(Raise { seen: 9, ..raise(&order, 1, 300) }).await?;
    assert_eq!(told(start, 10).await?, [second, (order.clone(), epoch(1), 9, start + 3)], "each row once");
    one.raise_one(Raise { seen: 9, ..raise(&order, 1, 200) }).await?;
    assert_eq!(told(start + 3, 10).await?, [], "nothing was moved");
    one.open_one(opening(&order, 7, 9)).await?;
    assert_eq!(told(start + 3, 10).await?, [(order, epoch(7), 300, start + 4)], "a new epoch");
    assert_eq!(told(one.version().await?, 10).await?, []);
    let stranger = other.ledger.moved(&InstanceId::new("another"), start, 10).await;
    assert!(stranger.is_err_and(|error| error.kind() == ErrorKind::InstanceChanged));
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

/// A raise in another epoch than the row's, or without a row, is `Ended` and writes nothing.
pub async fn a_raise_needs_the_epoch(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    desk.open_one(opening(&order, 1, 0)).await?;
    let row = desk.open_one(opening(&order, 2, 0)).await?;
    let version = desk.version().await?;
    let dead = Raise { seen: row.seen + 1, jump_max: 1 << 40, ..raise(&order, 1, 9000) };
    let asks = [dead, raise(&counter(1, "order"), 2, 9000), raise(&counter(0, "other"), 2, 9000)];
    let answer = desk.raise(&asks).await?;
    let ended = [Some(row.base), None, None].map(|begun_at| Raised::Ended { begun_at });
    assert_eq!((answer.value, answer.version), (ended.to_vec(), version));
    desk.unchanged(&order, &row).await?;
    assert_eq!(desk.row(&asks[1].counter).await?, None, "a raise created a row");
    Ok(())
}

/// The version goes up by one with each call that opened or really raised, and not where there was nothing to raise.
pub async fn the_version_counts_calls_that_opened_or_raised(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let counters: Vec<_> = (0..3).map(|slot| counter(slot, "order")).collect();
    let version = desk.version().await?;
    let openings: Vec<_> = counters.iter().map(|counter| opening(counter, 1, 0)).collect();
    assert_eq!(desk.open(&openings).await?.version, version + 1, "a batch is one call");
    let raises: Vec<_> = counters.iter().map(|counter| raise(counter, 1, 500)).collect();
    assert_eq!(desk.raise(&raises).await?.version, version + 2);
    assert_eq!(desk.raise(&raises).await?.version, version + 2, "nothing was raised");
    assert_eq!(desk.raise(&[raise(&counters[0], 7, 900)]).await?.version, version + 2, "an ended epoch");
    let heartbeat = desk.heartbeat(&[raise(&counters[0], 1, 600)]).await?;
    assert_eq!(heartbeat.version, version + 3, "a heartbeat raises too");
    assert_eq!(desk.heartbeat(&[]).await?.version, version + 3);
    assert_eq!(desk.version().await?, version + 3);
    Ok(())
}

/// A report that moves a `seen` moves the version, ceilings or none: a copy from before it is known to be older by the
/// marks. One that tells nothing new does not, so an idle server leaves no marks.
pub async fn the_version_counts_calls_that_reported(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let counters: Vec<_> = (0..2).map(|slot| counter(slot, "order")).collect();
    let openings: Vec<_> = counters.iter().map(|counter| opening(counter, 1, 0)).collect();
    let version = desk.open(&openings).await?.version;
    let report = |slot: usize, seen| Raise { seen, ..raise(&counters[slot], 1, 0) };
    let both = [report(0, 20), report(1, 30)];
    assert_eq!(desk.heartbeat(&both).await?.version, version + 1, "a batch is one call");
    assert_eq!(desk.heartbeat(&both).await?.version, version + 1, "told before");
    assert_eq!(desk.heartbeat(&[report(0, 19)]).await?.version, version + 1, "less than was told");
    assert_eq!(desk.heartbeat(&[report(0, 19), report(1, 31)]).await?.version, version + 2, "one of two");
    assert_eq!(desk.raise(&[report(0, 21)]).await?.version, version + 3, "a raise reports too");
    assert_eq!(desk.raise(&[report(0, 21)]).await?.version, version + 3);
    let ended = Raise { seen: 99, ..raise(&counters[0], 7, 0) };
    assert_eq!(desk.heartbeat(&[ended]).await?.version, version + 3, "an ended epoch");
    let jump = desk.heartbeat(&[report(0, AHEAD + 1)]).await?;
    assert_eq!((jump.value.raised, jump.version), (vec![Raised::Jumped { ceiling: AHEAD }], version + 3));
    assert_eq!(desk.heartbeat(&[]).await?.version, version + 3);
    assert_eq!(desk.version().await?, version + 3);
    Ok(())
}
