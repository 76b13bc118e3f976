//! A dense counter whose row somebody else holds.

use std::time::Duration;

use sequent_core::ledger::DenseTaken;

use super::{
    super::{Checked, skipped},
    LedgerFixture,
    dense::ask,
    desk::Desk,
};

/// How often a held row is asked for: by then whoever holds it has let go of it.
const LOOKS_MAX: u32 = 1000;

/// Another client of the database that holds one counter's row keeps no other counter waiting, whether they are asked together or
/// alone; and the one goes on once it was let go.
pub async fn a_dense_row_that_a_stranger_holds_keeps_no_other_waiting(
    fixture: &dyn LedgerFixture,
) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    assert_eq!(desk.count(&[ask("a", 1), ask("b", 1)]).await?, [1, 1].map(DenseTaken::Last));
    if !fixture.hold_dense("a").await {
        return skipped("a row can't be held by itself");
    }
    let first = desk.count(&[ask("a", 1), ask("b", 1), ask("new", 1)]).await?;
    assert_eq!(first, [DenseTaken::Locked, DenseTaken::Last(2), DenseTaken::Last(1)]);
    assert_eq!(desk.count(&[ask("b", 1)]).await?, [DenseTaken::Last(3)]);
    let mut looks = 0;
    while desk.count(&[ask("a", 1)]).await? == [DenseTaken::Locked] {
        looks += 1;
        assert!(looks < LOOKS_MAX, "it was let go long ago");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(looks > 0, "it was held");
    assert_eq!(desk.given("a").await?, Some(2), "nothing was used up");
    Ok(())
}

/// A row that another client makes while a counter begins is not set back: the counter goes on behind it.
pub async fn a_dense_row_that_a_stranger_makes_is_not_written_over(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    desk.count(&[ask("a", 1)]).await?;
    if !fixture.begin_dense("new", 500).await {
        return skipped("a row can't be made by itself");
    }
    for _ in 0..LOOKS_MAX {
        match desk.count(&[ask("new", 1)]).await {
            Ok(taken) => {
                assert!(matches!(taken[..], [DenseTaken::Last(501) | DenseTaken::Locked]), "{taken:?}");
                if taken == [DenseTaken::Last(501)] {
                    return Ok(());
                }
            }
            // It waited for the other client, or found that it was there.
            Err(_) => desk = Desk::of(fixture, desk.server.0 + 1).await?,
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it was committed long ago")
}
