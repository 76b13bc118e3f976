//! A server, and what the driver is told of it: address, login, TLS, and that it repeats nothing.

use std::time::Duration;

use mongodb::options::{
    ClientOptions, Credential, ServerAddress, ServerMonitoringMode, Tls as DriverTls, TlsOptions,
};

use super::connection::Connection;
use crate::net::{Fault, Server, ServerOptions, Tls};

/// The driver asks a server no more often how it is.
const HEARTBEAT_LEAST: Duration = Duration::from_millis(500);

/// A server that is reached as its options say. The driver watches each connection by another one.
pub(crate) struct MongodbServer {
    pub(super) options: ServerOptions,
}

impl Server for MongodbServer {
    type Connection = Connection;

    async fn connect(&self, is_known: bool) -> Result<Connection, Fault> {
        Connection::open(&self.options, self.options.create, is_known).await
    }

    async fn connect_to_look(&self) -> Result<Connection, Fault> {
        Connection::open(&self.options, false, false).await
    }

    fn shown(&self) -> String {
        format!("store {}", self.options.url)
    }

    fn options(&self) -> &ServerOptions {
        &self.options
    }
}

/// What the driver is told. The password is read anew each time, so it can be changed under a running process.
pub(super) async fn driver_options(options: &ServerOptions) -> Result<ClientOptions, Fault> {
    let mut driver = ClientOptions::default();
    driver.hosts =
        vec![ServerAddress::Tcp { host: options.url.host().to_owned(), port: Some(options.url.port()) }];
    driver.app_name = Some("sequent".to_owned());
    driver.credential = Some(credential(options).await?);
    // This server, whatever it says of others; its role is looked at when the connection is known.
    driver.direct_connection = Some(true);
    driver.connect_timeout = Some(options.connect_timeout);
    driver.server_selection_timeout = Some(options.connect_timeout);
    driver.heartbeat_freq = Some(options.keep_alive.max(HEARTBEAT_LEAST));
    driver.server_monitoring_mode = Some(ServerMonitoringMode::Poll);
    driver.max_pool_size = Some(1);
    // A call may have been done though no answer came: whether to repeat it is for the layers above.
    driver.retry_reads = Some(false);
    driver.retry_writes = Some(false);
    driver.tls = Some(tls(options));
    Ok(driver)
}

/// The user is one of the database, or of that which `authSource` names.
async fn credential(options: &ServerOptions) -> Result<Credential, Fault> {
    let url = &options.url;
    let mut credential = Credential::default();
    credential.username = url.user().map(str::to_owned);
    credential.password = options.password().await?;
    credential.source = Some(url.auth_source().unwrap_or(url.path()).to_owned());
    Ok(credential)
}

fn tls(options: &ServerOptions) -> DriverTls {
    match options.tls {
        Tls::Off | Tls::Prefer => DriverTls::Disabled,
        Tls::Require => DriverTls::Enabled(TlsOptions::builder().allow_invalid_certificates(true).build()),
        Tls::Verify => {
            DriverTls::Enabled(TlsOptions::builder().ca_file_path(options.tls_ca_file.clone()).build())
        }
    }
}
