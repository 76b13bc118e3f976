//! Who speaks, who calls, and what is on record.

use sequent_core::{
    ErrorKind, Incarnation, Rule, SlotIndex, SourceError,
    ledger::{Known, Pass, ServerId, apart},
};

use super::{Book, Seat};
use crate::memory::reborn_unless;

/// How long the row of a server that no longer calls is kept: a day.
const SEAT_KEPT_MS: u64 = 24 * 60 * 60 * 1000;

impl Book {
    /// Writes a server's row with its first nonce.
    pub fn enlist(
        &mut self,
        under: &Incarnation,
        server: ServerId,
        nonce: u64,
        now_ms: u64,
    ) -> Result<(), SourceError> {
        reborn_unless(&self.incarnation, under)?;
        self.servers.retain(|_, seat| now_ms.saturating_sub(seat.seen_ms) < SEAT_KEPT_MS);
        self.servers.insert(server, Seat { nonce, seen_ms: now_ms });
        Ok(())
    }

    /// Speaks as `new` from now on, if it still speaks as `was`; returns the incarnation in force.
    pub fn rebear(&mut self, was: &Incarnation, new: Incarnation) -> Incarnation {
        if self.incarnation == *was {
            self.incarnation = new;
        }
        self.incarnation.clone()
    }

    /// The incarnations on record.
    pub const fn known(&self) -> &Known {
        &self.known
    }

    /// Records the ledger's own incarnation, or a store's, as accepted.
    pub fn record(
        &mut self,
        under: &Incarnation,
        slot: Option<SlotIndex>,
        incarnation: &Incarnation,
    ) -> Result<(), SourceError> {
        reborn_unless(&self.incarnation, under)?;
        let Some(slot) = slot else {
            if self.known.ledger.as_ref().is_some_and(|known| known != incarnation) {
                self.version = self.version.saturating_add(apart(incarnation));
            }
            self.known.ledger = Some(incarnation.clone());
            return Ok(());
        };
        self.known.stores.retain(|(known, _)| *known != slot);
        self.known.stores.push((slot, incarnation.clone()));
        self.known.stores.sort_unstable_by_key(|(slot, _)| *slot);
        Ok(())
    }

    /// Checks a pass as `sequent_core::ledger` says, and leaves its next nonce. Without `fenced` (a mutation) only the
    /// epoch is checked.
    pub(super) fn admit(&mut self, pass: &Pass<'_>, fenced: bool, now_ms: u64) -> Result<(), SourceError> {
        if fenced {
            reborn_unless(&self.incarnation, pass.under)?;
            self.check_nonce(pass)?;
        }
        let epoch = self.layout.as_ref().map(|record| record.epoch);
        if epoch != Some(pass.epoch) {
            let found = epoch.map_or("none".to_owned(), |epoch| epoch.to_string());
            let context = format!("layout epoch: found {found}, expected {}", pass.epoch);
            return Err(SourceError::new(ErrorKind::Refused, context));
        }
        if self.rules.keep(Rule::RecordCompared) {
            pass.check_record(self.known.ledger.as_ref().map(Incarnation::as_str))?;
        }
        self.servers.insert(pass.server, Seat { nonce: pass.next, seen_ms: now_ms });
        Ok(())
    }

    fn check_nonce(&self, pass: &Pass<'_>) -> Result<(), SourceError> {
        match self.servers.get(&pass.server) {
            Some(seat) if pass.nonces.contains(&seat.nonce) => Ok(()),
            found => {
                let found = if found.is_some() { "an older nonce" } else { "no row" };
                let context = format!("server {:?}: found {found}, so the ledger went back", pass.server);
                Err(SourceError::new(ErrorKind::Reborn, context))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sequent_core::{LedgerId, Rules};

    use super::*;
    use crate::memory::Book;

    #[test]
    fn rows_of_servers_go_after_a_day_and_not_before() {
        let speaks = Incarnation::new("run 1");
        let id: LedgerId = "ab".parse().unwrap();
        let mut book = Book::new(id, speaks.clone(), Rules::ALL);
        book.enlist(&speaks, ServerId(1), 1, 0).unwrap();
        book.enlist(&speaks, ServerId(2), 1, SEAT_KEPT_MS - 1).unwrap();
        assert_eq!(book.servers.len(), 2);
        book.enlist(&speaks, ServerId(3), 1, SEAT_KEPT_MS).unwrap();
        assert_eq!(book.servers.keys().map(|server| server.0).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn a_clock_that_steps_back_forgets_nobody() {
        let speaks = Incarnation::new("run 1");
        let mut book = Book::new("ab".parse().unwrap(), speaks.clone(), Rules::ALL);
        book.enlist(&speaks, ServerId(1), 1, u64::MAX).unwrap();
        book.enlist(&speaks, ServerId(2), 1, 0).unwrap();
        assert_eq!(book.servers.len(), 2);
    }
}
