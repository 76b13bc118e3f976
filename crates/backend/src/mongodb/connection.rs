//! MongoDB connection of one store, with the instance read when it was opened.

use mongodb::bson::{Bson, Document, doc};
use sequent_core::InstanceId;

use super::{
    hello::Hello,
    pinned_connection::PinnedConnection,
    schema::{self, CELLS, Identity, SHARD},
};
use crate::net::{self, Fault, ServerOptions};

/// An open connection.
pub(crate) struct Connection {
    pinned: PinnedConnection,
    cells: Identity,
    /// Whether the server compares the collection's UUID that a command names.
    compares: bool,
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
    pub(super) async fn open(options: &ServerOptions, create: bool, is_known: bool) -> Result<Self, Fault> {
        let pinned = PinnedConnection::new(options).await?;
        let hello = Hello::read(&pinned.first(doc! { "hello": 1 }).await?)?;
        let cells = schema::settle(&pinned, create, is_known).await?;
        let compares = compares(&pinned, &cells).await?;
        let instance = InstanceId::new(format!("mongodb {} {}", hello.process, hexadecimal(&cells)));
        Ok(Self { pinned, cells, compares, instance })
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
        if now.as_ref() == Some(&self.cells) {
            return Ok(());
        }
        let now = now.as_ref().map_or("none".to_owned(), hexadecimal);
        Err(Fault::stale(format!("the collection was {}, and is now {now}", hexadecimal(&self.cells))))
    }

    /// Reads the shard's own document.
    pub(super) async fn shard(&self) -> Result<Document, Fault> {
        schema::shard(&self.pinned).await
    }

    /// Changes the shard's own document if the query matches; returns it afterwards.
    pub(super) async fn change_shard(
        &self,
        query: Document,
        update: Document,
    ) -> Result<Option<Document>, Fault> {
        self.change(doc! { "findAndModify": SHARD }, query, update).await
    }

    /// Changes the one cell that the query matches; returns it afterwards.
    pub(super) async fn change_cell(
        &self,
        query: Document,
        update: Document,
    ) -> Result<Option<Document>, Fault> {
        self.change(self.on_cells("findAndModify"), query, update).await
    }

    /// As `change_cell`, and `Stale` if the cell may be in another collection. Either the server compares the UUID, or
    /// it is read again.
    pub(super) async fn change_cell_checked(
        &self,
        query: Document,
        update: Document,
    ) -> Result<Option<Document>, Fault> {
        let changed = self.change_cell(query, update).await?;
        if !self.compares {
            self.check_collection().await?;
        }
        Ok(changed)
    }

    async fn change(
        &self,
        mut command: Document,
        query: Document,
        update: Document,
    ) -> Result<Option<Document>, Fault> {
        let concern = schema::write_concern();
        command.extend(doc! { "query": query, "update": update, "new": true, "writeConcern": concern });
        let mut reply = self.pinned.run(command).await?;
        match reply.remove("value") {
            Some(Bson::Document(found)) => Ok(Some(found)),
            Some(Bson::Null) => Ok(None),
            _ => Err(Fault::refused("the server's answer to findAndModify has no value")),
        }
    }

    /// Reads the cell that the query matches.
    pub(super) async fn cell(&self, query: Document) -> Result<Option<Document>, Fault> {
        let mut command = self.on_cells("find");
        command.extend(doc! { "filter": query, "limit": 1, "singleBatch": true });
        let reply = self.pinned.run(command).await?;
        Ok(schema::first_batch(&reply)?.first().map(|found| (*found).clone()))
    }

    /// Inserts a cell; `DUPLICATE_KEY` if one with its `_id` exists.
    pub(super) async fn insert_cell(&self, cell: Document) -> Result<(), Fault> {
        schema::insert(&self.pinned, self.on_cells("insert"), cell).await
    }

    /// A command on the collection of cells. If the server supports it, the command names the collection's UUID.
    fn on_cells(&self, name: &str) -> Document {
        let mut command = doc! { name: CELLS };
        if self.compares {
            command.insert("collectionUUID", self.cells.clone());
        }
        command
    }
}

/// Whether the server compares collection UUIDs. The test is a change that matches no document: a server without
/// support reports an unknown field.
async fn compares(pinned: &PinnedConnection, cells: &Identity) -> Result<bool, Fault> {
    let nothing = doc! { "_id": Bson::Null, "open": Bson::Null };
    let mut command =
        doc! { "findAndModify": CELLS, "query": nothing, "update": { "$set": { "open": false } } };
    command.insert("collectionUUID", cells.clone());
    match pinned.run(command).await {
        Ok(_) => Ok(true),
        Err(Fault::Server(..)) => Ok(false),
        Err(fault) => Err(fault),
    }
}

fn hexadecimal(identity: &Identity) -> String {
    use std::fmt::Write;
    identity.bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
