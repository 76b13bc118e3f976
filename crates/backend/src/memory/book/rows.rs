//! Rows: for each counter its life, its base and its ceiling.

use sequent_core::{
    Incarnation, Key, Rule, SourceError,
    ledger::{Answer, Counter, Moved, Opened, Opening, Pass, PastLife, Presence, Raise, Raised, Row},
};

use super::{Book, capped};
use crate::memory::reborn_unless;

impl Book {
    /// The row of each counter, in the order of the asks.
    pub fn read(&self, under: &Incarnation, counters: &[Counter]) -> Result<Vec<Option<Row>>, SourceError> {
        reborn_unless(&self.incarnation, under)?;
        Ok(counters.iter().map(|counter| self.row(counter).cloned()).collect())
    }

    /// The row of a counter.
    pub fn row(&self, counter: &Counter) -> Option<&Row> {
        self.rows.get(counter)
    }

    /// Sets a row's ceiling as a hand in the data would, so that no call has moved it. Whether there is such a row.
    pub fn set_ceiling(&mut self, counter: &Counter, ceiling: u64) -> bool {
        self.rows.get_mut(counter).map(|row| row.ceiling = ceiling).is_some()
    }

    /// Sets a row's `seen` as a hand in the data would, so that no call has moved it. Whether there is such a row.
    pub fn set_seen(&mut self, counter: &Counter, seen: u64) -> bool {
        self.rows.get_mut(counter).map(|row| row.seen = seen).is_some()
    }

    /// Deletes a row as a hand in the data would. Whether there was one.
    pub fn delete_row(&mut self, counter: &Counter) -> bool {
        self.forget_move(counter);
        self.rows.remove(counter).is_some()
    }

    /// Sets a row's `base` as a hand in the data would, so that no call has moved it. Whether there is such a row.
    pub fn set_base(&mut self, counter: &Counter, base: u64) -> bool {
        self.rows.get_mut(counter).map(|row| row.base = base).is_some()
    }

    /// The rows that calls have moved since the version `since`, by version, at most `most`.
    pub fn moved(&self, under: &Incarnation, since: u64, most: usize) -> Result<Vec<Moved>, SourceError> {
        reborn_unless(&self.incarnation, under)?;
        // From the first that any counter of the next version could have: not past all that ever moved.
        let first = Counter { slot: 0, key: Key::from_stored("") };
        let later = self.moves.range((since.saturating_add(1), first)..).take(most);
        let moved = later.filter_map(|(version, counter)| {
            let Row { life, seen, .. } = *self.rows.get(counter)?;
            Some(Moved { counter: counter.clone(), life, seen, version: *version })
        });
        Ok(moved.collect())
    }

    /// The call that is under way, which will have the next version, has moved the row.
    pub(super) fn note_move(&mut self, counter: &Counter) {
        let version = self.version + 1;
        if let Some(before) = self.moved.insert(counter.clone(), version) {
            self.moves.remove(&(before, counter.clone()));
        }
        self.moves.insert((version, counter.clone()));
    }

    /// The row is gone.
    pub(super) fn forget_move(&mut self, counter: &Counter) {
        if let Some(version) = self.moved.remove(counter) {
            self.moves.remove(&(version, counter.clone()));
        }
    }

    /// The ceilings that an open would find. Only a ledger without [`Rule::OpenAtomic`] reads them in a step of their own.
    pub fn ceilings(&self, openings: &[Opening]) -> Vec<u64> {
        openings
            .iter()
            .map(|opening| self.row(&opening.counter).map_or(self.floor, |row| row.ceiling))
            .collect()
    }

    /// Opens new lives. `read`: the ceilings of a step before; `None`, as it should be, for those of this step.
    pub fn open(
        &mut self,
        pass: &Pass<'_>,
        openings: &[Opening],
        read: Option<&[u64]>,
        now_ms: u64,
    ) -> Result<Answer<Vec<Opened>>, SourceError> {
        self.admit(pass, true, now_ms)?;
        let value: Vec<Opened> = openings
            .iter()
            .enumerate()
            .map(|(at, opening)| self.open_one(opening, read.and_then(|read| read.get(at)).copied(), now_ms))
            .collect();
        self.version += u64::from(value.iter().any(|opened| matches!(opened, Opened::Row(_))));
        Ok(Answer { value, version: self.version })
    }

