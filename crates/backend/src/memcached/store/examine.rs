//! Read-only examination of a memcached shard. The server counts the items as recently used, as it does after any read.

use sequent_core::{Examination, Fact, FactClass, Key, Sight};

use super::{Items, identity::inspection};
use crate::{
    memcached::{
        connection::Connection,
        entry::{ShardItem, parsed},
        key_names::Name,
        stats::Stats,
    },
    net::{Fault, SLOTS_MAX, sibling},
    store::{CellState, Examining, StoreConnection as _},
};

impl Examining<Connection> for Items {
    const LISTS_CELLS: bool = false;

    async fn examine(&self, connection: &mut Connection, keys: &[Key]) -> Result<Examination, Fault> {
        let stats = Stats::of(&mut connection.wire).await?;
        let item = ShardItem::of(connection.wire.get(&connection.shard).await?.as_ref())?;
        let mut facts = vec![by_nature()];
        facts.extend(evictions(&stats.durability.settings, stats.evictions));
        if item.stamp.is_empty() {
            facts.extend(connection.siblings(SLOTS_MAX).await?.iter().map(sibling));
        }
        facts.extend(connection.wire.expires(&connection.shard).await?.map(fleeting));
        let mut cells = Vec::with_capacity(keys.len());
        for key in keys {
            let name = Name::of_cell(&connection.owner, key);
            cells.push(sight(connection, &name).await?);
        }
        let inspection = inspection(connection, stats, &item).await?;
        Ok(Examination { inspection, mark: item.mark, cells, facts })
    }
}

async fn sight(connection: &mut Connection, name: &Name) -> Result<Sight, Fault> {
    let Some(found) = connection.wire.get(name).await? else { return Ok(Sight::Missing) };
    let Some(CellState { epoch, open, value }) = parsed(&found.data) else {
        return Ok(Sight::Odd(String::from_utf8_lossy(&found.data).into_owned()));
    };
    let left = connection.wire.expires(name).await?;
    Ok(Sight::Held { epoch, open, value, expires_ms: left.map(|seconds| seconds.saturating_mul(1000)) })
}

/// The store is volatile whatever the server's settings.
fn by_nature() -> Fact {
    let fact = Fact::new(FactClass::Note, "memory", "all that it has");
    fact.causes("a restart forgets everything").mend("nothing: it is made so")
}

/// The number of evicted items, if the server may evict.
fn evictions(settings: &[(String, String)], pushed_out: u64) -> Option<Fact> {
    let on = settings.iter().any(|(name, value)| name == "evictions" && value == "on");
    let class = if pushed_out > 0 { FactClass::Forgets } else { FactClass::Note };
    let fact = Fact::new(class, "evictions", format!("on, {pushed_out} since its start")).expected("off");
    let fact = fact.causes("a counter that rests is pushed out once memory is full");
    on.then(|| fact.mend("start the server with -M, or with more memory than it ever needs"))
}

/// Warns that the shard's own item has a time to live.
fn fleeting(seconds: u64) -> Fact {
    let fact = Fact::new(FactClass::Forgets, "time to live of the shard's own item", format!("{seconds} s"));
    let fact = fact.expected("none").causes("stamp and mark go with it: the store is taken for an empty one");
    fact.mend("find out who touches items of this cluster; the next mark ends it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_pushed_out_is_more_than_a_note() {
        let with = |value: &str, count| {
            let settings = [("evictions".to_owned(), value.to_owned())];
            evictions(&settings, count).map(|fact| fact.class)
        };
        assert_eq!(with("on", 0), Some(FactClass::Note));
        assert_eq!(with("on", 7), Some(FactClass::Forgets));
        assert_eq!(with("off", 7), None);
    }
}
