//! Identity, stamp and mark of an SQL store, in one row beside the cells.

use sequent_core::{Condition, Inspection};

use super::StoreSession;
use crate::{
    net::{Cause, Fault},
    sql::{SqlRow, Value},
    store::{Swapped, parse_stamp},
};

/// Reads the identity of the store, and its mark.
pub(super) async fn inspect<S: StoreSession>(session: &mut S) -> Result<(Inspection, u64), Fault> {
    let mut row = shard(session).await?;
    let (stamp, mark, has_cells, told) = (row.maybe_text()?, row.count()?, row.int()? != 0, row.count()?);
    let facts = session.store_facts().await?;
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

pub(super) async fn swap_stamp<S: StoreSession>(
    session: &mut S,
    expected: Option<&str>,
    new: &str,
) -> Result<Swapped, Fault> {
    let params = vec![new.into(), Value::maybe_text(expected)];
    if session.change(S::STATEMENTS.stamp, params).await?.is_some() {
        // The caller stamps the store, or checks whether it could: it has to know whether there is space for more.
        session.check_space().await?;
        return Ok(Swapped::Done);
    }
    Ok(Swapped::Found(shard(session).await?.maybe_text()?))
}

pub(super) async fn mark<S: StoreSession>(session: &mut S, version: u64) -> Result<u64, Fault> {
    if version > 0
        && let Some(held) = session.change(S::STATEMENTS.mark, vec![version.into()]).await?
    {
        return Ok(held);
    }
    // Marks only grow, so a later read finds the same or a higher one.
    let mut row = shard(session).await?;
    row.maybe_text()?;
    Ok(row.count()?)
}

/// The row that was created with the tables.
async fn shard<S: StoreSession>(session: &mut S) -> Result<SqlRow, Fault> {
    let row = session.read(S::STATEMENTS.shard, Vec::new()).await?;
    let gone = || Cause::from("a row that is made with the tables is gone").with(Condition::Emptied);
    row.ok_or_else(|| Fault::refused(gone()))
}
