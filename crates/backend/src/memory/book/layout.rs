//! The layout in force.

use sequent_core::ledger::LayoutRecord;

use super::Book;

impl Book {
    /// The layout, or `None` for a new ledger.
    pub const fn layout(&self) -> Option<&LayoutRecord> {
        self.layout.as_ref()
    }

    /// Writes the first layout if there is none; returns what is held.
    pub fn found(&mut self, first: &LayoutRecord) -> LayoutRecord {
        self.layout.get_or_insert_with(|| first.clone()).clone()
    }
}
