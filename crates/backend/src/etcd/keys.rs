//! Names of a ledger's records in etcd. Slots and versions are zero-padded, so that names sort in numerical order.

use sequent_core::{
    Key, SlotIndex,
    ledger::{Counter, ServerId},
};

/// The names of all records under one prefix.
#[derive(Debug, Clone)]
pub(super) struct Names {
    prefix: String,
}

/// What a name stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Named<'a> {
    /// The row of a counter.
    Row(Counter),
    /// A dense counter.
    Dense(Key),
    /// An ended epoch.
    Past,
    /// A server's row.
    Server,
    /// The rows that a version changed.
    Moves(u64),
    /// A document.
    Document(&'a str),
}

impl Names {
    pub(super) fn under(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    /// The name of a document, or of another record that exists once.
    pub(super) fn only(&self, what: &str) -> String {
        format!("{}/{what}", self.prefix)
    }

    pub(super) fn servers(&self) -> String {
        format!("{}/server/", self.prefix)
    }

    pub(super) fn server(&self, server: ServerId) -> String {
        format!("{}{:016x}", self.servers(), server.0)
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

    pub(super) fn all_dense(&self) -> String {
        format!("{}/dense/", self.prefix)
    }

    pub(super) fn dense(&self, key: &Key) -> String {
        format!("{}{key}", self.all_dense())
    }

    /// What a name stands for; `None` for a name that this version never writes.
    pub(super) fn parsed<'a>(&self, name: &'a str) -> Option<Named<'a>> {
        let name = name.strip_prefix(&self.prefix)?.strip_prefix('/')?;
        let (folder, rest) = name.split_once('/').unwrap_or((name, ""));
        Some(match folder {
            "row" => {
                let (slot, key) = rest.split_once('/')?;
                Named::Row(Counter { slot: slot.parse().ok()?, key: Key::from_stored(key) })
            }
            "dense" => Named::Dense(Key::from_stored(rest)),
            "past" => Named::Past,
            "server" => Named::Server,
            "moves" => Named::Moves(rest.parse().ok()?),
            _ => Named::Document(name),
        })
    }
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
            assert_eq!(names.parsed(&names.row(&counter)), Some(Named::Row(counter)));
        }
        assert_eq!(names.parsed("sequent/command/00001"), Some(Named::Document("command/00001")));
        assert_eq!(names.parsed("sequent/row/x"), None);
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
