//! `mysql-segment` store: a take compares and swaps the row, by the algorithm of `store::cas`.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sequent_core::{Block, Entropy, Epoch, Fact, InstanceId, Key};
use tokio::sync::MutexGuard;

use super::{InPlace, ROWS, place_of};
use crate::{
    mysql::{connection::Connection, server::MysqlServer},
    net::{Connection as _, Fault, Pool, ServerOptions},
    sql::SqlSession,
    store::{
        CellState, CoreStore,
        cas::{self, Register, Seen},
        sql::{Counting, SqlStore, cell},
    },
};

/// Number of stripes: keys that one handle can take from in parallel.
const STRIPES: usize = 64;

/// The longest pause after a lost race. The pause is random up to it.
const PAUSE_MAX: Duration = Duration::from_millis(2);

/// `mysql-segment`: a store in one MySQL or MariaDB database, one row per key, compared and swapped. Use it for larger
/// blocks, and for servers whose `LAST_INSERT_ID(expr)` is unreliable in a take.
///
/// The first call connects.
pub type MysqlSegmentStore = CoreStore<SqlStore<Pool<MysqlServer>, Segment>>;

impl MysqlSegmentStore {
    /// The store in the options' database.
    pub fn new(options: ServerOptions) -> Self {
        let stripes = std::array::from_fn(|_| Stripe::default());
        let counting = Segment { stripes: Box::new(stripes), entropy: Arc::clone(&options.env.entropy) };
        Self(SqlStore { connections: Pool::new(MysqlServer { options, tables: &ROWS }), counting })
    }
}

/// Counting by compare and swap. Takes of one handle from one key run one after the other, because parallel ones would
/// only fail each other's swaps. Each stripe remembers the state after its last take, which saves the next take of that
/// key the read.
pub struct Segment {
    stripes: Box<[Stripe; STRIPES]>,
    entropy: Arc<dyn Entropy>,
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

impl Counting<Connection> for Segment {
    async fn turn(&self, key: &Key) -> Option<MutexGuard<'_, ()>> {
        Some(self.stripe(key).turn.lock().await)
    }

    async fn take(
        &self,
        connection: &mut Connection,
        key: &Key,
        epoch: Epoch,
        want: u64,
    ) -> Result<Block, Fault> {
        let left = || self.stripe(key).left.lock().unwrap_or_else(PoisonError::into_inner);
        let instance = connection.instance().clone();
        // The hint is removed, so that a dropped take leaves none behind.
        let hint = left().take().filter(|left| left.key == *key && left.instance == instance);
        let hint = hint.map(|left| Seen { state: left.state, token: () });
        let mut row = Row { connection, key, entropy: &*self.entropy };
        let (block, state) = cas::take(&mut row, key, epoch, want, hint).await?;
        *left() = Some(Left { key: key.clone(), instance, state });
        Ok(block)
    }

    async fn facts(&self, connection: &mut Connection) -> Result<Vec<Fact>, Fault> {
        InPlace.facts(connection).await
    }
}

/// The row of a key, as a register of `cas`; the state itself is compared.
struct Row<'a> {
    connection: &'a mut Connection,
    key: &'a Key,
    entropy: &'a dyn Entropy,
}

impl Register for Row<'_> {
    type Token = ();
    type Fault = Fault;

    async fn read(&mut self) -> Result<Option<Seen<()>>, Fault> {
        let found = cell(self.connection, self.key).await?;
        Ok(found.map(|state| Seen { state, token: () }))
    }

    async fn swap(&mut self, seen: &Seen<()>, new: CellState) -> Result<bool, Fault> {
        let sql = "UPDATE sequent_cells SET epoch = ?, open = ?, v = ? WHERE k = ? AND epoch = ? AND open = ? \
            AND GREATEST(v, 0) = ?";
        let state = |state: CellState| {
            [state.epoch.to_stored().into(), i64::from(state.open).into(), state.value.into()]
        };
        let mut params = state(new).to_vec();
        params.push(self.key.as_str().into());
        params.extend(state(seen.state));
        Ok(self.connection.execute(sql, params).await? == 1)
    }

    async fn add(&mut self, new: CellState) -> Result<bool, Fault> {
        let sql = "INSERT IGNORE INTO sequent_cells (k, epoch, open, v) VALUES (?, ?, ?, ?)";
        let params = vec![
            self.key.as_str().into(),
            new.epoch.to_stored().into(),
            i64::from(new.open).into(),
            new.value.into(),
        ];
        Ok(self.connection.execute(sql, params).await? == 1)
    }

    async fn pause(&mut self) {
        tokio::time::sleep(PAUSE_MAX.mul_f64(self.entropy.fraction())).await;
    }
}
