//! Memcached connection: opened, with the instance and token read.

use sequent_core::{Entropy, InstanceId};

use super::{
    codec::{When, Wire},
    entry::ShardItem,
    key_names::Name,
    server::MemcachedServer,
    stats::process,
};
use crate::net::{self, Fault, Owner, Purpose, Server, ServerOptions};

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// The stream for commands.
    pub(super) wire: Wire,
    instance: InstanceId,
    /// The token of the data on which it was opened. It is lost together with that data.
    pub(super) token: String,
    /// The name of the shard's own item.
    pub(super) shard: Name,
    /// The slot whose store it is.
    pub(super) owner: Owner,
}

impl Server for MemcachedServer {
    type Connection = Connection;

    /// Data without a token gets one even if this process has connected before: a changed token shows a flush.
    async fn connect(&self, purpose: Purpose) -> Result<Connection, Fault> {
        let mut wire = self.wire().await?;
        let (process, shard) = (process(&mut wire).await?, Name::of_shard(&self.owner));
        let token = match purpose {
            Purpose::Look => read_token(&mut wire, &shard).await?,
            _ => leave_token(&mut wire, &shard, &*self.options.env.entropy).await?,
        };
        let instance = InstanceId::new(format!("{process} {token}"));
        Ok(Connection { wire, instance, token, shard, owner: self.owner.clone() })
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

/// The token of this data; empty if there is none.
async fn read_token(wire: &mut Wire, shard: &Name) -> Result<String, Fault> {
    Ok(ShardItem::of(wire.get(shard).await?.as_ref())?.born)
}

/// The token of this data. The first client writes it.
async fn leave_token(wire: &mut Wire, shard: &Name, entropy: &dyn Entropy) -> Result<String, Fault> {
    let fresh = ShardItem { born: format!("{:016x}", entropy.bits()), ..ShardItem::default() };
    wire.set(shard, fresh.text().as_bytes(), When::Absent).await?;
    match read_token(wire, shard).await? {
        token if token.is_empty() => Err(Fault::away("the server evicts what was written a moment ago")),
        token => Ok(token),
    }
}
