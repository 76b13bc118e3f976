//! MySQL server address and driver options.

use std::time::Duration;

use mysql_async::{Conn, DriverError, Error, Opts, OptsBuilder, SslOpts, prelude::Queryable as _};

use super::{connection::Connection, tables::Tables};
use crate::net::{Fault, Purpose, Server, ServerOptions, Tls};

/// Prepared statements per connection: one for each table of the busiest keys, and the common ones.
const STATEMENTS_KEPT: usize = 96;

/// The longest packet sent, in bytes. A server with a lower limit reports it.
const PACKET_MAX: usize = 64 << 20;

/// A database of a server, and the tables in it.
pub struct MysqlServer {
    pub(super) options: ServerOptions,
    pub(super) tables: &'static Tables,
}

/// Connects to tables of another program, which are not written.
pub(crate) async fn connect_to_read(options: &ServerOptions) -> Result<Conn, Fault> {
    let mut connection = connect(options).await?;
    connection.query_drop("SET SESSION TRANSACTION READ ONLY").await?;
    // A table that another session has locked ends the reading, which would wait for a day.
    connection.query_drop("SET SESSION lock_wait_timeout = 10").await?;
    Ok(connection)
}

/// Connects, with or without TLS.
pub(super) async fn connect(options: &ServerOptions) -> Result<Conn, Fault> {
    // Sets the TLS provider. An error means that it is set already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let is_encrypted = options.tls != Tls::Off;
    match Conn::new(driver_options(options, is_encrypted).await?).await {
        Err(Error::Driver(DriverError::NoClientSslFlagFromServer)) => match options.tls {
            Tls::Prefer => Ok(Conn::new(driver_options(options, false).await?).await?),
            _ => Err(Fault::refused("TLS is demanded, and the server does not speak it")),
        },
        other => Ok(other?),
    }
}

async fn driver_options(options: &ServerOptions, is_encrypted: bool) -> Result<Opts, Fault> {
    let url = &options.url;
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
        // Affected rows then count matched rows: 1 is success and 0 is refusal, even if a statement changes no
        // value.
        .client_found_rows(true)
        // Options that save the driver's queries at each connect.
        .prefer_socket(false)
        .max_allowed_packet(Some(PACKET_MAX))
        .wait_timeout(Some(0))
        .stmt_cache_size(STATEMENTS_KEPT)
        .ssl_opts(ssl);
    Ok(builder.into())
}

impl Server for MysqlServer {
    type Connection = Connection;

    async fn connect(&self, purpose: Purpose) -> Result<Connection, Fault> {
        Connection::open(self, purpose).await
    }

    fn shown(&self) -> String {
        format!("{} {}", self.tables.kind, self.options.url)
    }

    /// The connect and the first use have separate time limits.
    fn connect_timeout(&self) -> Option<Duration> {
        None
    }

    fn options(&self) -> &ServerOptions {
        &self.options
    }
}
