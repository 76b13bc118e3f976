//! Read-only examination of a Redis shard. It runs no script, because the server would keep its text.

use redis::cmd;
use sequent_core::{Block, CellPage, Epoch, Examination, Fact, FactClass, Key, Sight};

use super::{Hashes, identity::inspect, page::page, privileges::excess_privileges};
use crate::{
    net::{Fault, SLOTS_MAX, sibling},
    redis::{connection::Connection, names::CellNames, settings},
    store::{Examining, StoreConnection as _},
};

impl Examining<Connection> for Hashes {
    async fn examine(&self, connection: &mut Connection, keys: &[Key]) -> Result<Examination, Fault> {
        let (inspection, mark) = inspect(connection).await?;
        let mut facts = settings::facts(&inspection.durability.settings);
        if inspection.stamp.is_none() {
            // An error is ignored: other reads report a missing privilege.
            let others = connection.siblings(SLOTS_MAX).await.unwrap_or_default();
            facts.extend(others.iter().map(sibling));
        }
        facts.extend(excess_privileges(connection).await?);
        let mut lifetimes = Lifetimes::default();
        let shard = connection.shard.clone();
        facts.extend(lifetimes.of(connection, &shard).await?.map(|ms| fleeting(&shard, ms)));
        let mut cells = Vec::with_capacity(keys.len());
        for key in keys {
            let names = CellNames::of(&connection.owner, key);
            cells.push(sight(connection, &names.cell, &mut lifetimes).await?);
        }
        facts.extend(lifetimes.untold());
        Ok(Examination { inspection, mark, cells, facts })
    }

    async fn cells(&self, connection: &mut Connection, from: Option<&str>) -> Result<CellPage, Fault> {
        page(connection, from).await
    }
}

async fn sight(connection: &mut Connection, name: &[u8], lifetimes: &mut Lifetimes) -> Result<Sight, Fault> {
    let held: Result<[Option<String>; 3], Fault> =
        connection.ask(cmd("HMGET").arg(name).arg(&["epoch", "open", "v"])).await;
    let held = match held {
        // The key has another type.
        Err(Fault::Answer(error)) => return Ok(Sight::Odd(error.to_string())),
        held => held?,
    };
    if held.iter().all(Option::is_none) {
        return Ok(Sight::Missing);
    }
    let [epoch, open, value] = held.map(Option::unwrap_or_default);
    let number = value.parse().ok().filter(|value| *value <= Block::NUMBER_MAX);
    match (epoch.parse(), open.as_str(), number) {
        (Ok(epoch), "0" | "1", Some(value)) => {
            let expires_ms = lifetimes.of(connection, name).await?;
            Ok(Sight::Held { epoch: Epoch::from_stored(epoch), open: open == "1", value, expires_ms })
        }
        _ => Ok(Sight::Odd(format!("epoch {epoch:?}, open {open:?}, value {value:?}"))),
    }
}

/// Reads times to live, until the user is refused.
#[derive(Default)]
struct Lifetimes {
    denied: bool,
}

impl Lifetimes {
    /// Milliseconds until a key expires; `None` if it never does, or the user may not ask.
    async fn of(&mut self, connection: &mut Connection, name: &[u8]) -> Result<Option<u64>, Fault> {
        if self.denied {
            return Ok(None);
        }
        let left: Option<i64> = connection.ask_if_allowed(cmd("PTTL").arg(name)).await?;
        self.denied = left.is_none();
        // A negative answer: no time to live, or no such key.
        Ok(left.and_then(|left| u64::try_from(left).ok()))
    }

    fn untold(&self) -> Option<Fact> {
        let fact = Fact::new(FactClass::Untold, "PTTL", "not allowed").expected("the right to ask");
        let fact = fact.causes("whether a counter has a time to live can't be told");
        self.denied.then(|| fact.mend("give the user +pttl: see docs/operating/stores/redis.md"))
    }
}

/// Warns that the shard's own key has a time to live.
fn fleeting(shard: &[u8], ms: u64) -> Fact {
    let name = format!("time to live of {}", String::from_utf8_lossy(shard));
    let fact = Fact::new(FactClass::Forgets, name, format!("{ms} ms")).expected("none");
    let fact = fact.causes("stamp and mark go with it: the store is taken for an empty one");
    fact.mend(format!("PERSIST {}", String::from_utf8_lossy(shard)))
}
