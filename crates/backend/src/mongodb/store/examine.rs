//! A look into a shard that changes nothing.

use mongodb::bson::{Bson, Document, doc};
use sequent_core::{
    BoxFuture, Examination, Examine, Fact, FactClass, Inspection, Key, Life, Sight, SourceError,
};

use super::{
    MongodbStore, cells,
    identity::{durability, mark_of, stamp_of},
};
use crate::mongodb::{
    fault::Fault,
    hello::Hello,
    link::Link,
    schema::{self, ONE, SHARD},
    work::Work,
};

impl Examine for MongodbStore {
    fn examine<'a>(&'a self, keys: &'a [Key]) -> BoxFuture<'a, Result<Examination, SourceError>> {
        Box::pin(self.database.perform(Look { keys }))
    }
}

struct Look<'a> {
    keys: &'a [Key],
}

impl Work for Look<'_> {
    type Out = Examination;
    const VERB: &'static str = "examine";

    async fn run(&self, link: &Link) -> Result<Examination, Fault> {
        let hello = Hello::read(&link.line().run_on_admin(doc! { "hello": 1 }).await?)?;
        let query = doc! { "find": SHARD, "filter": { "_id": ONE }, "limit": 1, "singleBatch": true };
        let reply = link.line().run(query).await?;
        let shard = schema::first_batch(&reply)?.first().map(|found| (*found).clone());
        let shard = shard
            .ok_or_else(|| Fault::refused(format!("collection {SHARD} lacks its document: restore it")))?;
        let build = link.line().run_on_admin(doc! { "buildInfo": 1 }).await?;
        let mut sights = Vec::with_capacity(self.keys.len());
        for key in self.keys {
            sights.push(link.cell(cells::of(key)).await?.map_or(Sight::Missing, |found| sight(&found)));
        }
        let inspection = Inspection {
            incarnation: link.incarnation().clone(),
            stamp: stamp_of(&shard)?,
            has_cells: link.cell(Document::new()).await?.is_some(),
            durability: durability(),
            clock_ms: hello.clock_ms,
            version: format!("MongoDB {}", build.get_str("version").unwrap_or("of unknown version")),
        };
        Ok(Examination { inspection, mark: mark_of(&shard)?, cells: sights, facts: vec![unproven()] })
    }
}

fn sight(found: &Document) -> Sight {
    let (life, open) = (found.get_i64("life"), found.get_bool("open"));
    let value = match found.get("v") {
        Some(Bson::Int64(value)) => u64::try_from(*value).ok(),
        _ => None,
    };
    match (life, open, value) {
        (Ok(life), Ok(open), Some(value)) => {
            Sight::Held { life: Life::from_stored(life), open, value, expires_ms: None }
        }
        _ => Sight::Odd(found.to_string()),
    }
}

/// What nobody has ever seen to work on a real server.
fn unproven() -> Fact {
    let fact = Fact::new(FactClass::Note, "MongoDB", "tested against a double only");
    let fact = fact.causes("the store's statements were never run against a real server of this kind");
    fact.mend("try it beside your load before you rely on it")
}