    fn open_one(&mut self, opening: &Opening, read: Option<u64>, now_ms: u64) -> Opened {
        let old = self.rows.get(&opening.counter);
        if let Some(row) = old.filter(|row| opening.yields_to(row)) {
            return Opened::Known(row.clone());
        }
        if !opening.over.is(old) {
            return Opened::Overtaken;
        }
        let ceiling = read.unwrap_or_else(|| old.map_or(self.floor, |row| row.ceiling));
        let found = if self.rules.keep(Rule::OpenCountsValue) { ceiling.max(opening.value) } else { ceiling };
        let known = old.map_or(self.floor, Row::reached);
        let bound = capped(capped(known, opening.ahead), opening.leap_max);
        if found > bound {
            return Opened::Leapt { found, bound };
        }
        let base = opening.abreast(found, known, old);
        let raced = if read.is_some() { old.map_or(0, |row| row.ceiling) } else { 0 };
        let row = Row {
            life: opening.life,
            store: opening.store.clone(),
            ledger: self.incarnation.clone(),
            base,
            ceiling: capped(base, opening.ahead).max(raced),
            seen: base,
            opened_at_ms: now_ms,
        };
        self.note_move(&opening.counter);
        if let Some(old) = self.rows.insert(opening.counter.clone(), row.clone()) {
            self.history.entry(opening.counter.clone()).or_default().extend(old.ended());
        }
        Opened::Row(row)
    }

    /// Raises ceilings, each only where the row still holds the life.
    pub fn raise(
        &mut self,
        pass: &Pass<'_>,
        raises: &[Raise],
        now_ms: u64,
    ) -> Result<Answer<Vec<Raised>>, SourceError> {
        self.admit(pass, self.rules.keep(Rule::SameLedger), now_ms)?;
        let mut moved_any = false;
        let value = raises.iter().map(|raise| self.raise_one(raise, &mut moved_any)).collect();
        self.version += u64::from(moved_any);
        Ok(Answer { value, version: self.version })
    }

    fn raise_one(&mut self, raise: &Raise, moved_any: &mut bool) -> Raised {
        let rules = self.rules;
        let Some(row) = self.rows.get_mut(&raise.counter) else {
            return Raised::Ended { begun_at: None };
        };
        if row.life != raise.life && rules.keep(Rule::RaiseNeedsLife) {
            return Raised::Ended { begun_at: Some(row.base) };
        }
        if raise.seen > capped(row.ceiling, raise.leap_max) {
            return Raised::Leapt { ceiling: row.ceiling };
        }
        let asked = capped(raise.ceiling, 0);
        let lowered = !rules.keep(Rule::LedgerForward) && asked > 0;
        let seen = row.seen.max(raise.seen);
        let ceiling = if lowered { asked } else { row.ceiling.max(asked).max(seen) };
        let moved = (ceiling, seen) != (row.ceiling, row.seen);
        (row.ceiling, row.seen) = (ceiling, seen);
        if moved {
            *moved_any = true;
            self.note_move(&raise.counter);
        }
        Raised::Held { ceiling, seen }
    }

    /// Raises and reports in one step; returns what others said meanwhile.
    pub fn show_up(
        &mut self,
        pass: &Pass<'_>,
        raises: &[Raise],
        now_ms: u64,
    ) -> Result<Answer<Presence>, SourceError> {
        let answer = self.raise(pass, raises, now_ms)?;
        let value = Presence {
            raised: answer.value,
            words: self.words(now_ms),
            catalog_version: self.catalog_version,
            clock_ms: now_ms,
        };
        Ok(Answer { value, version: answer.version })
    }

    /// The rows of a sequence's keys, or of all, at most `most`, ascending.
    pub fn list(&self, sequence: Option<&str>, most: usize) -> Vec<(Counter, Row)> {
        let asked = |counter: &Counter| sequence.is_none_or(|name| counter.key.sequence() == name);
        let rows = self.rows.iter().filter(|(counter, _)| asked(counter)).take(most);
        rows.map(|(counter, row)| (counter.clone(), row.clone())).collect()
    }

    /// The ended lives of a counter, oldest first.
    pub fn history(&self, counter: &Counter) -> Vec<PastLife> {
        self.history.get(counter).cloned().unwrap_or_default()
    }
}
