//! Certificate, key and authorities, read and checked as one whole.

use std::{fs::File, io::Read, path::PathBuf, sync::Arc};

use rustls::{
    RootCertStore, ServerConfig,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{NoServerSessionStorage, WebPkiClientVerifier, danger::ClientCertVerifier},
    version::{TLS12, TLS13},
};
use sequent_core::{Clock, SystemClock};
use sequent_engine::config::{ClientAuth, Fault, Faults, TlsMode, TlsSection};

use super::{certificate, client_names::NamedClients};

/// Limit on a file, in bytes: some hundred authorities.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The key of the server's own certificate.
const CERT_FILE: &str = "cert_file";

/// Protocol that a listener offers by ALPN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alpn {
    /// gRPC.
    H2,
    /// HTTP/JSON, and the admin listener.
    Http1,
    /// Redis clients, which offer no protocol.
    Redis,
}

/// Certificate, key and authorities of `[tls]`, checked: the key belongs to the certificate.
#[derive(Debug)]
pub struct TlsFiles(pub(super) Option<TlsConfig>);

/// TLS as connections begin with it.
#[derive(Debug)]
pub(crate) struct TlsConfig {
    /// Whether a connection may begin with plaintext.
    pub(super) allows_plaintext: bool,
    h2: Arc<ServerConfig>,
    http1: Arc<ServerConfig>,
    redis: Arc<ServerConfig>,
    pub(super) expiries: Vec<Expiry>,
}

/// When the first certificate of a file expires.
#[derive(Debug, Clone)]
pub(super) struct Expiry {
    /// The key of `[tls]` that names the file.
    pub(super) key: &'static str,
    pub(super) path: PathBuf,
    pub(super) at_s: u64,
    /// When the first certificate in it, which is that of a server, begins to be valid, and when it expires.
    own_s: (u64, u64),
}

impl TlsConfig {
    /// Refuses a certificate of the server that has expired, or is not valid yet.
    fn valid_at(self, now_s: u64) -> Result<Self, Fault> {
        let own = self.expiries.iter().find(|expiry| expiry.key == CERT_FILE);
        let (begin_s, end_s) = own.map_or((0, u64::MAX), |own| own.own_s);
        let what = if now_s >= end_s {
            "has expired"
        } else if now_s < begin_s {
            "is not valid yet"
        } else {
            return Ok(self);
        };
        let bound = format!("it {what}: a certificate that is valid now is expected");
        Err(fault(CERT_FILE, own.map(|own| &own.path), &bound))
    }

    pub(super) fn offering(&self, alpn: Alpn) -> &Arc<ServerConfig> {
        match alpn {
            Alpn::H2 => &self.h2,
            Alpn::Http1 => &self.http1,
            Alpn::Redis => &self.redis,
        }
    }
}

impl TlsFiles {
    /// No files: plaintext alone is served.
    pub fn off() -> Self {
        Self(None)
    }

    /// Reads and checks the files of `[tls]`; nothing is read if it is off. All faults are reported at once. The server's
    /// certificate must be valid now.
    pub fn read(section: &TlsSection) -> Result<Self, Faults> {
        if section.mode == TlsMode::Off {
            return Ok(Self::off());
        }
        let mut faults = Vec::new();
        let chain = certificates(CERT_FILE, section.cert_file.as_ref(), &mut faults);
        let key = key("key_file", section.key_file.as_ref(), &mut faults);
        let authorities = if section.client_auth == ClientAuth::Off {
            None
        } else {
            certificates("client_ca_file", section.client_ca_file.as_ref(), &mut faults)
        };
        let files = chain.zip(key).filter(|_| faults.is_empty());
        let Some((chain, key)) = files else { return Err(Faults(faults)) };
        let config = config(section, chain, key, authorities.as_ref());
        let valid = config.and_then(|config| config.valid_at(SystemClock.wall_ms() / 1000));
        valid.map(|config| Self(Some(config))).map_err(|fault| Faults(vec![fault]))
    }
}

