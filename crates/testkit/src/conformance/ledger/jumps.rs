//! Jumps: a value far above what was witnessed is followed by nothing.

use sequent_core::ledger::{Opened, Opening, Raise, Raised};

use super::{
    super::Checked,
    LedgerFixture,
    desk::{AHEAD, Desk, counter, opening, raise},
};

/// The jump bound of these checks.
const JUMP: u64 = 1000;

/// `seen` may exceed the row's own ceiling by `jump_max`, and by no more.
pub async fn a_raise_jumps_beyond_jump_max(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    let row = desk.open_one(opening(&order, 1, 0)).await?;
    let version = desk.version().await?;
    for seen in [AHEAD + JUMP + 1, 9_000_000_000_000_000_000, u64::MAX] {
        let ask = Raise { seen, jump_max: JUMP, ..raise(&order, 1, seen) };
        let answer = desk.raise(&[ask]).await?;
        assert_eq!(answer.value, [Raised::Jumped { ceiling: AHEAD }], "seen {seen}");
        assert_eq!(answer.version, version, "a jump is no raise");
        desk.unchanged(&order, &row).await?;
    }
    let seen = AHEAD + JUMP;
    let ask = Raise { seen, jump_max: JUMP, ..raise(&order, 1, seen + 5) };
    assert_eq!(desk.raise_one(ask).await?, (seen + 5, seen), "at the bound");
    Ok(())
}

/// The value found may exceed what was seen by `ahead` and `jump_max`, and by no more.
pub async fn an_open_jumps_beyond_ahead_and_jump_max(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    let ask = |bits, value| Opening { jump_max: JUMP, ..opening(&order, bits, value) };
    let bound = AHEAD + JUMP;
    let found = bound + 1;
    assert_eq!(desk.open(&[ask(1, found)]).await?.value, [Opened::Jumped { found, bound }], "a first open");
    assert_eq!(desk.row(&order).await?, None, "a jump wrote a row");
    desk.open_one(ask(1, bound)).await?;
    desk.raise_one(Raise { seen: bound + 50, ..raise(&order, 1, 0) }).await?;
    let (row, version) = (desk.row(&order).await?, desk.version().await?);
    let bound = bound + 50 + AHEAD + JUMP;
    for found in [bound + 1, 9_000_000_000_000_000_000] {
        let answer = desk.open(&[ask(2, found)]).await?;
        assert_eq!(answer.value, [Opened::Jumped { found, bound }]);
        assert_eq!(answer.version, version, "a jump opens nothing");
    }
    assert_eq!(desk.row(&order).await?, row, "a jump wrote the row");
    assert_eq!(desk.ledger.history(&order).await?, [], "a jump ended an epoch");
    assert_eq!(desk.open_one(ask(2, bound)).await?.base, bound, "at the bound");
    Ok(())
}

/// A ceiling that was raised far above what was seen is not followed into the next epoch.
pub async fn a_ceiling_far_above_what_was_seen_is_a_jump(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    let ask = |bits| Opening { jump_max: JUMP, ..opening(&order, bits, 0) };
    desk.open_one(ask(1)).await?;
    let found = AHEAD + JUMP + 1;
    desk.raise_one(raise(&order, 1, found)).await?;
    let expected = Opened::Jumped { found, bound: AHEAD + JUMP };
    assert_eq!(desk.open(&[ask(2)]).await?.value, [expected]);
    desk.raise_one(Raise { seen: 1, ..raise(&order, 1, 0) }).await?;
    assert_eq!(desk.open_one(ask(2)).await?.base, found, "one was seen meanwhile");
    Ok(())
}

/// A jump concerns its own counter; the others of the batch are opened and raised.
pub async fn a_jump_stops_one_counter_of_a_batch(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let counters: Vec<_> = (0..3).map(|slot| counter(slot, "order")).collect();
    let ask = |at: usize, value| Opening { jump_max: JUMP, ..opening(&counters[at], 1, value) };
    let opened = desk.open(&[ask(0, 1), ask(1, 1 << 60), ask(2, 3)]).await?.value;
    let jumped: Vec<bool> = opened.iter().map(|opened| matches!(opened, Opened::Jumped { .. })).collect();
    assert_eq!(jumped, [false, true, false]);
    desk.open_one(ask(1, 2)).await?;
    let report = |at: usize, seen| Raise { seen, jump_max: JUMP, ..raise(&counters[at], 1, 500) };
    let answer = desk.heartbeat(&[report(0, 10), report(1, 1 << 60), report(2, 30)]).await?;
    let held = |seen| Raised::Held { ceiling: 500, seen };
    assert_eq!(answer.value.raised, [held(10), Raised::Jumped { ceiling: 2 + AHEAD }, held(30)]);
    let rows = desk.ledger.read(&desk.under, &counters).await?.rows;
    let seen: Vec<_> = rows.iter().flatten().map(|row| (row.ceiling, row.seen)).collect();
    assert_eq!(seen, [(500, 10), (2 + AHEAD, 2), (500, 30)]);
    Ok(())
}
