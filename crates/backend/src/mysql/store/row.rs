//! `mysql-row`: a take adds to the row in place.

use sequent_core::{Block, Cell, ErrorKind, Incarnation, Life, SourceError};

use super::{cells::refuse, stored};
use crate::mysql::{
    fault::{ER_OUT_OF_RANGE, Fault},
    link::Link,
};
use crate::sql::{TxMode, Work};

pub(super) struct Take<'a> {
    pub(super) cell: Cell<'a>,
    pub(super) life: Life,
    pub(super) want: u64,
}

impl Work<Link> for Take<'_> {
    type Out = Block;
    const VERB: &'static str = "take from";
    const MODE: TxMode = TxMode::Single;

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<Block, Fault> {
        let (key, want) = (self.cell.key, self.want.max(1));
        let added = stored("count", key, want)?;
        let sql = "UPDATE sequent_cells SET v = LAST_INSERT_ID(v + ?) WHERE k = ? AND life = ? AND open = 1 \
            AND v >= 0";
        match link.exec(sql, (added, key.as_str(), self.life.to_stored())).await {
            Ok(done) if done.found == 1 => {
                Block::ending_at(done.id, want).map_err(|error| SourceError::exhausted(error).into())
            }
            Ok(_) => Err(refuse(link, &self.cell, self.life).await?),
            // The sum is made only where the row is the one asked for.
            Err(fault) if fault.is(ER_OUT_OF_RANGE) => {
                let context = format!("{key}: {want} more is above {}", i64::MAX);
                Err(SourceError::new(ErrorKind::Exhausted, context).into())
            }
            Err(fault) => Err(fault),
        }
    }
}