fn config(
    section: &TlsSection,
    (chain, expiry): (Vec<CertificateDer<'static>>, Expiry),
    key: PrivateKeyDer<'static>,
    authorities: Option<&(Vec<CertificateDer<'static>>, Expiry)>,
) -> Result<TlsConfig, Fault> {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_protocol_versions(&[&TLS13, &TLS12]);
    let builder = builder.map_err(|error| fault("mode", None, &error.to_string()))?;
    let builder = match authorities {
        None => builder.with_no_client_auth(),
        Some(authorities) => builder.with_client_cert_verifier(verifier(section, authorities, provider)?),
    };
    let mut config = builder.with_single_cert(chain, key).map_err(|error| {
        let bound = format!("it and tls.key_file are refused as a pair: {error}");
        fault(CERT_FILE, section.cert_file.as_ref(), &bound)
    })?;
    if section.client_auth != ClientAuth::Off {
        // A resumed session would not look at the client's certificate again.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
    }
    let offering = |protocol: &[u8]| {
        let mut config = config.clone();
        config.alpn_protocols = vec![protocol.to_vec()];
        Arc::new(config)
    };
    let authorities = authorities.map(|(_, expiry)| expiry.clone());
    Ok(TlsConfig {
        allows_plaintext: section.mode == TlsMode::Allow,
        h2: offering(b"h2"),
        http1: offering(b"http/1.1"),
        redis: Arc::new(config),
        expiries: [expiry].into_iter().chain(authorities).collect(),
    })
}

fn verifier(
    section: &TlsSection,
    (authorities, expiry): &(Vec<CertificateDer<'static>>, Expiry),
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, Fault> {
    let refused = |error: String| fault("client_ca_file", Some(&expiry.path), &error);
    let mut roots = RootCertStore::empty();
    for authority in authorities {
        roots.add(authority.clone()).map_err(|error| refused(error.to_string()))?;
    }
    let mut signed = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    if section.client_auth == ClientAuth::Optional {
        signed = signed.allow_unauthenticated();
    }
    let signed = signed.build().map_err(|error| refused(error.to_string()))?;
    Ok(Arc::new(NamedClients { signed, allowed: section.allowed() }))
}

/// The certificates of a file, and when the first of them expires; `None` after a fault.
fn certificates(
    key: &'static str,
    path: Option<&PathBuf>,
    faults: &mut Vec<Fault>,
) -> Option<(Vec<CertificateDer<'static>>, Expiry)> {
    let read = || {
        let pem = contents(path)?;
        let found = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
        let found = found.map_err(|error| format!("no PEM: {error}"))?;
        let parsed = found.iter().map(|der| certificate::parse(der)).collect::<Result<Vec<_>, String>>()?;
        let own = parsed.first().ok_or("there is no certificate in it")?;
        let own_s = (certificate::begins_s(own), certificate::expires_s(own));
        let at_s = parsed.iter().map(certificate::expires_s).fold(own_s.1, u64::min);
        Ok((found, (own_s, at_s)))
    };
    let found = read().map_err(|bound: String| faults.push(fault(key, path, &bound))).ok();
    let ((certificates, (own_s, at_s)), path) = found.zip(path)?;
    Some((certificates, Expiry { key, path: path.clone(), at_s, own_s }))
}

/// The key of a file; `None` after a fault, which holds nothing of the file.
fn key(key: &'static str, path: Option<&PathBuf>, faults: &mut Vec<Fault>) -> Option<PrivateKeyDer<'static>> {
    let read = || {
        let pem = contents(path)?;
        PrivateKeyDer::from_pem_slice(&pem).map_err(|_| "there is no key in PEM in it".to_owned())
    };
    read().map_err(|bound: String| faults.push(fault(key, path, &bound))).ok()
}

fn contents(path: Option<&PathBuf>) -> Result<Vec<u8>, String> {
    let path = path.ok_or("a file is expected")?;
    let mut contents = Vec::new();
    let read = File::open(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut contents));
    read.map_err(|error| format!("it can't be read: {error}"))?;
    Ok(contents)
}

fn fault(key: &str, path: Option<&PathBuf>, bound: &str) -> Fault {
    let value = path.map_or_else(|| "missing".to_owned(), |path| format!("\"{}\"", path.display()));
    Fault::new(format!("tls.{key}"), value, bound)
}
