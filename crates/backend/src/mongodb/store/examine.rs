//! Read-only examination of a MongoDB shard.

use mongodb::bson::{Bson, Document};
use sequent_core::{Epoch, Examination, Fact, FactClass, Key, Sight};

use super::{
    Documents, cells,
    identity::{inspection, mark_of},
};
use crate::{
    mongodb::{connection::Connection, schema},
    net::Fault,
    store::Examining,
};

impl Examining<Connection> for Documents {
    /// No real server, nor the double, has shown that a scan works.
    const LISTS_CELLS: bool = false;

    async fn examine(&self, connection: &mut Connection, keys: &[Key]) -> Result<Examination, Fault> {
        let hello = connection.hello().await?;
        let shard = schema::read_shard(&connection.shard).await?;
        let mut cells = Vec::with_capacity(keys.len());
        for key in keys {
            let found = connection.cells.find(cells::of(key)).await?;
            cells.push(found.map_or(Sight::Missing, |found| sight(&found)));
        }
        let inspection = inspection(connection, &hello, &shard).await?;
        Ok(Examination { inspection, mark: mark_of(&shard)?, cells, facts: vec![unproven()] })
    }
}

fn sight(found: &Document) -> Sight {
    let (epoch, open) = (found.get_i64("epoch"), found.get_bool("open"));
    let value = match found.get("v") {
        Some(Bson::Int64(value)) => u64::try_from(*value).ok(),
        _ => None,
    };
    match (epoch, open, value) {
        (Ok(epoch), Ok(open), Some(value)) => {
            Sight::Held { epoch: Epoch::from_stored(epoch), open, value, expires_ms: None }
        }
        _ => Sight::Odd(found.to_string()),
    }
}

/// States that the store was never tested on a real server.
fn unproven() -> Fact {
    let fact = Fact::new(FactClass::Note, "MongoDB", "tested against a double only");
    let fact = fact.causes("the store's statements were never run against a real server of this kind");
    fact.mend("try it beside your load before you rely on it")
}
