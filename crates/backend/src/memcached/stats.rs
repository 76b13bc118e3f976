//! Statistics of a memcached server: process, clock, version and evictions.

use sequent_core::{Durability, DurabilityClass};

use super::codec::Wire;
use crate::net::Fault;

/// The statistics that a store reports.
pub(super) struct Stats {
    /// In whole seconds, rounded down.
    pub(super) clock_ms: u64,
    /// Items evicted since the server's start.
    pub(super) evictions: u64,
    pub(super) version: String,
    pub(super) durability: Durability,
}

impl Stats {
    pub(super) async fn of(wire: &mut Wire) -> Result<Self, Fault> {
        let stats = wire.stats("").await?;
        let settings = wire.stats("settings").await?;
        let told = |name: &&str| Some(((*name).to_owned(), value_of(&settings, name)?.to_owned()));
        let settings = ["maxbytes", "evictions", "memory_file"].iter().filter_map(told).collect();
        Ok(Self {
            clock_ms: number_of(&stats, "time")? * 1000,
            evictions: number_of(&stats, "evictions")?,
            version: format!("memcached {}", value_of(&stats, "version").unwrap_or_default()),
            durability: Durability { class: DurabilityClass::Volatile, settings },
        })
    }
}

/// The server's process and its start time in seconds.
pub(super) async fn process(wire: &mut Wire) -> Result<String, Fault> {
    let stats = wire.stats("").await?;
    let started = number_of(&stats, "time")?.saturating_sub(number_of(&stats, "uptime")?);
    Ok(format!("memcached {} {started}", number_of(&stats, "pid")?))
}

fn value_of<'a>(stats: &'a [(String, String)], name: &str) -> Option<&'a str> {
    stats.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
}

fn number_of(stats: &[(String, String)], name: &str) -> Result<u64, Fault> {
    let found = value_of(stats, name).and_then(|value| value.parse().ok());
    found.ok_or_else(|| {
        Fault::refused(format!("stats has no number {name}: memcached itself is needed, and no proxy"))
    })
}
