//! The page of the layout.

use sequent_core::{
    Life, SourceError,
    ledger::{Counter, LayoutPage, LayoutRecord, PastLife, Rebased, Row, other_page},
};

use super::Book;

impl Book {
    /// The layout in force, or `None` for a new ledger; refused while a change is fenced.
    pub fn layout(&self) -> Result<Option<LayoutRecord>, SourceError> {
        self.layout.as_ref().map(LayoutPage::record).transpose()
    }

    /// The page as it is.
    pub const fn page(&self) -> Option<&LayoutPage> {
        self.layout.as_ref()
    }

    /// Writes the first layout if there is none; returns what is held.
    pub fn found(&mut self, first: &LayoutRecord) -> Result<LayoutRecord, SourceError> {
        self.layout.get_or_insert_with(|| LayoutPage::of(first)).record()
    }

    /// Replaces the page if it is `held`.
    pub fn turn(&mut self, held: &LayoutPage, new: &LayoutPage) -> Result<u64, SourceError> {
        self.holds(held)?;
        if let Some(change) = held.settles(new) {
            self.floor = self.floor.max(change.turned(self.floor));
            self.known.stores.clear();
        }
        self.layout = Some(new.clone());
        self.version += 1;
        Ok(self.version)
    }

    /// Replaces the rows of each key by one for each slot named.
    pub fn rebase(&mut self, held: &LayoutPage, keys: &[Rebased], now_ms: u64) -> Result<u64, SourceError> {
        self.holds(held)?;
        let Some(change) = held.change().filter(|_| held.is_fenced) else {
            return Err(other_page(self.layout.as_ref(), held));
        };
        for Rebased { key, bases } in keys {
            let before: Vec<Counter> =
                self.rows.keys().filter(|counter| counter.key == *key).cloned().collect();
            for counter in before {
                if let Some(Row { life, base, ceiling, .. }) = self.rows.remove(&counter) {
                    self.forget_move(&counter);
                    self.history.entry(counter).or_default().push(PastLife { life, base, ceiling });
                }
            }
            for &(slot, base) in bases {
                let row = Row {
                    life: Life::of_epoch(change.next.epoch),
                    store: change.marker(),
                    ledger: self.incarnation.clone(),
                    base,
                    ceiling: base,
                    seen: base,
                    opened_at_ms: now_ms,
                };
                let counter = Counter { slot, key: key.clone() };
                self.note_move(&counter);
                self.rows.insert(counter, row);
            }
        }
        self.version += 1;
        Ok(self.version)
    }

    fn holds(&self, held: &LayoutPage) -> Result<(), SourceError> {
        if self.layout.as_ref() == Some(held) { Ok(()) } else { Err(other_page(self.layout.as_ref(), held)) }
    }
}
