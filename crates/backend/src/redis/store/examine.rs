//! A look into a shard that changes nothing: no script is run, for the server would keep its text.

use redis::cmd;
use sequent_core::{
    Block, BoxFuture, CellPage, ErrorKind, Examination, Examine, Fact, FactClass, Inspection, Key, Life,
    Sight, SourceError, Stamp,
};

use super::{
    CellNames, RedisStore,
    identity::{Beside, has_others, is_there},
    leaf::Leaf,
};
use crate::{
    redis::{link::Link, settings},
    wire::{Fault, Line, Owner, SLOTS_MAX, Work, beside},
};

impl Examine for RedisStore {
    fn examine<'a>(&'a self, keys: &'a [Key]) -> BoxFuture<'a, Result<Examination, SourceError>> {
        Box::pin(self.pool.look(Look { owner: self.owner(), keys }))
    }

    fn cells<'a>(&'a self, from: Option<&'a str>) -> BoxFuture<'a, Result<CellPage, SourceError>> {
        Box::pin(self.pool.look(Leaf { owner: self.owner(), from }))
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
        let shard = link.shard().to_vec();
        let fields = ["stamp", "mark", "cell"];
        let held: [Option<String>; 3] = link.ask(cmd("HMGET").arg(&shard).arg(&fields)).await?;
        let [stamp, mark, cell] = held;
        let has_cells = match &cell {
            Some(cell) => is_there(link, cell).await? || has_others(link, self.owner).await?,
            // As for any other look: a store that lost its own key is taken for an empty one.
            None => false,
        };
        let (seconds, micros): (u64, u64) = link.ask(&cmd("TIME")).await?;
        let durability = link.attest().await?;
        let unreadable = |error| SourceError::new(ErrorKind::Refused, "stamp").because(error);
        let inspection = Inspection {
            incarnation: link.incarnation().clone(),
            stamp: stamp.map(|text| text.parse::<Stamp>()).transpose().map_err(unreadable)?,
            has_cells,
            durability,
            clock_ms: seconds * 1000 + micros / 1000,
            version: link.version().to_owned(),
        };
        let mut facts = settings::facts(&inspection.durability.settings);
        if inspection.stamp.is_none() {
            // Who may not read there is told of it by what else is looked at.
            let others = Beside { owner: self.owner, slots: SLOTS_MAX }.run(link).await.unwrap_or_default();
            facts.extend(others.iter().map(beside));
        }
        facts.extend(rights(link).await?);
        let mut lifetimes = Lifetimes::default();
        if let Some(ms) = lifetimes.of(link, &shard).await? {
            facts.push(fleeting(&shard, ms));
        }
        let mut cells = Vec::with_capacity(self.keys.len());
        for key in self.keys {
            cells.push(sight(link, &CellNames::of(self.owner, key).cell, &mut lifetimes).await?);
        }
        facts.extend(lifetimes.untold());
        let mark = mark.and_then(|held| held.parse().ok()).unwrap_or(0);
        Ok(Examination { inspection, mark, cells, facts })
    }
}

async fn sight(link: &mut Link, name: &[u8], lifetimes: &mut Lifetimes) -> Result<Sight, Fault> {
    let held: Result<[Option<String>; 3], Fault> =
        link.ask(cmd("HMGET").arg(name).arg(&["life", "open", "v"])).await;
    let held = match held {
        // Something of another type stands there.
        Err(Fault::Answer(error)) => return Ok(Sight::Odd(error.to_string())),
        held => held?,
    };
    if held.iter().all(Option::is_none) {
        return Ok(Sight::Missing);
    }
    let [life, open, value] = held.map(Option::unwrap_or_default);
    let number = value.parse().ok().filter(|value| *value <= Block::NUMBER_MAX);
    match (life.parse(), open.as_str(), number) {
        (Ok(life), "0" | "1", Some(value)) => {
            let expires_ms = lifetimes.of(link, name).await?;
            Ok(Sight::Held { life: Life::from_stored(life), open: open == "1", value, expires_ms })
        }
        _ => Ok(Sight::Odd(format!("life {life:?}, open {open:?}, value {value:?}"))),
    }
}

/// Asks how long keys live, as long as the user may.
#[derive(Default)]
struct Lifetimes {
    denied: bool,
}

impl Lifetimes {
    /// After how many milliseconds a key goes by itself; `None`: never, or nobody may ask.
    async fn of(&mut self, link: &mut Link, name: &[u8]) -> Result<Option<u64>, Fault> {
        if self.denied {
            return Ok(None);
        }
        let left: Option<i64> = link.ask_if_allowed(cmd("PTTL").arg(name)).await?;
        self.denied = left.is_none();
        // Below zero: it lives for ever, or is not there.
        Ok(left.and_then(|left| u64::try_from(left).ok()))
    }

    fn untold(&self) -> Option<Fact> {
        let fact = Fact::new(FactClass::Untold, "PTTL", "not allowed").expected("the right to ask");
        let fact = fact.causes("whether a counter has a time to live can't be told");
        self.denied.then(|| fact.mend("give the user +pttl: see the README"))
    }
}

/// The shard's own key has a time to live.
fn fleeting(shard: &[u8], ms: u64) -> Fact {
    let name = format!("time to live of {}", String::from_utf8_lossy(shard));
    let fact = Fact::new(FactClass::Forgets, name, format!("{ms} ms")).expected("none");
    let fact = fact.causes("stamp and mark go with it: the store is taken for an empty one");
    fact.mend(format!("PERSIST {}", String::from_utf8_lossy(shard)))
}

/// What the user may do beside what it needs. Who may not ask is confined, as it should be.
async fn rights(link: &mut Link) -> Result<Option<Fact>, Fault> {
    let Some(user) = link.ask_if_allowed::<String>(cmd("ACL").arg("WHOAMI")).await? else { return Ok(None) };
    let users: Option<Vec<String>> = link.ask_if_allowed(cmd("ACL").arg("LIST")).await?;
    Ok(users.and_then(|users| excess(&user, &users)))
}

fn excess(user: &str, users: &[String]) -> Option<Fact> {
    let own = |line: &&String| line.split(' ').nth(1) == Some(user);
    let line = users.iter().find(own)?;
    let told = ["nopass", "+@all", "allcommands"];
    let more: Vec<&str> = line.split(' ').filter(|word| told.contains(word)).collect();
    let fact = Fact::new(FactClass::Excess, format!("user {user}"), more.join(" "));
    let fact = fact.expected("a password, and the commands and keys of the README's ACL");
    let causes = "whoever reaches the port, or gets hold of this login, can change or delete counters";
    (!more.is_empty())
        .then(|| fact.causes(causes).mend("make a user with the README's ACL, and name it in the url"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_do_everything_is_named() {
        let users = ["user default on nopass ~* &* +@all", "user sequent on #ab ~sequent/* -@all +ping"];
        let users = users.map(str::to_owned);
        assert_eq!(excess("default", &users).map(|fact| fact.found), Some("nopass +@all".to_owned()));
        assert_eq!(excess("sequent", &users), None);
    }
}
