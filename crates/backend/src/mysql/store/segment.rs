//! `mysql-segment` store: a take compares and swaps the row, by the algorithm of `store::cas`.

use std::sync::{Mutex, PoisonError};

use sequent_core::{Block, InstanceId, Key};
use tokio::sync::MutexGuard;

use super::{ROWS, place_of};
use crate::{
    mysql::{connection::Connection, server::MysqlServer},
    net::{Connection as _, Fault, Pool, ServerOptions},
    sql::{SqlSession, Value},
    store::{
        CellRef, CellState, CoreStore, Counting,
        cas::{self, Registers, Seen},
        sql::{InPlace, SqlCounting, cell},
    },
};

/// Number of stripes: keys that one handle can take from in parallel.
const STRIPES: usize = 64;

/// `mysql-segment`: a store in one MySQL or MariaDB database, one row per key, compared and swapped. Use it for larger
/// blocks, and for servers whose `LAST_INSERT_ID(expr)` is unreliable in a take.
///
/// The first call connects.
pub type MysqlSegmentStore = CoreStore<Pool<MysqlServer>, Segment>;

impl MysqlSegmentStore {
    /// The store in the options' database.
    pub fn new(options: ServerOptions) -> Self {
        let stripes = std::array::from_fn(|_| Stripe::default());
        let pool = Pool::new(MysqlServer { options, tables: &ROWS });
        Self::on(pool, Segment { stripes: Box::new(stripes) })
    }
}

/// Counting by compare and swap. Takes of one handle from one key run one after the other, because parallel ones would
/// only fail each other's swaps. Each stripe remembers the state after its last take, which saves the next take of that
/// key the read.
pub struct Segment {
    stripes: Box<[Stripe; STRIPES]>,
}

#[derive(Default)]
struct Stripe {
    turn: tokio::sync::Mutex<()>,
    left: Mutex<Option<Left>>,
}

/// The state of a cell after a take.
struct Left {
    key: Key,
    instance: InstanceId,
    state: CellState,
}

impl Segment {
    fn stripe(&self, key: &Key) -> &Stripe {
        &self.stripes[place_of(key, STRIPES)]
    }
}

/// The columns of a state.
fn columns(CellState { epoch, open, value }: CellState) -> [Value; 3] {
    [epoch.to_stored().into(), i64::from(open).into(), value.into()]
}

/// The state itself is compared.
impl Registers<Connection> for Segment {
    type Token = ();

    async fn read(&self, connection: &mut Connection, key: &Key) -> Result<Option<Seen<()>>, Fault> {
        Ok(cell(connection, key).await?.map(|state| Seen { state, token: () }))
    }

    async fn swap(
        &self,
        connection: &mut Connection,
        key: &Key,
        seen: &Seen<()>,
        new: CellState,
    ) -> Result<bool, Fault> {
        let sql = "UPDATE sequent_cells SET epoch = ?, open = ?, v = ? WHERE k = ? AND epoch = ? AND open = ? \
            AND GREATEST(v, 0) = ?";
        let mut params = columns(new).to_vec();
        params.push(key.as_str().into());
        params.extend(columns(seen.state));
        Ok(connection.execute(sql, params).await? == 1)
    }
}

impl Counting<Connection> for Segment {
    async fn turn(&self, key: &Key) -> Option<MutexGuard<'_, ()>> {
        Some(self.stripe(key).turn.lock().await)
    }

    async fn close(&self, connection: &mut Connection, cell: CellRef<'_>) -> Result<u64, Fault> {
        InPlace.close(connection, cell).await
    }

    async fn install(&self, connection: &mut Connection, cell: CellRef<'_>, base: u64) -> Result<(), Fault> {
        InPlace.install(connection, cell, base).await
    }

    async fn lift(&self, connection: &mut Connection, cell: CellRef<'_>, floor: u64) -> Result<u64, Fault> {
        InPlace.lift(connection, cell, floor).await
    }

    async fn remove(&self, connection: &mut Connection, key: &Key) -> Result<bool, Fault> {
        InPlace.remove(connection, key).await
    }

    async fn take(&self, connection: &mut Connection, cell: CellRef<'_>, want: u64) -> Result<Block, Fault> {
        let left = || self.stripe(cell.key).left.lock().unwrap_or_else(PoisonError::into_inner);
        let instance = connection.instance().clone();
        // The hint is removed, so that a dropped take leaves none behind.
        let hint = left().take().filter(|left| left.key == *cell.key && left.instance == instance);
        let hint = hint.map(|left| Seen { state: left.state, token: () });
        let (block, state) = cas::take(self, connection, cell, want, hint).await?;
        *left() = Some(Left { key: cell.key.clone(), instance, state });
        Ok(block)
    }
}

impl SqlCounting<Connection> for Segment {}
