//! Items that are read, compared and swapped: a key's cell, and the shard's own.

use std::time::Duration;

use sequent_core::{Block, Entropy, Life, SourceError};

use super::{codec::When, link::Link, name::Name};
use crate::{
    cas::{Register, Seen, State},
    wire::Fault,
};

/// The longest pause after a lost race; the real one is random up to this, so that equals do not meet again.
const PAUSE_MAX: Duration = Duration::from_millis(2);

/// Waits a moment after a lost race.
pub(super) async fn pause(entropy: &dyn Entropy) {
    tokio::time::sleep(PAUSE_MAX.mul_f64(entropy.fraction())).await;
}

/// A key's cell: `life open value`.
pub(super) struct CellItem<'a> {
    pub(super) link: &'a mut Link,
    pub(super) name: Name,
    /// Whether a cell was written where none was.
    pub(super) added: bool,
}

impl Register for CellItem<'_> {
    type Token = u64;
    type Fault = Fault;

    async fn read(&mut self) -> Result<Option<Seen<u64>>, Fault> {
        let found = self.link.wire().get(&self.name).await?;
        Ok(found.map(|found| Seen { state: state(&found.data), token: found.version }))
    }

    async fn swap(&mut self, seen: &Seen<u64>, new: State) -> Result<bool, Fault> {
        self.link.wire().set(&self.name, data(new).as_bytes(), When::Is(seen.token)).await
    }

    async fn add(&mut self, new: State) -> Result<bool, Fault> {
        self.added = self.link.wire().set(&self.name, data(new).as_bytes(), When::Absent).await?;
        Ok(self.added)
    }

    async fn pause(&mut self) {
        pause(self.link.entropy()).await;
    }
}

fn data(State { life, open, value }: State) -> String {
    format!("{} {} {value}", life.to_stored(), u8::from(open))
}

/// What somebody put there that is no cell counts as a closed one at 0: of no life of ours, so that only a close changes it.
fn state(data: &[u8]) -> State {
    let read = || {
        let mut words = std::str::from_utf8(data).ok()?.split(' ');
        let life = Life::from_stored(words.next()?.parse().ok()?);
        let open = match words.next()? {
            "0" => false,
            "1" => true,
            _ => return None,
        };
        let value = words.next()?.parse().ok().filter(|value| *value <= Block::NUMBER_MAX)?;
        words.next().is_none().then_some(State { life, open, value })
    };
    read().unwrap_or(State { life: Life::from_stored(0), open: false, value: 0 })
}

/// The shard's own item, one line each: its stamp, its mark, and the name of a cell that it holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ShardItem {
    pub(super) stamp: String,
    pub(super) mark: u64,
    /// Nothing before there was one.
    pub(super) cell: String,
}

impl ShardItem {
    /// The item, and what it takes to replace just that.
    pub(super) async fn read(link: &mut Link, name: &Name) -> Result<(Self, When), Fault> {
        let Some(found) = link.wire().get(name).await? else { return Ok((Self::default(), When::Absent)) };
        let text = String::from_utf8_lossy(&found.data).into_owned();
        let item = Self::parse(&text).ok_or_else(|| {
            let cause = "the shard's own item holds what no verb has left there: delete it, or give it back";
            Fault::Answer(SourceError::new(sequent_core::ErrorKind::Refused, cause))
        })?;
        Ok((item, When::Is(found.version)))
    }

    /// Replaces it; whether nobody was faster.
    pub(super) async fn write(&self, link: &mut Link, name: &Name, when: When) -> Result<bool, Fault> {
        link.wire().set(name, self.text().as_bytes(), when).await
    }

    fn text(&self) -> String {
        let Self { stamp, mark, cell } = self;
        format!("{stamp}\n{mark}\n{cell}")
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.split('\n');
        let (stamp, mark, cell) = (lines.next()?, lines.next()?, lines.next()?);
        let (mark, stamp, cell) = (mark.parse().ok()?, stamp.to_owned(), cell.to_owned());
        lines.next().is_none().then_some(Self { stamp, mark, cell })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_cell_is_of_no_life_and_closed() {
        let sound = State { life: Life::from_stored(-7), open: true, value: Block::NUMBER_MAX };
        assert_eq!(state(data(sound).as_bytes()), sound);
        for odd in ["", "5", "-7 1", "-7 1 -3", "-7 1 9223372036854775808", "-7 2 3", "-7 1 3 4", "-7 1 3 "] {
            let found = state(odd.as_bytes());
            assert_eq!((found.life, found.open, found.value), (Life::from_stored(0), false, 0), "{odd:?}");
        }
    }

    #[test]
    fn a_shards_item_is_read_as_it_was_written() {
        let item = ShardItem { stamp: "sequent/1 a b".to_owned(), mark: 7, cell: "x/y".to_owned() };
        assert_eq!(ShardItem::parse(&item.text()), Some(item));
        assert_eq!(ShardItem::parse(&ShardItem::default().text()), Some(ShardItem::default()));
        assert_eq!((ShardItem::parse("x"), ShardItem::parse("a\nb\nc")), (None, None));
    }
}
