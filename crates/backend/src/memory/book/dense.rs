//! Dense counters: what each has given.

use sequent_core::{
    SourceError,
    ledger::{Answer, DenseAsk, DenseRow, DenseTaken, Pass},
};

use super::Book;

impl Book {
    /// Answers asks in their order; the version goes up where anything was given.
    pub fn count(
        &mut self,
        pass: &Pass<'_>,
        asks: &[DenseAsk],
        now_ms: u64,
    ) -> Result<Answer<Vec<DenseTaken>>, SourceError> {
        self.admit(pass, true, now_ms)?;
        let value: Vec<DenseTaken> = asks.iter().map(|ask| self.count_one(ask, now_ms)).collect();
        let gave = value.iter().any(|taken| matches!(taken, DenseTaken::Last(_)));
        self.version += u64::from(gave);
        Ok(Answer { value, version: self.version })
    }

    fn count_one(&mut self, ask: &DenseAsk, now_ms: u64) -> DenseTaken {
        let row = self.dense.get(&ask.key).copied();
        if row.is_none() && self.is_over(&ask.key) {
            return DenseTaken::Over;
        }
        let (held, begun_ms) = row.unwrap_or((self.floor, now_ms));
        let taken = ask.of(held);
        if let DenseTaken::Last(last) = taken {
            self.dense.insert(ask.key.clone(), (last, begun_ms));
        }
        taken
    }

    /// Sets what a counter has given, as a hand in the data would. Whether there is such a counter.
    pub(crate) fn set_dense(&mut self, key: &sequent_core::Key, value: u64) -> bool {
        self.dense.get_mut(key).map(|held| held.0 = value).is_some()
    }

    /// The dense counters whose key is `under`, or `under` and more parts, or all of them; at most `most`, ascending.
    pub fn dense(&self, under: Option<&str>, most: usize) -> Vec<DenseRow> {
        let is_under = |key: &sequent_core::Key, under: &str| {
            key.as_str().strip_prefix(under).is_some_and(|rest| rest.is_empty() || rest.starts_with('|'))
        };
        let asked = self.dense.iter().filter(|(key, _)| under.is_none_or(|under| is_under(key, under)));
        let row = |(key, (value, begun_at_ms)): (&sequent_core::Key, &(u64, u64))| DenseRow {
            key: key.clone(),
            value: *value,
            begun_at_ms: *begun_at_ms,
        };
        asked.take(most).map(row).collect()
    }
}
