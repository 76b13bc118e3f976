//! Collections in memory, and what of them is in the journal.

use std::collections::BTreeMap;

use bson::{Binary, Document, Uuid};

/// Everything that a server holds, by database and collection.
pub(super) type Data = BTreeMap<(String, String), Collection>;

/// A collection.
#[derive(Debug, Clone)]
pub(super) struct Collection {
    pub(super) uuid: Binary,
    pub(super) documents: Vec<Document>,
}

impl Collection {
    pub(super) fn new() -> Self {
        Self { uuid: Uuid::new().into(), documents: Vec::new() }
    }

    /// The same documents in another collection, as `mongorestore` makes it.
    pub(super) fn again(&self) -> Self {
        Self { documents: self.documents.clone(), ..Self::new() }
    }
}

/// A server's data: as it is, and as it will be found after a kill.
#[derive(Debug, Clone, Default)]
pub(super) struct Storage {
    pub(super) now: Data,
    journaled: Data,
}

impl Storage {
    pub(super) fn of(data: Data) -> Self {
        Self { journaled: data.clone(), now: data }
    }

    /// Brings everything to the disk.
    pub(super) fn journal(&mut self) {
        self.journaled = self.now.clone();
    }

    /// What was not brought there is lost.
    pub(super) fn crash(&mut self) {
        self.now = self.journaled.clone();
    }
}
