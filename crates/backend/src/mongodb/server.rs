//! MongoDB server address, login, TLS, and driver options without retries.

use std::time::Duration;

use mongodb::options::{
    ClientOptions, Credential, ServerAddress, ServerMonitoringMode, Tls as DriverTls, TlsOptions,
};

use super::connection::Connection;
use crate::net::{Fault, Purpose, Server, ServerOptions, Tls};

/// Shortest interval of the driver's server checks.
const HEARTBEAT_LEAST: Duration = Duration::from_millis(500);

/// A server reached by these options. The driver watches each connection over a second one.
pub struct MongodbServer {
    pub(super) options: ServerOptions,
}

impl Server for MongodbServer {
    type Connection = Connection;

    async fn connect(&self, purpose: Purpose) -> Result<Connection, Fault> {
        Connection::open(&self.options, purpose).await
    }

    fn shown(&self) -> String {
        format!("store {}", self.options.url)
    }

    fn options(&self) -> &ServerOptions {
        &self.options
    }
}

/// The driver's options. The password is read anew each time, so an operator can change it under a running process.
pub(super) async fn driver_options(options: &ServerOptions) -> Result<ClientOptions, Fault> {
    let mut driver = ClientOptions::default();
    driver.hosts =
        vec![ServerAddress::Tcp { host: options.url.host().to_owned(), port: Some(options.url.port()) }];
    driver.app_name = Some("sequent".to_owned());
    driver.credential = Some(credential(options).await?);
    // Only this server, whatever replica set it reports. Its role is checked after connecting.
    driver.direct_connection = Some(true);
    driver.connect_timeout = Some(options.connect_timeout);
    driver.server_selection_timeout = Some(options.connect_timeout);
    driver.heartbeat_freq = Some(options.keep_alive.max(HEARTBEAT_LEAST));
    driver.server_monitoring_mode = Some(ServerMonitoringMode::Poll);
    driver.max_pool_size = Some(1);
    // A call without an answer may have been done. The layers above decide whether to repeat it.
    driver.retry_reads = Some(false);
    driver.retry_writes = Some(false);
    driver.tls = Some(tls(options));
    Ok(driver)
}

/// The credentials. The user belongs to the database, or to the one that `authSource` names.
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
