//! TLS of connections: the files of the options, read at each connecting, and the handshake.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    version::{TLS12, TLS13},
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::{error::Error, telemetry::client_metrics};

/// Limit on a file, in bytes: some hundred authorities.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Options of TLS. Without any, the server's certificate is verified by the authorities that the system trusts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsOptions {
    /// The authorities that sign servers' certificates, as PEM.
    pub ca_file: Option<PathBuf>,
    /// The certificate of this client with its intermediates, as PEM.
    pub cert_file: Option<PathBuf>,
    /// The key of that certificate, as PEM.
    pub key_file: Option<PathBuf>,
    /// The name that the server's certificate must have, instead of the host of the address.
    pub server_name: Option<String>,
}

impl TlsOptions {
    /// Whether none is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// TLS to servers: options, and what their files held when they were last sound.
pub struct ClientTls {
    options: TlsOptions,
    alpn: &'static [u8],
    sound: Mutex<Arc<ClientConfig>>,
}

impl ClientTls {
    /// Reads the files. `alpn` is the protocol that the connection will speak. The error names the option at fault.
    pub fn new(options: TlsOptions, alpn: &'static [u8]) -> Result<Arc<Self>, Error> {
        if let Some(name) = &options.server_name {
            name_of(name)?;
        }
        let sound = Mutex::new(Arc::new(config(&options, alpn)?));
        Ok(Arc::new(Self { options, alpn, sound }))
    }

    /// Begins TLS on a connection to `host`.
    ///
    /// The files are read again, so that a renewed certificate is used. If they are faulty by now, the last sound
    /// ones are used, and the fault is counted.
    pub async fn connect(self: Arc<Self>, host: &str, socket: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let name = self.options.server_name.as_deref().unwrap_or(host);
        let name = name_of(name).map_err(io::Error::other)?;
        // This reads files, whose disks may hang.
        let config = tokio::task::spawn_blocking(move || self.read_again()).await?;
        TlsConnector::from(config).connect(name, socket).await
    }

    fn read_again(&self) -> Arc<ClientConfig> {
        let read = config(&self.options, self.alpn);
        let mut sound = self.sound.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(config) => *sound = Arc::new(config),
            Err(_) => client_metrics::tls_files_refused(),
        }
        Arc::clone(&sound)
    }
}

impl std::fmt::Debug for ClientTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientTls").field("options", &self.options).finish_non_exhaustive()
    }
}

fn config(options: &TlsOptions, alpn: &[u8]) -> Result<ClientConfig, Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_protocol_versions(&[&TLS13, &TLS12]);
    let builder = builder.map_err(|error| Error::field("tls", "ring", error))?;
    let builder = builder.with_root_certificates(authorities(options.ca_file.as_deref())?);
    let mut config = match (&options.cert_file, &options.key_file) {
        (None, None) => builder.with_no_client_auth(),
        (Some(cert_file), Some(key_file)) => {
            let (chain, key) = (certificates("tls_cert_file", cert_file)?, key(key_file)?);
            let pair = builder.with_client_auth_cert(chain, key);
            pair.map_err(|error| {
                let bound = format!("it and its key are refused as a pair: {error}");
                Error::field("tls_cert_file", shown(cert_file), bound)
            })?
        }
        (cert_file, _) => {
            let missing = if cert_file.is_none() { "tls_cert_file" } else { "tls_key_file" };
            return Err(Error::field(missing, "missing", "a certificate and its key are named together"));
        }
    };
    config.alpn_protocols = vec![alpn.to_vec()];
    Ok(config)
}

/// The authorities of a file, or those that the system trusts.
fn authorities(file: Option<&Path>) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    let Some(file) = file else {
        // Of the system's certificates, those that can't be used are passed over.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return Ok(roots);
    };
    for authority in certificates("tls_ca_file", file)? {
        roots.add(authority).map_err(|error| Error::field("tls_ca_file", shown(file), error))?;
    }
    Ok(roots)
}

fn certificates(field: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let pem = contents(field, file)?;
    let found = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    let found = found.map_err(|error| Error::field(field, shown(file), format!("no PEM: {error}")))?;
    if found.is_empty() {
        return Err(Error::field(field, shown(file), "there is no certificate in PEM in it"));
    }
    Ok(found)
}

fn key(file: &Path) -> Result<PrivateKeyDer<'static>, Error> {
    let pem = contents("tls_key_file", file)?;
    PrivateKeyDer::from_pem_slice(&pem)
        .map_err(|_| Error::field("tls_key_file", shown(file), "there is no key in PEM in it"))
}

fn contents(field: &str, file: &Path) -> Result<Vec<u8>, Error> {
    let mut contents = Vec::new();
    let read = File::open(file).and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut contents));
    read.map_err(|error| Error::field(field, shown(file), format!("it can't be read: {error}")))?;
    Ok(contents)
}

fn name_of(name: &str) -> Result<ServerName<'static>, Error> {
    let bound = "a host name or an address is expected, as a certificate has it";
    ServerName::try_from(name.to_owned()).map_err(|_| Error::field("server_name", format!("{name:?}"), bound))
}

fn shown(file: &Path) -> String {
    format!("{:?}", file.display().to_string())
}
