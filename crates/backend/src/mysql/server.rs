//! Where a server is, and what the driver is told.

use std::time::Duration;

use mysql_async::{Conn, DriverError, Error, Opts, OptsBuilder, SslOpts};

use super::{connection::Connection, tables::Tables};
use crate::net::{Fault, Server, ServerOptions, Tls};

/// Prepared statements that a connection keeps: one for each table of the keys that are asked again and again, and the others.
const STATEMENTS_KEPT: usize = 96;

/// The longest packet that is sent; the server may take less, and says so.
const PACKET_MAX: usize = 64 << 20;

/// A database of a server, and what its tables are for.
pub struct MysqlServer {
    pub(super) options: ServerOptions,
    pub(super) tables: &'static Tables,
}

impl MysqlServer {
    /// Connects, encrypted or not.
    pub(super) async fn driver_connection(&self) -> Result<Conn, Fault> {
        // The one provider that is linked in; whoever was first has set it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let is_encrypted = self.options.tls != Tls::Off;
        match Conn::new(self.driver_options(is_encrypted).await?).await {
            Err(Error::Driver(DriverError::NoClientSslFlagFromServer)) => match self.options.tls {
                Tls::Prefer => Ok(Conn::new(self.driver_options(false).await?).await?),
                _ => Err(Fault::refused("TLS is demanded, and the server does not speak it")),
            },
            other => Ok(other?),
        }
    }

    async fn driver_options(&self, is_encrypted: bool) -> Result<Opts, Fault> {
        let (options, url) = (&self.options, &self.options.url);
        let own = if is_encrypted { options.authority().await? } else { None };
        let ssl = is_encrypted.then(|| {
            SslOpts::default()
                .with_disable_built_in_roots(own.is_some())
                .with_root_certs(own.map(Into::into).into_iter().collect())
        });
        let builder = OptsBuilder::default()
            .ip_or_hostname(url.host().to_owned())
            .tcp_port(url.port())
            .user(url.user())
            .pass(options.password().await?)
            .db_name(Some(url.path()))
            .tcp_keepalive(Some(options.keep_alive))
            .tcp_nodelay(true)
            // Then 1 row is done and 0 is refused, also where a statement changes nothing.
            .client_found_rows(true)
            // What the driver would otherwise ask the server for at each connecting.
            .prefer_socket(false)
            .max_allowed_packet(Some(PACKET_MAX))
            .wait_timeout(Some(0))
            .stmt_cache_size(STATEMENTS_KEPT)
            .ssl_opts(ssl);
        Ok(builder.into())
    }
}

impl Server for MysqlServer {
    type Connection = Connection;

    async fn connect(&self, is_known: bool) -> Result<Connection, Fault> {
        Connection::open(self, self.options.create && !is_known).await
    }

    async fn connect_to_look(&self) -> Result<Connection, Fault> {
        Connection::open_to_look(self).await
    }

    fn shown(&self) -> String {
        format!("{} {}", self.tables.kind, self.options.url)
    }

    /// Connecting and the first look have each a limit of their own.
    fn connect_timeout(&self) -> Option<Duration> {
        None
    }

    fn options(&self) -> &ServerOptions {
        &self.options
    }
}
