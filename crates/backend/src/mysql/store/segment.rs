//! `mysql-segment`: the cell is compared and swapped, by the algorithm that other engines share.

use std::time::Duration;

use sequent_core::{Block, Cell, Entropy, Incarnation, Key, Life, SourceError};
use tokio::sync::Mutex;

use super::{cells::found, place_of, stored};
use crate::sql::{TxMode, Work};
use crate::{
    cas::{self, Register, Seen, State},
    mysql::{fault::Fault, link::Link, pool::Pool},
};

/// How many keys may be taken from at once by one handle.
const STRIPES: usize = 64;

/// The longest pause after a lost race; the real one is random up to this.
const PAUSE_MAX: Duration = Duration::from_millis(2);

/// Takes of one handle from one key follow each other: they would only make each other's swaps fail. Each stripe
/// remembers what its last take left, which saves the next one of that key the reading.
pub(super) struct Stripes([Mutex<Option<Left>>; STRIPES]);

/// What a take left in a cell.
struct Left {
    key: Key,
    under: Incarnation,
    state: State,
}

impl Default for Stripes {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Stripes {
    pub(super) async fn take(
        &self,
        pool: &Pool,
        cell: Cell<'_>,
        life: Life,
        want: u64,
    ) -> Result<Block, SourceError> {
        let at = place_of(cell.key, STRIPES);
        let mut left = self.0[at].lock().await;
        let same = |left: &Left| left.key == *cell.key && left.under == *cell.under;
        // Taken out: a take that is dropped leaves no guess behind.
        let hint = left.take().filter(same).map(|left| left.state);
        let (block, state) = pool.perform(Take { cell, life, want, hint, entropy: entropy(pool) }).await?;
        *left = Some(Left { key: cell.key.clone(), under: cell.under.clone(), state });
        Ok(block)
    }
}

pub(super) async fn close(pool: &Pool, cell: Cell<'_>, next: Life) -> Result<u64, SourceError> {
    pool.perform(Close { cell, next, entropy: entropy(pool) }).await
}

pub(super) async fn install(pool: &Pool, cell: Cell<'_>, life: Life, base: u64) -> Result<(), SourceError> {
    pool.perform(Install { cell, life, base, entropy: entropy(pool) }).await
}

pub(super) async fn lift(pool: &Pool, cell: Cell<'_>, life: Life, floor: u64) -> Result<u64, SourceError> {
    pool.perform(Lift { cell, life, floor, entropy: entropy(pool) }).await
}

fn entropy(pool: &Pool) -> &dyn Entropy {
    &*pool.options().entropy
}

/// The row of a key, as a register: the state itself is compared.
struct Row<'a> {
    link: &'a mut Link,
    cell: Cell<'a>,
    entropy: &'a dyn Entropy,
}

impl Register for Row<'_> {
    type Token = ();
    type Fault = Fault;

    async fn read(&mut self) -> Result<Option<Seen<()>>, Fault> {
        let found = found(self.link, &self.cell).await?;
        Ok(found.map(|state| Seen { state, token: () }))
    }

    async fn swap(&mut self, seen: &Seen<()>, new: State) -> Result<bool, Fault> {
        let (old, key) = (seen.state, self.cell.key);
        let sql = "UPDATE sequent_cells SET life = ?, open = ?, v = ? WHERE k = ? AND life = ? AND open = ? \
            AND GREATEST(v, 0) = ?";
        let to = (new.life.to_stored(), new.open, stored("value", key, new.value)?);
        let from = (key.as_str(), old.life.to_stored(), old.open, stored("value", key, old.value)?);
        let done = self.link.exec(sql, (to.0, to.1, to.2, from.0, from.1, from.2, from.3)).await?;
        Ok(done.found == 1)
    }

    async fn add(&mut self, new: State) -> Result<bool, Fault> {
        let sql = "INSERT IGNORE INTO sequent_cells (k, life, open, v) VALUES (?, ?, ?, ?)";
        let value = stored("value", self.cell.key, new.value)?;
        let done =
            self.link.exec(sql, (self.cell.key.as_str(), new.life.to_stored(), new.open, value)).await?;
        Ok(done.found == 1)
    }

    async fn pause(&mut self) {
        tokio::time::sleep(PAUSE_MAX.mul_f64(self.entropy.fraction())).await;
    }
}

struct Take<'a> {
    cell: Cell<'a>,
    life: Life,
    want: u64,
    hint: Option<State>,
    entropy: &'a dyn Entropy,
}

impl Work<Link> for Take<'_> {
    type Out = (Block, State);
    const VERB: &'static str = "take from";
    const MODE: TxMode = TxMode::Single;

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<(Block, State), Fault> {
        let want = self.want.max(1);
        stored("count", self.cell.key, want)?;
        let hint = self.hint.map(|state| Seen { state, token: () });
        let mut row = Row { link, cell: self.cell, entropy: self.entropy };
        cas::take(&mut row, self.cell.key, self.life, want, hint).await
    }
}

struct Close<'a> {
    cell: Cell<'a>,
    next: Life,
    entropy: &'a dyn Entropy,
}

impl Work<Link> for Close<'_> {
    type Out = u64;
    const VERB: &'static str = "close a cell of";
    const MODE: TxMode = TxMode::Single;

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let mut row = Row { link, cell: self.cell, entropy: self.entropy };
        cas::close(&mut row, self.cell.key, self.next).await
    }
}

struct Install<'a> {
    cell: Cell<'a>,
    life: Life,
    base: u64,
    entropy: &'a dyn Entropy,
}

impl Work<Link> for Install<'_> {
    type Out = ();
    const VERB: &'static str = "install a cell of";
    const MODE: TxMode = TxMode::Single;

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<(), Fault> {
        stored("base", self.cell.key, self.base)?;
        let mut row = Row { link, cell: self.cell, entropy: self.entropy };
        cas::install(&mut row, self.cell.key, self.life, self.base).await
    }
}

struct Lift<'a> {
    cell: Cell<'a>,
    life: Life,
    floor: u64,
    entropy: &'a dyn Entropy,
}

impl Work<Link> for Lift<'_> {
    type Out = u64;
    const VERB: &'static str = "lift a cell of";
    const MODE: TxMode = TxMode::Single;

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        stored("floor", self.cell.key, self.floor)?;
        let mut row = Row { link, cell: self.cell, entropy: self.entropy };
        cas::lift(&mut row, self.cell.key, self.life, self.floor).await
    }
}
