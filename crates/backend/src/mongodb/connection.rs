//! MongoDB connection of one store, with the instance read when it was opened.

use std::sync::Arc;

use mongodb::bson::{Bson, Document, doc};
use sequent_core::InstanceId;

use super::{
    collection::{Collection, Identity},
    hello::Hello,
    pinned_connection::PinnedConnection,
    schema::{self, CELLS, SHARD},
};
use crate::net::{self, Fault, Purpose, ServerOptions, hex};

/// An open connection.
pub(crate) struct Connection {
    pinned: Arc<PinnedConnection>,
    /// One document per key.
    pub(super) cells: Collection,
    /// The shard's own document.
    pub(super) shard: Collection,
    /// The UUID of the collection of cells.
    identity: Identity,
    instance: InstanceId,
}

impl net::Connection for Connection {
    fn instance(&self) -> &InstanceId {
        &self.instance
    }

    async fn ping(&mut self) -> Result<(), Fault> {
        self.pinned.run(doc! { "ping": 1 }).await.map(drop)
    }
}

impl Connection {
    /// Connects, creates missing collections if allowed, and reads the instance.
    pub(super) async fn open(options: &ServerOptions, purpose: Purpose) -> Result<Self, Fault> {
        let pinned = Arc::new(PinnedConnection::new(options).await?);
        let hello = Hello::read(&pinned.first(doc! { "hello": 1 }).await?)?;
        let identity = schema::settle(&pinned, options, purpose).await?;
        let cells = compared(&pinned, &identity).await?;
        let instance = InstanceId::new(format!("mongodb {} {}", hello.process, hex(&identity.bytes)));
        let shard = Collection::named(&pinned, SHARD);
        Ok(Self { pinned, cells, shard, identity, instance })
    }

    /// Reads the server's process, role and clock.
    pub(super) async fn hello(&self) -> Result<Hello, Fault> {
        Hello::read(&self.pinned.run(doc! { "hello": 1 }).await?)
    }

    /// The server's name and version, for operators.
    pub(super) async fn version(&self) -> Result<String, Fault> {
        let build = self.pinned.run(doc! { "buildInfo": 1 }).await?;
        Ok(format!("MongoDB {}", build.get_str("version").unwrap_or("of unknown version")))
    }

    /// `Stale` if the collections are not those of the opening.
    pub(super) async fn check_collection(&self) -> Result<(), Fault> {
        let now = schema::identity(&self.pinned).await?;
        if now.as_ref() == Some(&self.identity) {
            return Ok(());
        }
        let now = now.as_ref().map_or("none".to_owned(), |now| hex(&now.bytes));
        Err(Fault::stale(format!("the collection was {}, and is now {now}", hex(&self.identity.bytes))))
    }

    /// Changes the one cell that the query matches; returns it afterwards. `Stale` if the cell may be in another
    /// collection: either the server compares the UUID, or it is read again.
    pub(super) async fn change_checked(
        &self,
        query: Document,
        update: Document,
    ) -> Result<Option<Document>, Fault> {
        let changed = self.cells.change(query, update).await?;
        if self.cells.identity.is_none() {
            self.check_collection().await?;
        }
        Ok(changed)
    }
}

/// The collection of cells, by its UUID if the server compares it. The test is a change that matches no document: a
/// server without support reports an unknown field.
async fn compared(pinned: &Arc<PinnedConnection>, identity: &Identity) -> Result<Collection, Fault> {
    let named = Collection::named(pinned, CELLS);
    let cells = Collection { identity: Some(identity.clone()), ..named };
    let query = doc! { "_id": Bson::Null, "open": Bson::Null };
    // Nothing is to be acknowledged: only the lack of support may be refused.
    let nothing = doc! { "query": query, "update": { "$set": { "open": false } } };
    match cells.run("findAndModify", nothing).await {
        Ok(_) => Ok(cells),
        Err(Fault::Server(..)) => Ok(Collection { identity: None, ..cells }),
        Err(fault) => Err(fault),
    }
}
