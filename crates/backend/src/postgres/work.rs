//! One run of a verb, within its transaction.

use sequent_core::ErrorKind;
use sqlx::query;

use super::{fault::Fault, link::Link};
use crate::sql::{TxMode, Work};

/// Once: within its frame, and out of it again whatever happens.
pub(super) async fn attempt<W: Work<Link>>(link: &mut Link, work: &W) -> Result<W::Out, Fault> {
    let begin = match work.mode() {
        TxMode::Single => return work.run(link).await,
        TxMode::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        TxMode::Write => "BEGIN",
    };
    link.session().run(query(begin)).await?;
    let done = match work.run(link).await {
        Ok(out) => link.session().run(query("COMMIT")).await.map(|_| out),
        Err(fault) => Err(fault),
    };
    if matches!(done, Err(Fault::Answer(_) | Fault::Busy(_))) {
        link.session()
            .run(query("ROLLBACK"))
            .await
            .map_err(|_| Fault::broken(ErrorKind::Unavailable, "a transaction could not be rolled back"))?;
    }
    done
}
