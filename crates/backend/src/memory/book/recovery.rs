//! The way back after a loss that an operator named.

use sequent_core::{
    Incarnation,
    ledger::{Known, Loss},
};

use super::{Book, capped};

impl Book {
    /// Adds the loss to every row, sets the version above `version_floor`, and speaks as `new`, which is on record.
    pub fn recover(&mut self, loss: Loss, version_floor: u64, new: Incarnation) -> Incarnation {
        if let Loss::Bump(most) = loss {
            // Counters that began after the copy was made have no row: they may have given as much.
            self.floor = capped(self.floor, most);
            for row in self.rows.values_mut() {
                row.ceiling = capped(row.ceiling, most);
                // What was given was taken: otherwise the next open would judge the named loss a leap.
                row.seen = capped(row.seen, most);
            }
            for (value, _) in self.dense.values_mut() {
                *value = capped(*value, most);
            }
        }
        self.version = self.version.max(version_floor) + 1;
        self.known = Known { ledger: Some(new.clone()), stores: Vec::new() };
        self.incarnation = new.clone();
        new
    }
}
