//! What operators said: the latest word about a slot counts, while it lasts.

use sequent_core::ledger::Word;

use super::Book;

impl Book {
    /// The latest word about each slot, ascending by slot, expired ones left out.
    pub fn words(&self, now_ms: u64) -> Vec<Word> {
        let in_force = |word: &&Word| word.until_ms.is_none_or(|until_ms| now_ms < until_ms);
        self.words.values().filter(in_force).cloned().collect()
    }

    /// Replaces the word about a slot; returns it as written.
    pub fn say(&mut self, word: &Word, now_ms: u64) -> Word {
        let said = Word { at_ms: now_ms, ..word.clone() };
        self.words.insert(said.slot, said.clone());
        said
    }
}
