//! Five MariaDB servers: a shard each of four, the ledger's is the fifth; and clusters over them, each in databases of its own.

use std::fmt::Write as _;

use sequent_backend::net::ServerOptions;
use sequent_benches::cpu_of;
use sequent_engine::{
    Engine, Options,
    config::{Config, Sources},
};
use sequent_testkit::servers::MariaDb;
use tempfile::TempDir;

/// n: 2^2 shards.
pub(crate) const SHARD_BITS: u8 = 2;

/// How many slots that is.
pub(crate) const SLOTS: usize = 1 << SHARD_BITS;

/// MariaDB's own defaults, where those of the test servers are smaller: a redo log of 8 MB would make a load of rows wait.
const SETTINGS: [(&str, &str); 2] = [("innodb-buffer-pool-size", "128M"), ("innodb-log-file-size", "96M")];

/// The servers.
pub(crate) struct Fleet {
    pub(crate) shards: [MariaDb; SLOTS],
    pub(crate) ledger: MariaDb,
    folder: TempDir,
}

/// A cluster over the fleet.
pub(crate) struct Site<'a> {
    /// Its databases' name, on each server.
    pub(crate) name: &'a str,
    pub(crate) store: &'a str,
    pub(crate) memory_bits: u8,
    /// Keys of the configuration that differ from their defaults.
    pub(crate) keys: &'a [(&'a str, String)],
}

impl Fleet {
    pub(crate) async fn start() -> Self {
        let start = || MariaDb::start_with(&SETTINGS);
        let (a, b, c, d, ledger) = tokio::join!(start(), start(), start(), start(), start());
        #[allow(clippy::panic, reason = "as the servers' own helpers do")]
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no folder: {error}"));
        Self { shards: [a, b, c, d], ledger, folder }
    }

    /// A fresh database of this name on every server.
    pub(crate) async fn databases(&self, name: &str) {
        for server in self.shards.iter().chain([&self.ledger]) {
            server.sql(&format!("CREATE DATABASE `{name}`")).await;
        }
    }

    /// How a shard's database is reached, or the ledger's (`None`).
    pub(crate) fn options(&self, slot: Option<usize>, name: &str) -> Result<ServerOptions, String> {
        let options = ServerOptions::from_url(&self.url(slot, name)).map_err(|error| error.to_string())?;
        Ok(ServerOptions { create: true, ..options })
    }

    pub(crate) fn url(&self, slot: Option<usize>, name: &str) -> String {
        let server = slot.and_then(|slot| self.shards.get(slot)).unwrap_or(&self.ledger);
        format!("mysql://root@{}/{name}", server.address())
    }

    /// Opens a new cluster.
    pub(crate) async fn open(&self, site: &Site<'_>) -> Result<Engine, String> {
        self.databases(site.name).await;
        let file = self.folder.path().join(format!("{}.toml", site.name));
        std::fs::write(&file, self.text(site)).map_err(|error| format!("{}: {error}", file.display()))?;
        let sources = Sources::embedded(self.folder.path().join(site.name)).file(file);
        let with = |sources: Sources, (key, value): &(&str, String)| sources.flag(key, value);
        let config = Config::load(&site.keys.iter().fold(sources, with));
        let config = config.map_err(|faults| faults.to_string())?;
        Engine::open(config, Options::default()).await.map_err(|error| error.to_string())
    }

    /// Processor time so far, in seconds: of this process, and of all servers.
    pub(crate) async fn cpu(&self) -> Result<(f64, f64), String> {
        let mut servers = 0.0;
        for server in self.shards.iter().chain([&self.ledger]) {
            if let Some(pid) = server.pid().await {
                servers += cpu_of(&pid.to_string())?.as_secs_f64();
            }
        }
        Ok((cpu_of("self")?.as_secs_f64(), servers))
    }

    fn text(&self, site: &Site<'_>) -> String {
        let Site { name, store, memory_bits, .. } = site;
        let mut text = format!(
            "cluster = \"{name}\"\nauto_create = [\"*\"]\n\
             [ring]\nshard_bits = {SHARD_BITS}\nmemory_bits = {memory_bits}\n\
             [ledger]\nstore = \"mysql\"\nurl = \"{}\"\n",
            self.url(None, name)
        );
        for slot in 0..SLOTS {
            let url = self.url(Some(slot), name);
            // Writing to a string does not fail.
            let _ = write!(text, "[[shard]]\nslot = {slot}\nstore = \"{store}\"\nurl = \"{url}\"\n");
        }
        text
    }
}
