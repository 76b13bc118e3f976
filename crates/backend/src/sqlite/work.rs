//! One run of a verb, within its transaction.

use sequent_core::ErrorKind;

use super::{fault::Fault, link::Link};
use crate::sql::{TxMode, Work};

/// Once: within its frame, and out of it again whatever happens.
pub(super) async fn attempt<W: Work<Link>>(link: &mut Link, work: &W) -> Result<W::Out, Fault> {
    let begin = match work.mode() {
        TxMode::Single => return work.run(link).await,
        TxMode::Read => "BEGIN",
        TxMode::Write if link.looks() => "BEGIN",
        TxMode::Write => "BEGIN IMMEDIATE",
    };
    link.run(sqlx::query(begin)).await?;
    let done = match work.run(link).await {
        Ok(out) => link.run(sqlx::query("COMMIT")).await.map(|_| out),
        Err(fault) => Err(fault),
    };
    if !matches!(done, Ok(_) | Err(Fault::Broken(..) | Fault::Damaged(_))) {
        link.run(sqlx::query("ROLLBACK"))
            .await
            .map_err(|_| Fault::broken(ErrorKind::Unavailable, "a transaction could not be rolled back"))?;
    }
    done
}
