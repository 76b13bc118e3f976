//! TLS to a member: whom to trust, and who we are.

use std::{error::Error, path::PathBuf, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::options::Endpoint;
use crate::{papers, wire::Fault};

/// Papers for members that are reached by `https`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EtcdTls {
    /// Whom to trust, PEM; `None`: those that the system trusts.
    pub ca_file: Option<PathBuf>,
    /// Our own certificate, PEM, where members ask for one; with those that vouch for it.
    pub cert_file: Option<PathBuf>,
    /// Its private key, PEM.
    pub key_file: Option<PathBuf>,
}

/// What connections are secured with; the files are read anew each time.
pub(super) async fn connector(papers: &EtcdTls) -> Result<TlsConnector, Fault> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(refused)?;
    let builder = builder.with_root_certificates(trusted(papers).await?);
    let config = match (&papers.cert_file, &papers.key_file) {
        (Some(cert), Some(key)) => {
            let chain = papers::file("tls_cert_file", cert).await.map_err(Fault::refused)?;
            let secret = papers::file("tls_key_file", key).await.map_err(Fault::refused)?;
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

async fn trusted(papers: &EtcdTls) -> Result<RootCertStore, Fault> {
    let mut roots = RootCertStore::empty();
    let Some(path) = &papers.ca_file else {
        let found = tokio::task::spawn_blocking(rustls_native_certs::load_native_certs);
        roots.add_parsable_certificates(found.await.map_err(refused)?.certs);
        return Ok(roots);
    };
    let wrong = |cause: &dyn Error| Fault::refused(format!("tls_ca_file {}: {cause}", path.display()));
    let text = papers::authority(path).await.map_err(Fault::refused)?;
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|error| wrong(&error))?;
        roots.add(certificate).map_err(|error| wrong(&error))?;
    }
    if roots.is_empty() {
        return Err(Fault::refused(format!("tls_ca_file {}: holds no certificate", path.display())));
    }
    Ok(roots)
}

/// A stream to a member that has shown who it is.
pub(super) async fn secured(
    tls: &TlsConnector,
    endpoint: &Endpoint,
    stream: TcpStream,
) -> Result<TlsStream<TcpStream>, Fault> {
    let name = ServerName::try_from(endpoint.host.clone())
        .map_err(|error| Fault::refused(format!("host {:?}: {error}", endpoint.host)))?;
    tls.connect(name, stream).await.map_err(|error| match refusal(&error) {
        Some(cause) => Fault::refused(cause),
        None => Fault::away(error.to_string()),
    })
}

/// What TLS did not accept, on either side, where that is what ended a connection: no certificate mends itself.
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
