//! Where a server is, and what the driver is told: address, login, TLS, and that it repeats nothing.

use std::{io::Read, path::Path, time::Duration};

use mongodb::options::{ClientOptions, Credential, ServerAddress, ServerMonitoringMode, Tls, TlsOptions};

use super::{MongodbOptions, MongodbTls, MongodbUrl, fault::Fault};

/// How many bytes a password file may have.
const PASSWORD_BYTES_MAX: u64 = 4096;

/// The driver asks a server no more often how it is.
const HEARTBEAT_LEAST: Duration = Duration::from_millis(500);

/// Where to connect, and as what.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) url: MongodbUrl,
    pub(super) options: MongodbOptions,
}

impl Target {
    /// What the driver is told. Files are read anew each time, so a password can be changed under a running process.
    pub(super) async fn driver_options(&self) -> Result<ClientOptions, Fault> {
        let Self { url, options } = self;
        let password = self.password().await?;
        let source = url.auth_source.clone().unwrap_or_else(|| url.login.database.clone());
        let credential =
            Credential::builder().username(url.login.user.clone()).password(password).source(source).build();
        let mut driver = ClientOptions::default();
        driver.hosts = vec![ServerAddress::Tcp { host: url.login.host.clone(), port: Some(url.login.port) }];
        driver.app_name = Some("sequent".to_owned());
        driver.credential = Some(credential);
        // This server, whatever it says of others; its role is looked at when the connection is known.
        driver.direct_connection = Some(true);
        driver.connect_timeout = Some(options.connect_limit);
        driver.server_selection_timeout = Some(options.connect_limit);
        driver.heartbeat_freq = Some(options.keep_alive.max(HEARTBEAT_LEAST));
        driver.server_monitoring_mode = Some(ServerMonitoringMode::Poll);
        driver.max_pool_size = Some(1);
        // A verb may have been done though no answer came: whether to repeat it is for rooms above.
        driver.retry_reads = Some(false);
        driver.retry_writes = Some(false);
        driver.tls = Some(match &options.tls {
            MongodbTls::Off => Tls::Disabled,
            MongodbTls::Unchecked => {
                Tls::Enabled(TlsOptions::builder().allow_invalid_certificates(true).build())
            }
            MongodbTls::Verified { ca_file } => {
                Tls::Enabled(TlsOptions::builder().ca_file_path(ca_file.clone()).build())
            }
        });
        Ok(driver)
    }

    async fn password(&self) -> Result<Option<String>, Fault> {
        let Some(path) = &self.options.password_file else { return Ok(self.url.login.password.clone()) };
        let bytes = read(path).await?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Fault::login(format!("password_file {}: not text", path.display())))?;
        Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
    }
}

/// A small file, whole.
async fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    let fault =
        |cause: &dyn std::fmt::Display| Fault::login(format!("password_file {}: {cause}", path.display()));
    let owned = path.to_owned();
    let load = move || {
        let mut bytes = Vec::new();
        std::fs::File::open(owned)?.take(PASSWORD_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        std::io::Result::Ok(bytes)
    };
    let bytes = tokio::task::spawn_blocking(load).await.map_err(|error| fault(&error))?;
    let bytes = bytes.map_err(|error| fault(&error))?;
    if bytes.len() as u64 > PASSWORD_BYTES_MAX {
        return Err(fault(&format!("longer than {PASSWORD_BYTES_MAX} bytes")));
    }
    Ok(bytes)
}
