//! Identity, stamp and mark of an SQL store, in one row beside the cells.

use sequent_core::Inspection;

use super::{StoreConnection, StoreSession};
use crate::{
    net::{Fault, TxMode},
    sql::{SqlRow, Value},
    store::{other_stamp, parse_stamp},
};

impl<S: StoreSession> StoreConnection for S {
    const INSPECT_MODE: TxMode = <S as StoreSession>::INSPECT_MODE;
    const LOOK_MODE: TxMode = <S as StoreSession>::LOOK_MODE;

    async fn inspect(&mut self) -> Result<Inspection, Fault> {
        Ok(inspect(self).await?.0)
    }

    async fn swap_stamp(&mut self, expected: Option<&str>, new: &str) -> Result<(), Fault> {
        let params = vec![new.into(), Value::maybe_text(expected)];
        if self.change(S::STATEMENTS.stamp, params).await?.is_some() {
            // The caller stamps the store, or checks whether it could: it has to know whether there is space for more.
            return self.check_space().await;
        }
        Err(other_stamp(shard(self).await?.maybe_text()?.as_deref(), expected).into())
    }

    async fn mark(&mut self, version: u64) -> Result<u64, Fault> {
        if version > 0
            && let Some(held) = self.change(S::STATEMENTS.mark, vec![version.into()]).await?
        {
            return Ok(held);
        }
        // Marks only grow, so a later read finds the same or a higher one.
        let mut row = shard(self).await?;
        row.maybe_text()?;
        Ok(row.count()?)
    }
}

/// Reads the identity of the store, and its mark.
pub(super) async fn inspect<S: StoreSession>(session: &mut S) -> Result<(Inspection, u64), Fault> {
    let mut row = shard(session).await?;
    let (stamp, mark, has_cells, told) = (row.maybe_text()?, row.count()?, row.int()? != 0, row.count()?);
    let facts = session.server_facts().await?;
    let inspection = Inspection {
        instance: session.instance().clone(),
        stamp: parse_stamp(stamp.as_deref())?,
        has_cells,
        durability: facts.durability,
        clock_ms: session.clock_ms(told),
        version: facts.engine,
    };
    Ok((inspection, mark))
}

/// The row that was created with the tables.
async fn shard<S: StoreSession>(session: &mut S) -> Result<SqlRow, Fault> {
    let row = session.read(S::STATEMENTS.shard, Vec::new()).await?;
    row.ok_or_else(Fault::emptied)
}
