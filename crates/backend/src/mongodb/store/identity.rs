//! What a store says of itself, its stamp and its mark: one document beside the cells.

use mongodb::bson::{Bson, Document, doc};
use sequent_core::{Durability, DurabilityClass, ErrorKind, Incarnation, Inspection, SourceError, Stamp};

use crate::mongodb::{
    fault::Fault,
    hello::Hello,
    link::Link,
    schema::{ONE, SHARD},
    work::Work,
};

/// Changes nothing, and is acknowledged like a change: who can't acknowledge is found out, and what is read is not older
/// than what a majority holds.
fn nothing() -> Document {
    doc! { "$max": { "mark": 0_i64 } }
}

pub(super) struct Inspect;

impl Work for Inspect {
    type Out = Inspection;
    const VERB: &'static str = "inspect";

    async fn run(&self, link: &Link) -> Result<Inspection, Fault> {
        let hello = Hello::read(&link.line().run_on_admin(doc! { "hello": 1 }).await?)?;
        if !link.incarnation().as_str().contains(&hello.speaks) {
            return Err(Fault::stale(format!("{} speaks now", hello.speaks)));
        }
        link.anchored().await?;
        let shard = changed(link.change_shard(doc! { "_id": ONE }, nothing()).await?)?;
        let has_cells = link.cell(Document::new()).await?.is_some();
        let build = link.line().run_on_admin(doc! { "buildInfo": 1 }).await?;
        Ok(Inspection {
            incarnation: link.incarnation().clone(),
            stamp: stamp_of(&shard)?,
            has_cells,
            durability: durability(),
            clock_ms: hello.clock_ms,
            version: format!("MongoDB {}", build.get_str("version").unwrap_or("of unknown version")),
        })
    }
}

/// What every write asks for, and each server does or refuses.
pub(super) fn durability() -> Durability {
    let settings = [("w", "majority"), ("j", "true")];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    Durability { class: DurabilityClass::Durable, settings }
}

pub(super) fn stamp_of(shard: &Document) -> Result<Option<Stamp>, Fault> {
    match shard.get("stamp") {
        None | Some(Bson::Null) => Ok(None),
        Some(Bson::String(text)) => {
            let unreadable = |error| SourceError::new(ErrorKind::Refused, "stamp").because(error);
            Ok(Some(text.parse::<Stamp>().map_err(unreadable)?))
        }
        Some(other) => Err(Fault::refused(format!("{SHARD}'s stamp is {other:?}, expected a text"))),
    }
}

pub(super) fn mark_of(shard: &Document) -> Result<u64, Fault> {
    match shard.get("mark") {
        Some(Bson::Int64(mark)) => Ok(mark.unsigned_abs()),
        other => Err(Fault::refused(format!("{SHARD}'s mark is {other:?}, expected a 64-bit integer"))),
    }
}

/// The shard's document, which every shard has.
fn changed(found: Option<Document>) -> Result<Document, Fault> {
    found.ok_or_else(|| Fault::refused(format!("collection {SHARD} lacks its document: restore it")))
}

pub(super) struct Restamp<'a> {
    pub(super) under: &'a Incarnation,
    pub(super) expected: Option<&'a Stamp>,
    pub(super) new: &'a Stamp,
}

impl Work for Restamp<'_> {
    type Out = ();
    const VERB: &'static str = "stamp";

    async fn run(&self, link: &Link) -> Result<(), Fault> {
        link.check(self.under)?;
        link.anchored().await?;
        let expected = self.expected.map(ToString::to_string);
        // Null finds a field that is not there.
        let stands = expected.clone().map_or(Bson::Null, Bson::String);
        let update = doc! { "$set": { "stamp": self.new.to_string() } };
        if link.change_shard(doc! { "_id": ONE, "stamp": stands }, update).await?.is_some() {
            return Ok(());
        }
        let found = stamp_of(&changed(link.change_shard(doc! { "_id": ONE }, nothing()).await?)?)?;
        let [found, expected] = [found.map(|stamp| stamp.to_string()), expected]
            .map(|stamp| stamp.unwrap_or_else(|| "none".to_owned()));
        let context = format!("stamp: found {found}, expected {expected}");
        Err(SourceError::new(ErrorKind::Refused, context).into())
    }
}

pub(super) struct Mark<'a> {
    pub(super) under: &'a Incarnation,
    pub(super) version: u64,
}

impl Work for Mark<'_> {
    type Out = u64;
    const VERB: &'static str = "mark";

    async fn run(&self, link: &Link) -> Result<u64, Fault> {
        link.check(self.under)?;
        let version = i64::try_from(self.version).map_err(|_| {
            let context = format!("mark is {}: at most {} is allowed", self.version, i64::MAX);
            SourceError::new(ErrorKind::Exhausted, context)
        })?;
        let update = doc! { "$max": { "mark": version } };
        if let Some(shard) = link.change_shard(doc! { "_id": ONE }, update).await? {
            return mark_of(&shard);
        }
        link.anchored().await?;
        changed(None).map(|_| 0)
    }
}
