//! TLS of etcd connections: trusted authorities and the client certificate.

use std::{error::Error, path::PathBuf, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::net::{Cause, Fault, Host, ServerOptions, files};

/// The TLS settings of a connection. The files are read anew each time.
pub(super) async fn connector(options: &ServerOptions) -> Result<TlsConnector, Fault> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(refused)?;
    let builder = builder.with_root_certificates(trusted(options).await?);
    let config = match (&options.tls_cert_file, &options.tls_key_file) {
        (Some(cert), Some(key)) => {
            let chain = files::pem("tls_cert_file", cert).await.map_err(Fault::refused)?;
            let secret = files::pem("tls_key_file", key).await.map_err(Fault::refused)?;
            let wrong = |key: &str, path: &PathBuf, cause: &dyn Error| {
                Fault::refused(format!("{key} {}: {cause}", path.display()))
            };
            let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&chain).collect();
            let chain = chain.map_err(|error| wrong("tls_cert_file", cert, &error))?;
            let secret =
                PrivateKeyDer::from_pem_slice(&secret).map_err(|error| wrong("tls_key_file", key, &error))?;
            builder
                .with_client_auth_cert(chain, secret)
                .map_err(|error| wrong("tls_cert_file", cert, &error))?
        }
        (None, None) => builder.with_no_client_auth(),
        _ => return Err(Fault::refused("of tls_cert_file and tls_key_file one is named, expected both")),
    };
    Ok(TlsConnector::from(Arc::new(config)))
}

async fn trusted(options: &ServerOptions) -> Result<RootCertStore, Fault> {
    let mut roots = RootCertStore::empty();
    let Some(path) = &options.tls_ca_file else {
        let found = tokio::task::spawn_blocking(rustls_native_certs::load_native_certs);
        roots.add_parsable_certificates(found.await.map_err(refused)?.certs);
        return Ok(roots);
    };
    let wrong = |cause: &dyn Error| Fault::refused(format!("tls_ca_file {}: {cause}", path.display()));
    let text = options.authority().await?.unwrap_or_default();
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|error| wrong(&error))?;
        roots.add(certificate).map_err(|error| wrong(&error))?;
    }
    if roots.is_empty() {
        return Err(Fault::refused(format!("tls_ca_file {}: holds no certificate", path.display())));
    }
    Ok(roots)
}

/// A TLS stream to a member whose certificate is valid.
pub(super) async fn secured(
    tls: &TlsConnector,
    host: &Host,
    stream: TcpStream,
) -> Result<TlsStream<TcpStream>, Fault> {
    let name = ServerName::try_from(host.name.clone())
        .map_err(|error| Fault::refused(format!("host {:?}: {error}", host.name)))?;
    tls.connect(name, stream).await.map_err(|error| match refusal(&error) {
        Some(cause) => Fault::refused(cause),
        None => Fault::away(Cause::of_io(&error)),
    })
}

/// The TLS error that ended a connection, from either side. A rejected certificate does not become valid by itself.
pub(super) fn refusal(error: &(dyn Error + 'static)) -> Option<String> {
    let mut at = Some(error);
    while let Some(found) = at {
        if let Some(tls) = found.downcast_ref::<std::io::Error>().and_then(|io| io.get_ref()) {
            let tls = tls.downcast_ref::<rustls::Error>();
            if let Some(rustls::Error::InvalidCertificate(_) | rustls::Error::AlertReceived(_)) = tls {
                return Some(format!("TLS: {}", tls.map(ToString::to_string).unwrap_or_default()));
            }
        }
        at = found.source();
    }
    None
}

fn refused(error: impl Error) -> Fault {
    Fault::refused(format!("TLS: {error}"))
}
