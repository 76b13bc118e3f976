//! Memcached items under compare and swap: a key's cell, and the shard's own item.

use sequent_core::{Block, Epoch};

use super::{
    codec::{Found, When},
    connection::Connection,
};
use crate::{
    net::Fault,
    store::{CellState, cas::won},
};

/// A cell as an item holds it: `epoch open value`.
pub(super) fn cell_data(CellState { epoch, open, value }: CellState) -> String {
    format!("{} {} {value}", epoch.to_stored(), u8::from(open))
}

/// The state of a cell. Data written by others that is no cell counts as closed at 0. Its epoch is none of ours, so
/// only a close changes it.
pub(super) fn cell_state(data: &[u8]) -> CellState {
    parsed(data).unwrap_or(CellState { epoch: Epoch::from_stored(0), open: false, value: 0 })
}

/// Parses a cell, if the data is one.
pub(super) fn parsed(data: &[u8]) -> Option<CellState> {
    let mut words = std::str::from_utf8(data).ok()?.split(' ');
    let epoch = Epoch::from_stored(words.next()?.parse().ok()?);
    let open = match words.next()? {
        "0" => false,
        "1" => true,
        _ => return None,
    };
    let value = words.next()?.parse().ok().filter(|value| *value <= Block::NUMBER_MAX)?;
    words.next().is_none().then_some(CellState { epoch, open, value })
}

/// The shard's own item, one line each: its token, its stamp, its mark, and the name of one cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ShardItem {
    /// The token, written by the first client. If it is missing, any other item may be missing too.
    pub(super) born: String,
    /// Empty before the first stamp.
    pub(super) stamp: String,
    pub(super) mark: u64,
    /// Empty before the first cell.
    pub(super) cell: String,
}

impl ShardItem {
    /// Reads the item of the data on which the connection was opened, with the condition to replace exactly that
    /// version.
    pub(super) async fn read(connection: &mut Connection) -> Result<(Self, When), Fault> {
        let found = connection.wire.get(&connection.shard).await?;
        let version = found.as_ref().map(|found| When::Is(found.version));
        let item = Self::of(found.as_ref())?;
        match version {
            Some(when) if item.born == connection.token => Ok((item, when)),
            _ => Err(flushed()),
        }
    }

    /// Replaces the item, unless another client was faster. Then nothing was done, and the call is repeated.
    pub(super) async fn write(&self, connection: &mut Connection, when: When) -> Result<(), Fault> {
        let is_won = connection.wire.set(&connection.shard, self.text().as_bytes(), when).await?;
        won("the shard's own item", is_won)
    }

    /// Parses the item; without one, the default.
    pub(super) fn of(found: Option<&Found>) -> Result<Self, Fault> {
        let Some(found) = found else { return Ok(Self::default()) };
        Self::parse(&String::from_utf8_lossy(&found.data)).ok_or_else(|| {
            Fault::refused(
                "the shard's own item holds what no verb has left there: delete it, or give it back",
            )
        })
    }

    pub(super) fn text(&self) -> String {
        let Self { born, stamp, mark, cell } = self;
        format!("{born}\n{stamp}\n{mark}\n{cell}")
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.split('\n').map(str::to_owned);
        let (born, stamp, mark, cell) = (lines.next()?, lines.next()?, lines.next()?, lines.next()?);
        let mark = mark.parse().ok()?;
        lines.next().is_none().then_some(Self { born, stamp, mark, cell })
    }
}

/// The token is missing: the server was flushed, or the item was evicted.
pub(super) fn flushed() -> Fault {
    Fault::stale("the server lost the shard's own item")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_cell_is_of_no_epoch_and_closed() {
        let sound = CellState { epoch: Epoch::from_stored(-7), open: true, value: Block::NUMBER_MAX };
        assert_eq!(cell_state(cell_data(sound).as_bytes()), sound);
        for odd in ["", "5", "-7 1", "-7 1 -3", "-7 1 9223372036854775808", "-7 2 3", "-7 1 3 4", "-7 1 3 "] {
            let found = cell_state(odd.as_bytes());
            assert_eq!((found.epoch, found.open, found.value), (Epoch::from_stored(0), false, 0), "{odd:?}");
        }
    }

    #[test]
    fn a_shards_item_is_read_as_it_was_written() {
        let [born, stamp, cell] = ["t", "sequent/1 a b", "x/y"].map(str::to_owned);
        let item = ShardItem { born, stamp, mark: 7, cell };
        assert_eq!(ShardItem::parse(&item.text()), Some(item));
        assert_eq!(ShardItem::parse(&ShardItem::default().text()), Some(ShardItem::default()));
        assert_eq!((ShardItem::parse("x"), ShardItem::parse("t\na\nb\nc")), (None, None));
    }
}
