//! Names of a ledger's records in etcd. Slots and versions are zero-padded, so that names sort in numerical order.

use sequent_core::{
    Key, SlotIndex,
    ledger::{Counter, NoteSubject, ServerId},
};

/// The names of all records under one prefix.
#[derive(Debug, Clone)]
pub(super) struct Names {
    prefix: String,
}

impl Names {
    pub(super) fn under(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    /// The name of a record that exists once.
    pub(super) fn only(&self, what: &str) -> String {
        format!("{}/{what}", self.prefix)
    }

    pub(super) fn servers(&self) -> String {
        format!("{}/server/", self.prefix)
    }

    pub(super) fn server(&self, server: ServerId) -> String {
        format!("{}{:016x}", self.servers(), server.0)
    }

    pub(super) fn stores(&self) -> String {
        format!("{}/store/", self.prefix)
    }

    pub(super) fn store(&self, slot: SlotIndex) -> String {
        format!("{}{slot:05}", self.stores())
    }

    pub(super) fn rows(&self) -> String {
        format!("{}/row/", self.prefix)
    }

    pub(super) fn rows_of(&self, slot: SlotIndex) -> String {
        format!("{}{slot:05}/", self.rows())
    }

    /// The key is last, so none of its characters can be taken for a separator.
    pub(super) fn row(&self, counter: &Counter) -> String {
        format!("{}{}", self.rows_of(counter.slot), counter.key)
    }

    /// The counter of a row's name.
    pub(super) fn counter(&self, name: &str) -> Option<Counter> {
        let (slot, key) = name.strip_prefix(&self.rows())?.split_once('/')?;
        Some(Counter { slot: slot.parse().ok()?, key: Key::from_stored(key) })
    }

    /// The prefix of a counter's ended epochs. It contains the key's length, which marks where the key ends.
    pub(super) fn past(&self, counter: &Counter) -> String {
        let key = counter.key.as_str();
        format!("{}/past/{:05}/{:03}/{key}/", self.prefix, counter.slot, key.len())
    }

    /// The name of an epoch that the call of this version ended; `at` counts the call's epochs.
    pub(super) fn past_epoch(&self, counter: &Counter, version: u64, at: usize) -> String {
        format!("{}{version:020}/{at:04}", self.past(counter))
    }

    pub(super) fn moves(&self) -> String {
        format!("{}/moves/", self.prefix)
    }

    pub(super) fn moves_of(&self, version: u64) -> String {
        format!("{}{version:020}", self.moves())
    }

    /// The version of a name under `moves`.
    pub(super) fn version(&self, name: &str) -> Option<u64> {
        name.strip_prefix(&self.moves())?.parse().ok()
    }

    pub(super) fn definitions(&self) -> String {
        format!("{}/definition/", self.prefix)
    }

    pub(super) fn definition(&self, name: &str) -> String {
        format!("{}{name}", self.definitions())
    }

    pub(super) fn notes(&self) -> String {
        format!("{}/advance/", self.prefix)
    }

    pub(super) fn note(&self, about: &NoteSubject) -> String {
        format!("{}{}", self.notes(), about.to_stored())
    }

    pub(super) fn words(&self) -> String {
        format!("{}/word/", self.prefix)
    }

    pub(super) fn word(&self, slot: SlotIndex) -> String {
        format!("{}{slot:05}", self.words())
    }

    pub(super) fn all_dense(&self) -> String {
        format!("{}/dense/", self.prefix)
    }

    pub(super) fn dense(&self, key: &Key) -> String {
        format!("{}{key}", self.all_dense())
    }
}

/// The slot at the end of a name.
pub(super) fn slot_of(name: &str) -> Option<SlotIndex> {
    name.rsplit_once('/')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(slot: SlotIndex, key: &str) -> Counter {
        Counter { slot, key: Key::from_stored(key) }
    }

    #[test]
    fn a_row_is_found_by_its_name_whatever_its_key_holds() {
        let names = Names::under("sequent");
        for key in ["order", "a/b", "a/00001/", "/", "\0", "磁盘|1:/"] {
            let counter = counter(7, key);
            assert_eq!(names.counter(&names.row(&counter)), Some(counter));
        }
        assert_eq!(names.counter("sequent/word/00001"), None);
    }

    #[test]
    fn no_counters_past_is_within_anothers() {
        let names = Names::under("sequent");
        let keys = ["a", "a/", "a/b", "a/00000000000000000001/0000", "b"];
        for (key, other) in keys.iter().flat_map(|key| keys.map(|other| (*key, other))) {
            let within =
                names.past_epoch(&counter(0, key), 1, 0).starts_with(&names.past(&counter(0, other)));
            assert_eq!(within, key == other, "{key} within {other}");
        }
    }
}
