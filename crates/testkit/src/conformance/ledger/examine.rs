//! A look for an operator's sake.

use sequent_core::ledger::LedgerInspection;

use super::{
    super::Checked,
    LedgerFixture,
    desk::{Desk, counter, layout, opening},
};
use crate::conformance::skipped;

/// A look sees identity, layout and rows as they are, of a run that is known by its name, and leaves all of it as it was.
pub async fn a_look_changes_nothing_and_sees_every_row(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, ledger) = (Desk::of(fixture, 1).await?, fixture.open().await);
    let Some(examiner) = ledger.examiner() else { return skipped("be looked into") };
    for (slot, key) in [(0, "order"), (1, "order"), (1, "order|8:20170304")] {
        desk.open_one(opening(&counter(slot, key), 1, 40)).await?;
    }
    let (before, rows) = (desk.ledger.inspect().await?, desk.ledger.list(None, 100).await?);
    for most in [0, 2, 100] {
        let seen = examiner.examine(most).await?;
        let clock_ms = before.clock_ms;
        assert_eq!(
            LedgerInspection { clock_ms, ..seen.inspection },
            before,
            "another run, or another ledger"
        );
        assert_eq!(seen.layout, Some(layout()));
        assert_eq!(seen.rows, rows[..most.min(rows.len())], "at most {most}");
    }
    assert_eq!(desk.version().await?, before.version, "a look was counted");
    desk.open_one(opening(&counter(2, "order"), 2, 0)).await?;
    Ok(())
}
