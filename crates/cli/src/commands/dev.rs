//! `sequent dev`: an in-memory server for users' tests, on free ports by default.

use std::{net::SocketAddr, time::Duration};

use clap::Args;
use sequent_engine::config::{Config, Origin, Place};

use super::serve::serve;
use crate::{failure::Failure, open_cluster::Cluster};

const EXAMPLES: &str = "\
Examples:
  sequent dev                            any name is a sequence; its numbers start at 1
  sequent dev --json                     its addresses as one JSON object, for a script
  sequent dev --config sequent.toml      with the sequences defined there
  sequent dev --set listen.http=127.0.0.1:8080   that api there, the others on free ports

Each api takes a free loopback port, unless --set, the environment (SEQUENT_LISTEN_HTTP) or the file says where.

Nothing is written anywhere: with the process go its numbers, and the next one starts at 1 again. SIGTERM and \
SIGINT end it: at once, or after a second where a request is in work.";

/// How long an ending server waits for requests in progress, because test runs wait for its end.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Serve a cluster in memory on free loopback ports, for tests
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Dev {}

impl Dev {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        serve(cluster, in_memory(cluster.config()?), false).await
    }
}

/// The same definitions and limits, with every store in memory, and a free port for each listener that is not
/// configured.
fn in_memory(mut config: Config) -> Config {
    let mut shards = config.shards_of(config.first_layout());
    for shard in &mut shards {
        shard.place = Place::Memory;
    }
    config.shards = Some(shards);
    config.ledger.place = Place::Memory;
    config.ring.allow_volatile = true;
    // A volatile ledger is accepted: dense sequences also last only as long as the process.
    config.ledger.allow_lossy = true;
    config.embedded = false;
    // The temporary directory exists, so that none is made.
    config.data = ".".into();
    config.limits.drain_delay = Duration::ZERO;
    config.limits.drain_timeout = config.limits.drain_timeout.min(DRAIN_TIMEOUT);
    let free = SocketAddr::from(([127, 0, 0, 1], 0));
    let keys = ["listen.grpc", "listen.http", "listen.redis", "listen.admin"];
    let chosen = keys.map(|key| is_chosen(&config, key));
    let listen = &mut config.listen;
    let addresses = [&mut listen.grpc, &mut listen.http, &mut listen.redis, &mut listen.admin];
    for (address, chosen) in addresses.into_iter().zip(chosen) {
        if !chosen {
            *address = free;
        }
    }
    config
}

/// Whether this key is set.
fn is_chosen(config: &Config, key: &str) -> bool {
    config.shown().iter().any(|shown| shown.key == key && shown.origin != Origin::Default)
}
