//! Redis server address, login and TLS.

use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo, TlsCertificates,
    aio::MultiplexedConnection,
    io::tcp::{TcpSettings, socket2::TcpKeepalive},
};

use crate::net::{Fault, Owner, ServerOptions, Tls, within};

/// A database of a server, and the slot whose store it is.
#[derive(Debug)]
pub struct RedisServer {
    pub(super) options: ServerOptions,
    pub(super) owner: Owner,
}

/// Connects to keys of another program, which are not written.
pub(crate) async fn connect_to_read(options: &ServerOptions) -> Result<MultiplexedConnection, Fault> {
    within(options.connect_timeout, connect(options)).await?
}

/// Opens a connection of the driver, logged in. The pool limits the time.
pub(super) async fn connect(options: &ServerOptions) -> Result<MultiplexedConnection, Fault> {
    let limits = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
    let client = client(options).await?;
    Ok(client.get_multiplexed_async_connection_with_config(&limits).await?)
}

/// The driver's client. Files are read anew each time, so an operator can change a password under a running
/// process.
async fn client(options: &ServerOptions) -> Result<Client, Fault> {
    let url = &options.url;
    let mut login = RedisConnectionInfo::default().set_db(i64::from(url.number())).set_skip_set_lib_name();
    if let Some(user) = url.user() {
        login = login.set_username(user);
    }
    let password = options.password().await?;
    // Without one, the driver would pass over the user.
    if let Some(password) = password.or_else(|| url.user().map(|_| String::new())) {
        login = login.set_password(password);
    }
    let probes = TcpKeepalive::new().with_time(options.keep_alive).with_interval(options.keep_alive);
    let tcp = TcpSettings::default().set_nodelay(true).set_keepalive(probes);
    let (host, port) = (url.host().to_owned(), url.port());
    let is_plain = options.tls == Tls::Off;
    let address = if is_plain {
        ConnectionAddr::Tcp(host, port)
    } else {
        ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None }
    };
    let info = address.into_connection_info()?.set_redis_settings(login).set_tcp_settings(tcp);
    if is_plain {
        return Ok(Client::open(info)?);
    }
    // Sets the TLS provider. An error means that it is set already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let certificates = TlsCertificates { client_tls: None, root_cert: options.authority().await? };
    // An invalid certificate does not go away by itself.
    Client::build_with_tls(info, certificates).map_err(|error| Fault::refused(error.to_string()))
}
