//! Memcached server address, login, and owner of the store.

use tokio::net::TcpStream;

use super::codec::Wire;
use crate::net::{Cause, Fault, Owner, ServerOptions};

/// A server, and the slot whose store it is.
#[derive(Debug)]
pub struct MemcachedServer {
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
