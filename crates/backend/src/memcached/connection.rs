//! Memcached connection: opened, with the instance and token read.

use sequent_core::{Entropy, InstanceId};

use super::{
    codec::{When, Wire},
    entry::ShardItem,
    key_names::Name,
    server::MemcachedServer,
    stats::process,
};
use crate::net::{self, Fault, Owner, Server, ServerOptions};

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    wire: Wire,
    instance: InstanceId,
    /// The token of the data on which it was opened.
    token: String,
    /// The name of the shard's own item.
    shard: Name,
    owner: Owner,
}

impl Server for MemcachedServer {
    type Connection = Connection;

    /// Data without a token gets one even if this process has connected before: a changed token shows a flush.
    async fn connect(&self, _is_known: bool) -> Result<Connection, Fault> {
        let mut wire = self.wire().await?;
        let (process, shard) = (process(&mut wire).await?, Name::of_shard(&self.owner));
        let token = leave_token(&mut wire, &shard, &*self.options.env.entropy).await?;
        Ok(Connection::new(self, wire, &process, token, shard))
    }

    async fn connect_to_look(&self) -> Result<Connection, Fault> {
        let mut wire = self.wire().await?;
        let (process, shard) = (process(&mut wire).await?, Name::of_shard(&self.owner));
        let held = wire.get(&shard).await?.map(|found| found.data);
        let token = ShardItem::of(held.as_deref())?.born;
        Ok(Connection::new(self, wire, &process, token, shard))
    }

    fn options(&self) -> &ServerOptions {
        &self.options
    }
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
    fn new(server: &MemcachedServer, wire: Wire, process: &str, token: String, shard: Name) -> Self {
        let instance = InstanceId::new(format!("{process} {token}"));
        Self { wire, instance, token, shard, owner: server.owner.clone() }
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

    /// The slot whose store it is.
    pub(super) fn owner(&self) -> &Owner {
        &self.owner
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
