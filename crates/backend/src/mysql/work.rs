//! One run of a verb, within its transaction.

use sequent_core::ErrorKind;

use super::{fault::Fault, link::Link};
use crate::sql::{TxMode, Work};

/// Once: within its frame, and out of it again whatever happens.
pub(super) async fn attempt<W: Work<Link>>(link: &mut Link, work: &W) -> Result<W::Out, Fault> {
    if work.mode() == TxMode::Single {
        return work.run(link).await;
    }
    link.text("START TRANSACTION").await?;
    let done = match work.run(link).await {
        Ok(out) => link.text("COMMIT").await.map(|_| out),
        Err(fault) => Err(fault),
    };
    if matches!(done, Err(Fault::Busy(_) | Fault::Answer(_))) {
        link.text("ROLLBACK")
            .await
            .map_err(|_| Fault::broken(ErrorKind::Unavailable, "a transaction could not be rolled back"))?;
    }
    done
}
