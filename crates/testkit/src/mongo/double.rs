//! What a test does to the double.

use std::{fmt, sync::Arc};

use bson::{Binary, Bson, Document, oid::ObjectId, spec::BinarySubtype};

use super::{
    data::{Collection, Data, Storage},
    scram::Account,
    server::{Hung, Lack, Shared, State},
};
use crate::servers::Port;

/// Which server of a deployment it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The only one.
    Alone,
    /// The one of a replica set that takes writes.
    Primary,
    /// One of a replica set that does not.
    Secondary,
    /// A router before a sharded cluster (`mongos`).
    Router,
}

/// What about a server may be otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// Which server it is; a new primary was elected.
    Role(Role),
    /// Whether its storage keeps a journal.
    Journals(bool),
    /// Whether it knows `collectionUUID`, as 6.0 does.
    ComparesUuid(bool),
    /// Whether its user may only read.
    ReadsOnly(bool),
    /// Whether it waits in vain for the majority.
    MajorityIsAway(bool),
}

/// A double of a MongoDB server, killed when it is dropped.
pub struct MongoDouble {
    port: Port,
    shared: Arc<Shared>,
}

/// A copy of a server's data.
#[derive(Debug, Clone)]
pub struct DataCopy(Data);

impl MongoDouble {
    /// The only database.
    pub const DATABASE: &str = "seq";
    /// The user of that database, who may read and write there.
    pub const USER: &str = "seq";
    /// The user's password.
    pub const PASSWORD: &str = "word-of-a-double";

    /// Starts one, standing alone and empty.
    pub fn start() -> Self {
        let port = Port::reserve();
        let account = Account::new(Self::USER, Self::PASSWORD);
        let shared = Shared::new(State::new(account, Self::DATABASE, port.address()));
        shared.start(port.address());
        Self { port, shared }
    }

    /// Changes a setting while it runs.
    pub fn set(&self, setting: Setting) {
        let mut state = self.shared.state();
        match setting {
            Setting::Role(role) => (state.role, state.election) = (role, ObjectId::new()),
            Setting::Journals(journals) => state.set(Lack::Journal, !journals),
            Setting::ComparesUuid(compares) => state.set(Lack::ComparedUuid, !compares),
            Setting::ReadsOnly(only) => state.set(Lack::PrivilegeToWrite, only),
            Setting::MajorityIsAway(away) => state.set(Lack::Majority, away),
        }
    }

    /// Its database, for its user.
    pub fn url(&self) -> String {
        self.url_with(Self::PASSWORD)
    }

    /// Its database, for its user with this password.
    pub fn url_with(&self, password: &str) -> String {
        format!("mongodb://{}:{password}@{}/{}", Self::USER, self.port.address(), Self::DATABASE)
    }

    /// Its port of 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// Kills it: connections are cut, and what was not journaled is lost.
    pub fn kill(&self) {
        self.shared.kill(self.port.address());
    }

    /// Starts it again, on the data that it has; one that runs is killed before.
    pub fn restart(&self) {
        self.kill();
        self.shared.start(self.port.address());
    }

    /// Stops it where it is: connections stay open, and nobody answers.
    pub fn suspend(&self) {
        self.shared.hang(Hung::Whole);
    }

    /// What is asked for is done, and not answered, until it goes on.
    pub fn withhold_answers(&self) {
        self.shared.hang(Hung::Answers);
    }

    /// Lets it go on after either.
    pub fn resume(&self) {
        self.shared.hang(Hung::No);
    }

    /// A copy of its data, as it is now.
    pub fn copy(&self) -> DataCopy {
        DataCopy(self.shared.state().storage.now.clone())
    }

    /// Kills it, puts a copy in place of its data, and starts it again: as who restores the files of a server.
    pub fn restore(&self, copy: &DataCopy) {
        self.kill();
        self.shared.state().storage = Storage::of(copy.0.clone());
        self.shared.start(self.port.address());
    }

    /// Puts a copy in place of its data while it runs, in collections of new identity: as `mongorestore --drop`.
    pub fn load(&self, copy: &DataCopy) {
        let again = copy.0.iter().map(|(name, collection)| (name.clone(), collection.again()));
        self.shared.state().storage = Storage::of(again.collect());
    }

    /// Deletes the document whose `_id` are these bytes; whether there was one.
    pub fn delete(&self, collection: &str, id: &[u8]) -> bool {
        let id = Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes: id.to_vec() });
        self.on(collection, |documents| {
            let before = documents.len();
            documents.retain(|held| held.get("_id") != Some(&id));
            documents.len() < before
        })
    }

    /// Sets a field of every document of a collection.
    pub fn overwrite(&self, collection: &str, field: &str, value: &Bson) {
        self.on(collection, |documents| {
            for document in documents {
                document.insert(field, value.clone());
            }
        });
    }

    /// Deletes every document of a collection.
    pub fn empty(&self, collection: &str) {
        self.on(collection, Vec::clear);
    }

    fn on<T>(&self, collection: &str, change: impl FnOnce(&mut Vec<Document>) -> T) -> T {
        let mut state = self.shared.state();
        let name = (Self::DATABASE.to_owned(), collection.to_owned());
        let held = state.storage.now.entry(name).or_insert_with(Collection::new);
        let done = change(&mut held.documents);
        state.storage.journal();
        done
    }

    /// Drops every collection.
    pub fn drop_database(&self) {
        self.shared.state().storage = Storage::default();
    }

    /// Drops a collection.
    pub fn drop_collection(&self, collection: &str) {
        let mut state = self.shared.state();
        state.storage.now.remove(&(Self::DATABASE.to_owned(), collection.to_owned()));
        state.storage.journal();
    }

    /// The names of its collections.
    pub fn collections(&self) -> Vec<String> {
        self.shared.state().storage.now.keys().map(|(_, name)| name.clone()).collect()
    }

    /// How many connections there are, those included by which the driver watches.
    pub fn connections(&self) -> usize {
        self.shared.connections()
    }

    /// The commands that were answered since it was started last, without `hello`; of many the last ones.
    pub fn commands(&self) -> Vec<Document> {
        self.shared.kept()
    }
}

impl Drop for MongoDouble {
    fn drop(&mut self) {
        self.kill();
    }
}

impl fmt::Debug for MongoDouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MongoDouble").field("port", &self.port()).finish_non_exhaustive()
    }
}
