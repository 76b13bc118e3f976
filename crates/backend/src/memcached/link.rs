//! One connection, and what was learned when it was opened: who speaks there.

use std::sync::Arc;

use sequent_core::{Durability, DurabilityClass, Entropy, Incarnation};
use tokio::net::TcpStream;

use super::{
    codec::{When, Wire},
    item::ShardItem,
    name::Name,
    options::Target,
};
use crate::wire::{Fault, Line};

/// An open connection.
#[derive(Debug)]
pub(super) struct Link {
    wire: Wire,
    incarnation: Incarnation,
    /// The token of the data that it was opened on.
    born: String,
    /// The shard's own item.
    shard: Name,
    entropy: Arc<dyn Entropy>,
}

/// What the server says of itself now.
pub(super) struct About {
    /// In whole seconds, rounded down.
    pub(super) clock_ms: u64,
    /// How many items were pushed out since its start.
    pub(super) evictions: u64,
    pub(super) version: String,
    pub(super) durability: Durability,
}

impl Line for Link {
    type Target = Target;

    async fn open(target: &Target) -> Result<Self, Fault> {
        let mut link = Self::connect(target).await?;
        let born = born(&mut link.wire, &link.shard, &*link.entropy).await?;
        Ok(link.of_data(born))
    }

    async fn look(target: &Target) -> Result<Self, Fault> {
        let mut link = Self::connect(target).await?;
        let held = link.wire.get(&link.shard).await?.map(|found| found.data);
        let born = ShardItem::of(held.as_deref())?.born;
        Ok(link.of_data(born))
    }

    fn incarnation(&self) -> &Incarnation {
        &self.incarnation
    }

    async fn ping(&mut self) -> Result<(), Fault> {
        self.wire.ping().await
    }
}

impl Link {
    /// Connects, and learns which run of the server speaks.
    async fn connect(target: &Target) -> Result<Self, Fault> {
        let options = &target.options;
        let away = |error: std::io::Error| Fault::away(error.to_string());
        let stream = TcpStream::connect((options.host.as_str(), options.port)).await.map_err(away)?;
        stream.set_nodelay(true).map_err(away)?;
        let mut wire = Wire::new(stream);
        if let Some(password) = options.password.read().await? {
            wire.log_in(options.user.as_deref().unwrap_or_default(), &password).await?;
        }
        let process = speaker(&wire.stats("").await?)?;
        let (shard, entropy) = (Name::of_shard(&target.owner), Arc::clone(&options.entropy));
        Ok(Self { wire, incarnation: Incarnation::new(process), born: String::new(), shard, entropy })
    }

    /// The same connection, to the data that bears this token.
    fn of_data(self, born: String) -> Self {
        Self { incarnation: Incarnation::new(format!("{} {born}", self.incarnation)), born, ..self }
    }

    /// What commands go through.
    pub(super) fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    /// The token of the data that it was opened on: gone where that data is.
    pub(super) fn born(&self) -> &str {
        &self.born
    }

    /// The shard's own item.
    pub(super) fn shard(&self) -> &Name {
        &self.shard
    }

    /// For the jitter of retries.
    pub(super) fn entropy(&self) -> &dyn Entropy {
        &*self.entropy
    }

    /// Asks the server about itself.
    pub(super) async fn about(&mut self) -> Result<About, Fault> {
        let stats = self.wire.stats("").await?;
        let settings = self.wire.stats("settings").await?;
        let told = |name: &&str| Some(((*name).to_owned(), of(&settings, name)?.to_owned()));
        let settings = ["maxbytes", "evictions", "memory_file"].iter().filter_map(told).collect();
        Ok(About {
            clock_ms: number(&stats, "time")? * 1000,
            evictions: number(&stats, "evictions")?,
            version: format!("memcached {}", of(&stats, "version").unwrap_or_default()),
            durability: Durability { class: DurabilityClass::Volatile, settings },
        })
    }
}

/// The token of this data, left by whoever came first.
async fn born(wire: &mut Wire, shard: &Name, entropy: &dyn Entropy) -> Result<String, Fault> {
    let fresh = ShardItem { born: format!("{:016x}", entropy.bits()), ..ShardItem::default() };
    wire.set(shard, fresh.text().as_bytes(), When::Absent).await?;
    let held = wire.get(shard).await?.map(|found| found.data);
    match ShardItem::of(held.as_deref())?.born {
        born if born.is_empty() => Err(Fault::away("the server evicts what was written a moment ago")),
        born => Ok(born),
    }
}

/// The server's process and the second of its start.
fn speaker(stats: &[(String, String)]) -> Result<String, Fault> {
    let started = number(stats, "time")?.saturating_sub(number(stats, "uptime")?);
    Ok(format!("memcached {} {started}", number(stats, "pid")?))
}

fn of<'a>(stats: &'a [(String, String)], name: &str) -> Option<&'a str> {
    stats.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
}

fn number(stats: &[(String, String)], name: &str) -> Result<u64, Fault> {
    let found = of(stats, name).and_then(|value| value.parse().ok());
    found.ok_or_else(|| {
        Fault::refused(format!("stats has no number {name}: memcached itself is needed, and no proxy"))
    })
}
