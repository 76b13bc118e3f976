//! One connection to one shard, and what was learned when it was opened: who speaks there.

use mongodb::bson::{Bson, Document, doc};
use sequent_core::{ErrorKind, Incarnation, SourceError};

use super::{
    fault::{COLLECTION_UUID_MISMATCH, Fault, UNAUTHORIZED},
    hello::Hello,
    line::Line,
    schema::{self, CELLS, Identity, SHARD},
    target::Target,
};

/// An open connection, and what was learned when it was opened.
pub(super) struct Link {
    line: Line,
    cells: Identity,
    /// Whether the server compares a collection's identity with the one that a statement names.
    compares: bool,
    incarnation: Incarnation,
}

impl Link {
    /// Connects within the limit, makes the collections if they are missing and may be made, and learns who speaks.
    pub(super) async fn open(target: &Target, used: bool) -> Result<Self, Fault> {
        let limit = target.options.connect_limit;
        tokio::time::timeout(limit, Self::introduce(target, used)).await.unwrap_or_else(|_| {
            let cause = format!("not connected within {} ms", limit.as_millis());
            Err(Fault::broken(ErrorKind::Unavailable, cause))
        })
    }

    async fn introduce(target: &Target, used: bool) -> Result<Self, Fault> {
        let line = Line::new(target).await?;
        let hello = Hello::read(&line.first(doc! { "hello": 1 }).await?)?;
        let cells = schema::settle(&line, target.options.create, used).await?;
        let compares = compares(&line, &cells).await?;
        let incarnation = Incarnation::new(format!("mongodb {} {}", hello.speaks, named(&cells)));
        Ok(Self { line, cells, compares, incarnation })
    }

    /// What commands run on.
    pub(super) fn line(&self) -> &Line {
        &self.line
    }

    /// Who speaks here.
    pub(super) fn incarnation(&self) -> &Incarnation {
        &self.incarnation
    }

    /// The verb runs on a connection that was opened under this incarnation, or touches nothing.
    pub(super) fn check(&self, under: &Incarnation) -> Result<(), Fault> {
        if *under == self.incarnation {
            return Ok(());
        }
        let context = format!("expected {under}, found {}", self.incarnation);
        Err(SourceError::new(ErrorKind::Reborn, context).into())
    }

    /// `Stale` if other collections are there now.
    pub(super) async fn anchored(&self) -> Result<(), Fault> {
        let now = schema::identity(&self.line).await?;
        if now.as_ref() == Some(&self.cells) {
            return Ok(());
        }
        let now = now.as_ref().map_or("none".to_owned(), named);
        Err(Fault::stale(format!("the collection was {}, and is now {now}", named(&self.cells))))
    }

    /// What was done just now was done to the collection that was learned of: either the server compared, or it is asked.
    pub(super) async fn compared(&self) -> Result<(), Fault> {
        if self.compares { Ok(()) } else { self.anchored().await }
    }

    /// A command on the collection that counts: on none but the one that was learned of, where the server can compare.
    pub(super) fn on_cells(&self, verb: &str) -> Document {
        let mut command = doc! { verb: CELLS };
        if self.compares {
            command.insert("collectionUUID", self.cells.clone());
        }
        command
    }

    /// Changes the one document that the query finds, and returns it as it is then.
    pub(super) async fn change_cell(
        &self,
        query: Document,
        update: Document,
    ) -> Result<Option<Document>, Fault> {
        self.change(self.on_cells("findAndModify"), query, update).await
    }

    /// The same for the shard's own document.
    pub(super) async fn change_shard(
        &self,
        query: Document,
        update: Document,
    ) -> Result<Option<Document>, Fault> {
        self.change(doc! { "findAndModify": SHARD }, query, update).await
    }

    async fn change(
        &self,
        mut command: Document,
        query: Document,
        update: Document,
    ) -> Result<Option<Document>, Fault> {
        let concern = schema::write_concern();
        command.extend(doc! { "query": query, "update": update, "new": true, "writeConcern": concern });
        let mut reply = self.line.run(command).await?;
        match reply.remove("value") {
            Some(Bson::Document(found)) => Ok(Some(found)),
            Some(Bson::Null) => Ok(None),
            _ => Err(Fault::refused("the server's answer to findAndModify has no value")),
        }
    }

    /// The cell that the query finds, if any.
    pub(super) async fn cell(&self, query: Document) -> Result<Option<Document>, Fault> {
        let mut command = self.on_cells("find");
        command.extend(doc! { "filter": query, "limit": 1, "singleBatch": true });
        let reply = self.line.run(command).await?;
        let found = schema::first_batch(&reply)?.first().map(|found| (*found).clone());
        Ok(found)
    }
}

/// Asks for a change of a document that is not there, naming the collection's identity: a server that does not know the
/// word says so.
async fn compares(line: &Line, cells: &Identity) -> Result<bool, Fault> {
    let nothing = doc! { "_id": Bson::Null, "open": Bson::Null };
    let mut command =
        doc! { "findAndModify": CELLS, "query": nothing, "update": { "$set": { "open": false } } };
    command.insert("collectionUUID", cells.clone());
    match line.run(command).await {
        Ok(_) => Ok(true),
        Err(Fault::Server(code, _)) if code != UNAUTHORIZED && code != COLLECTION_UUID_MISMATCH => Ok(false),
        Err(fault) => Err(fault),
    }
}

/// An identity as it is written.
fn named(identity: &Identity) -> String {
    use std::fmt::Write;
    identity.bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
