//! Commands on a collection. A write is acknowledged by the majority, from its journal.

use std::sync::Arc;

use mongodb::bson::{Binary, Bson, Document, doc};

use super::{fault, pinned_connection::PinnedConnection};
use crate::net::Fault;

/// Time limit of a write's acknowledgement, in milliseconds. After it, the write has been done, but may be undone.
const ACKNOWLEDGED_WITHIN_MS: i32 = 10_000;

/// The UUID of a collection. No other collection has the same, whatever its name.
pub(super) type Identity = Binary;

/// A collection on a connection, by its name, and by its UUID where the server compares that.
pub(super) struct Collection {
    pub(super) pinned: Arc<PinnedConnection>,
    pub(super) name: &'static str,
    pub(super) identity: Option<Identity>,
}

/// The write concern of every write: no crash and no election undoes it.
pub(super) fn write_concern() -> Document {
    doc! { "w": "majority", "j": true, "wtimeout": ACKNOWLEDGED_WITHIN_MS }
}

/// The documents of a command's answer. All answers here fit into the first batch.
pub(super) fn first_batch(reply: &Document) -> Result<Vec<&Document>, Fault> {
    let batch = reply.get_document("cursor").and_then(|cursor| cursor.get_array("firstBatch"));
    let batch = batch.map_err(|_| Fault::refused("the server's answer has no cursor.firstBatch"))?;
    Ok(batch.iter().filter_map(Bson::as_document).collect())
}

impl Collection {
    /// The collection of this name, whichever it is.
    pub(super) fn named(pinned: &Arc<PinnedConnection>, name: &'static str) -> Self {
        Self { pinned: Arc::clone(pinned), name, identity: None }
    }

    /// Changes the one document that the query matches; returns it afterwards.
    pub(super) async fn change(&self, query: Document, update: Document) -> Result<Option<Document>, Fault> {
        let change = doc! { "query": query, "update": update, "new": true, "writeConcern": write_concern() };
        let mut reply = self.run("findAndModify", change).await?;
        match reply.remove("value") {
            Some(Bson::Document(found)) => Ok(Some(found)),
            Some(Bson::Null) => Ok(None),
            _ => Err(Fault::refused("the server's answer to findAndModify has no value")),
        }
    }

    /// Reads a document that the query matches.
    pub(super) async fn find(&self, query: Document) -> Result<Option<Document>, Fault> {
        let reply = self.run("find", doc! { "filter": query, "limit": 1, "singleBatch": true }).await?;
        Ok(first_batch(&reply)?.first().map(|found| (*found).clone()))
    }

    /// Inserts one document; `DUPLICATE_KEY` if one with its `_id` exists.
    pub(super) async fn insert(&self, one: Document) -> Result<(), Fault> {
        let insert = doc! { "documents": [one], "writeConcern": write_concern() };
        let reply = self.run("insert", insert).await?;
        let errors = reply.get_array("writeErrors").map(Vec::as_slice).unwrap_or_default();
        match errors.first().and_then(Bson::as_document) {
            None if reply.get_i32("n").is_ok_and(|count| count == 1) => Ok(()),
            None => Err(Fault::refused("an insert was answered, and inserted nothing")),
            Some(error) => Err(fault::of_document(error)),
        }
    }

    /// Runs a command on the collection.
    pub(super) async fn run(&self, name: &str, arguments: Document) -> Result<Document, Fault> {
        let mut command = doc! { name: self.name };
        command.extend(self.identity.clone().map(|identity| ("collectionUUID".to_owned(), identity.into())));
        command.extend(arguments);
        self.pinned.run(command).await
    }
}
