//! Memcached connection, with the instance and token read when it was opened.

use std::time::Duration;

use sequent_core::{Entropy, Env, InstanceId};

use super::{
    codec::{When, Wire},
    entry::ShardItem,
    key_names::Name,
    server::MemcachedServer,
    stats::process,
};
use crate::net::{self, Fault};

/// The longest pause after a lost race. The pause is random up to it, so that equal clients do not collide again.
const PAUSE_MAX: Duration = Duration::from_millis(2);

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    wire: Wire,
    instance: InstanceId,
    /// The token of the data on which it was opened.
    token: String,
    /// The name of the shard's own item.
    shard: Name,
    env: Env,
}

impl net::Connection for Connection {
    fn instance(&self) -> &InstanceId {
        &self.instance
    }

    async fn ping(&mut self) -> Result<(), Fault> {
        self.wire.ping().await
    }
}

impl Connection {
    /// Connects and reads the instance.
    pub(super) async fn open(server: &MemcachedServer) -> Result<Self, Fault> {
        let mut wire = server.wire().await?;
        let (process, shard) = (process(&mut wire).await?, Name::of_shard(&server.owner));
        let token = leave_token(&mut wire, &shard, &*server.options.env.entropy).await?;
        Ok(Self::new(server, wire, &process, token, shard))
    }

    /// Connects for reading only: nothing is written.
    pub(super) async fn open_to_look(server: &MemcachedServer) -> Result<Self, Fault> {
        let mut wire = server.wire().await?;
        let (process, shard) = (process(&mut wire).await?, Name::of_shard(&server.owner));
        let held = wire.get(&shard).await?.map(|found| found.data);
        let token = ShardItem::of(held.as_deref())?.born;
        Ok(Self::new(server, wire, &process, token, shard))
    }

    fn new(server: &MemcachedServer, wire: Wire, process: &str, token: String, shard: Name) -> Self {
        let instance = InstanceId::new(format!("{process} {token}"));
        Self { wire, instance, token, shard, env: server.options.env.clone() }
    }

    /// The stream for commands.
    pub(super) fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    /// The token of the data on which it was opened. It is lost together with that data.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// The name of the shard's own item.
    pub(super) fn shard(&self) -> &Name {
        &self.shard
    }

    /// Pauses after a lost race.
    pub(super) async fn pause(&self) {
        tokio::time::sleep(PAUSE_MAX.mul_f64(self.env.entropy.fraction())).await;
    }
}

/// The token of this data. The first client writes it.
async fn leave_token(wire: &mut Wire, shard: &Name, entropy: &dyn Entropy) -> Result<String, Fault> {
    let fresh = ShardItem { born: format!("{:016x}", entropy.bits()), ..ShardItem::default() };
    wire.set(shard, fresh.text().as_bytes(), When::Absent).await?;
    let held = wire.get(shard).await?.map(|found| found.data);
    match ShardItem::of(held.as_deref())?.born {
        token if token.is_empty() => Err(Fault::away("the server evicts what was written a moment ago")),
        token => Ok(token),
    }
}
