//! How a server is reached, and how much of it is used.

use std::{path::PathBuf, sync::Arc, time::Duration};

use redis::{
    Client, ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo, TlsCertificates,
    io::tcp::{TcpSettings, socket2::TcpKeepalive},
};
use sequent_core::{Clock, Entropy, ErrorKind, OsEntropy, SourceError, SystemClock};

use crate::{
    papers,
    wire::{Address, Fault, Owner, Password},
};

/// Words of a URL.
const SCHEMES: [&str; 2] = ["redis", "valkey"];
const EXPECTED: &str = "redis://user:password@host:6379/0";
const PORT: u16 = 6379;

/// The highest number of a database that is taken: servers have sixteen unless told otherwise.
const DATABASE_MAX: u32 = 1_000_000;

/// TLS to a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RedisTls {
    /// None.
    #[default]
    Off,
    /// Always, and the certificate is the host's.
    Verify {
        /// Whom to trust, PEM; `None`: those that the system trusts.
        ca_file: Option<PathBuf>,
    },
}

/// How a store on Redis or Valkey is opened.
#[derive(Debug, Clone)]
pub struct RedisOptions {
    /// The host's name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The number of the database.
    pub database: u32,
    /// The user; `None`: the default one.
    pub user: Option<String>,
    /// Its password.
    pub password: Password,
    /// TLS.
    pub tls: RedisTls,
    /// Connections at once: 1 to [`CONNECTIONS_MAX`](Self::CONNECTIONS_MAX).
    pub connections_max: usize,
    /// How long one may take to be connected and logged in.
    pub connect_limit: Duration,
    /// After how long a silence the kernel asks whether the server is still there.
    pub keep_alive: Duration,
    /// For the token of new data.
    pub entropy: Arc<dyn Entropy>,
    /// For the age of idle connections. The clock that is reported is the server's.
    pub clock: Arc<dyn Clock>,
}

impl RedisOptions {
    /// The most connections that one store may hold.
    pub const CONNECTIONS_MAX: usize = 256;

    /// What `redis://user:password@host:port/database` says (`valkey://` is the same); the rest as by default: eight
    /// connections, 800 ms to connect, keep-alive after 15 s, no TLS.
    ///
    /// # Errors
    ///
    /// `Refused`, naming what is wrong, and never the text of the URL.
    pub fn from_url(url: &str) -> Result<Self, SourceError> {
        let Address { host, port, user, password, path } = Address::parse(url, &SCHEMES, PORT, EXPECTED)?;
        let database = match path.as_str() {
            "" => Some(0),
            number => number.parse().ok().filter(|number| *number <= DATABASE_MAX),
        };
        let database = database.ok_or_else(|| {
            let context = format!(
                "url of a server: its database is no number of 0 to {DATABASE_MAX}, expected {EXPECTED}"
            );
            SourceError::new(ErrorKind::Refused, context)
        })?;
        Ok(Self {
            host,
            port,
            database,
            user,
            password,
            tls: RedisTls::Off,
            connections_max: 8,
            connect_limit: Duration::from_millis(800),
            keep_alive: Duration::from_secs(15),
            entropy: Arc::new(OsEntropy),
            clock: Arc::new(SystemClock),
        })
    }

    /// Where the server is and who asks, without what is secret.
    pub fn address(&self) -> String {
        let Self { host, port, user, .. } = self.clone();
        let address = Address { host, port, user, password: Password::None, path: String::new() };
        format!("{}/{}", address.shown("redis"), self.database)
    }

    /// The driver's own client. Files are read anew each time, so a password can be changed under a running process.
    pub(super) async fn client(&self) -> Result<Client, Fault> {
        let (host, port) = (self.host.clone(), self.port);
        let mut login =
            RedisConnectionInfo::default().set_db(i64::from(self.database)).set_skip_set_lib_name();
        if let Some(user) = &self.user {
            login = login.set_username(user);
        }
        if let Some(password) = self.password.read().await? {
            login = login.set_password(password);
        }
        let tcp = TcpSettings::default()
            .set_nodelay(true)
            .set_keepalive(TcpKeepalive::new().with_time(self.keep_alive).with_interval(self.keep_alive));
        let address = match &self.tls {
            RedisTls::Off => ConnectionAddr::Tcp(host, port),
            RedisTls::Verify { .. } => {
                ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None }
            }
        };
        let info = address.into_connection_info()?.set_redis_settings(login).set_tcp_settings(tcp);
        let RedisTls::Verify { ca_file } = &self.tls else { return Ok(Client::open(info)?) };
        // The one provider that is linked in; whoever was first has set it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let root_cert = match ca_file {
            Some(path) => Some(papers::authority(path).await.map_err(Fault::refused)?),
            None => None,
        };
        Ok(Client::build_with_tls(info, TlsCertificates { client_tls: None, root_cert })?)
    }
}

/// A store of this owner on that server.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) options: RedisOptions,
    pub(super) owner: Owner,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_database_and_no_secret_is_printed() {
        let options = RedisOptions::from_url("valkey://u:geheim@h/3").unwrap();
        assert_eq!((options.database, options.address().as_str()), (3, "redis://u@h:6379/3"));
        assert!(!format!("{options:?}").contains("geheim"));
        for bad in
            ["redis://u:geheim@h/x", "redis://u:geheim@h/-1", "rediss://u:geheim@h", "redis://u:geheim@h/1/2"]
        {
            let said = RedisOptions::from_url(bad).unwrap_err().to_string();
            assert!(said.contains(EXPECTED) && !said.contains("geheim"), "{said}");
        }
    }
}
