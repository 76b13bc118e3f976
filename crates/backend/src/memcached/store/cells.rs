//! The four verbs on cells: those of `cas`, on an item.

use sequent_core::{Block, Cell, Incarnation, Life};

use super::{fits, identity};
use crate::{
    cas,
    memcached::{item::CellItem, link::Link, name::Name},
    wire::{Fault, Owner, Work},
};

fn item<'a>(link: &'a mut Link, owner: &Owner, cell: &Cell<'_>) -> CellItem<'a> {
    CellItem { link, name: Name::of_cell(owner, cell.key), added: false }
}

pub(super) struct Take<'a> {
    pub(super) owner: &'a Owner,
    pub(super) cell: Cell<'a>,
    pub(super) life: Life,
    pub(super) want: u64,
}

impl Work<Link> for Take<'_> {
    type Out = Block;
    const VERB: &'static str = "take from";

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<Block, Fault> {
        let want = fits("count", self.cell.key, self.want.max(1))?;
        let mut item = item(link, self.owner, &self.cell);
        cas::take(&mut item, self.cell.key, self.life, want, None).await.map(|(block, _)| block)
    }
}

pub(super) struct Close<'a> {
    pub(super) owner: &'a Owner,
    pub(super) cell: Cell<'a>,
    pub(super) next: Life,
}

impl Work<Link> for Close<'_> {
    type Out = u64;
    const VERB: &'static str = "close a cell of";

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let mut item = item(link, self.owner, &self.cell);
        let value = cas::close(&mut item, self.cell.key, self.next).await?;
        let (added, name) = (item.added, item.name);
        if added {
            identity::note_cell(link, &name).await?;
        }
        Ok(value)
    }
}

pub(super) struct Install<'a> {
    pub(super) owner: &'a Owner,
    pub(super) cell: Cell<'a>,
    pub(super) life: Life,
    pub(super) base: u64,
}

impl Work<Link> for Install<'_> {
    type Out = ();
    const VERB: &'static str = "install a cell of";

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<(), Fault> {
        let base = fits("base", self.cell.key, self.base)?;
        cas::install(&mut item(link, self.owner, &self.cell), self.cell.key, self.life, base).await
    }
}

pub(super) struct Lift<'a> {
    pub(super) owner: &'a Owner,
    pub(super) cell: Cell<'a>,
    pub(super) life: Life,
    pub(super) floor: u64,
}

impl Work<Link> for Lift<'_> {
    type Out = u64;
    const VERB: &'static str = "lift a cell of";

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let floor = fits("floor", self.cell.key, self.floor)?;
        cas::lift(&mut item(link, self.owner, &self.cell), self.cell.key, self.life, floor).await
    }
}
