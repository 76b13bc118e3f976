//! A look into a shard that changes nothing. The server notes that the items looked at are in use, as it does of any look.

use sequent_core::{
    BoxFuture, ErrorKind, Examination, Examine, Fact, FactClass, Inspection, Key, Sight, SourceError, Stamp,
};

use super::{
    MemcachedStore,
    identity::{Beside, is_there},
};
use crate::{
    cas::State,
    memcached::{
        item::{ShardItem, parsed},
        link::Link,
        name::Name,
    },
    wire::{Fault, Line, Owner, SLOTS_MAX, Work, beside},
};

impl Examine for MemcachedStore {
    fn examine<'a>(&'a self, keys: &'a [Key]) -> BoxFuture<'a, Result<Examination, SourceError>> {
        Box::pin(self.pool.look(Look { owner: self.owner(), keys }))
    }
}

struct Look<'a> {
    owner: &'a Owner,
    keys: &'a [Key],
}

impl Work<Link> for Look<'_> {
    type Out = Examination;
    const VERB: &'static str = "examine";

    async fn run(&self, link: &mut Link) -> Result<Examination, Fault> {
        let about = link.about().await?;
        let shard = link.shard().clone();
        let held = link.wire().get(&shard).await?.map(|found| found.data);
        let item = ShardItem::of(held.as_deref())?;
        let unreadable = |error| SourceError::new(ErrorKind::Refused, "stamp").because(error);
        let stamp = (!item.stamp.is_empty()).then(|| item.stamp.parse::<Stamp>());
        let mut facts = vec![by_nature()];
        facts.extend(evictions(&about.durability.settings, about.evictions));
        if item.stamp.is_empty() {
            let others = Beside { owner: self.owner, slots: SLOTS_MAX }.run(link).await?;
            facts.extend(others.iter().map(beside));
        }
        if let Some(left) = link.wire().expires(&shard).await? {
            facts.push(fleeting(left));
        }
        let mut cells = Vec::with_capacity(self.keys.len());
        for key in self.keys {
            cells.push(sight(link, &Name::of_cell(self.owner, key)).await?);
        }
        let inspection = Inspection {
            incarnation: link.incarnation().clone(),
            stamp: stamp.transpose().map_err(unreadable)?,
            has_cells: is_there(link, &item.cell).await?,
            durability: about.durability,
            clock_ms: about.clock_ms,
            version: about.version,
        };
        Ok(Examination { inspection, mark: item.mark, cells, facts })
    }
}

async fn sight(link: &mut Link, name: &Name) -> Result<Sight, Fault> {
    let Some(found) = link.wire().get(name).await? else { return Ok(Sight::Missing) };
    Ok(match parsed(&found.data) {
        None => Sight::Odd(String::from_utf8_lossy(&found.data).into_owned()),
        Some(State { life, open, value }) => {
            let left = link.wire().expires(name).await?;
            Sight::Held { life, open, value, expires_ms: left.map(|seconds| seconds.saturating_mul(1000)) }
        }
    })
}

/// Nothing that it keeps outlives it, whatever its settings.
fn by_nature() -> Fact {
    let fact = Fact::new(FactClass::Note, "memory", "all that it has");
    fact.causes("a restart forgets everything").mend("nothing: it is made so")
}

/// What was pushed out, where it may be.
fn evictions(settings: &[(String, String)], pushed_out: u64) -> Option<Fact> {
    let on = settings.iter().any(|(name, value)| name == "evictions" && value == "on");
    let class = if pushed_out > 0 { FactClass::Forgets } else { FactClass::Note };
    let fact = Fact::new(class, "evictions", format!("on, {pushed_out} since its start")).expected("off");
    let fact = fact.causes("a counter that rests is pushed out once memory is full");
    on.then(|| fact.mend("start the server with -M, or with more memory than it ever needs"))
}

/// The shard's own item has a time to live.
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
