//! Memcached server address, login, and owner of the store.

use tokio::net::TcpStream;

use super::{codec::Wire, connection::Connection};
use crate::net::{Cause, Fault, Owner, Server, ServerOptions};

/// A server, and the slot whose store it is.
#[derive(Debug)]
pub(crate) struct MemcachedServer {
    pub(super) options: ServerOptions,
    pub(super) owner: Owner,
}

impl MemcachedServer {
    /// Connects, and logs in if there is a password. The password file is read anew each time, so an operator can
    /// change it under a running process.
    pub(super) async fn wire(&self) -> Result<Wire, Fault> {
        let url = &self.options.url;
        let away = |error: std::io::Error| Fault::away(Cause::of_io(&error));
        let stream = TcpStream::connect((url.host(), url.port())).await.map_err(away)?;
        stream.set_nodelay(true).map_err(away)?;
        let mut wire = Wire::new(stream);
        if let Some(password) = self.options.password().await? {
            wire.log_in(url.user().unwrap_or_default(), &password).await?;
        }
        Ok(wire)
    }
}

impl Server for MemcachedServer {
    type Connection = Connection;

    /// Data without a token gets one even if this process has connected before: a changed token shows a flush.
    async fn connect(&self, _is_known: bool) -> Result<Connection, Fault> {
        Connection::open(self).await
    }

    async fn connect_to_look(&self) -> Result<Connection, Fault> {
        Connection::open_to_look(self).await
    }

    fn options(&self) -> &ServerOptions {
        &self.options
    }
}
