//! What the certificate of a client says.

use std::fmt;

use rustls::pki_types::CertificateDer;
use sha2::{Digest, Sha256};
use x509_cert::der::Encode;

use super::certificate;

/// What the certificate of a client says. It was verified in the handshake, and one of its names is allowed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PeerCertificate {
    /// URI and DNS names, in the order of the certificate.
    pub(crate) names: Vec<String>,
    /// SHA-256 of the public key with its algorithm (the DER of `SubjectPublicKeyInfo`). It survives a renewal that
    /// keeps the key.
    pub(crate) spki_sha256: [u8; 32],
}

impl PeerCertificate {
    /// Reads a certificate. The error is a text for people.
    pub(crate) fn read(der: &CertificateDer<'_>) -> Result<Self, String> {
        let certificate = certificate::parse(der)?;
        let key = certificate.tbs_certificate().subject_public_key_info().to_der();
        let key = key.map_err(|error| error.to_string())?;
        Ok(Self { names: certificate::names(&certificate)?, spki_sha256: Sha256::digest(key).into() })
    }
}

impl fmt::Debug for PeerCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, spki_sha256 ", self.names)?;
        self.spki_sha256.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_uri_and_dns_and_the_key_survives_a_renewal() {
        let key = rcgen::KeyPair::generate().unwrap();
        let with = |names: &[&str]| {
            let mut params = rcgen::CertificateParams::default();
            params.subject_alt_names = names
                .iter()
                .map(|name| match name.parse() {
                    Ok(ip) => rcgen::SanType::IpAddress(ip),
                    Err(_) if name.contains(':') => rcgen::SanType::URI((*name).try_into().unwrap()),
                    Err(_) => rcgen::SanType::DnsName((*name).try_into().unwrap()),
                })
                .collect();
            PeerCertificate::read(params.self_signed(&key).unwrap().der()).unwrap()
        };
        let peer = with(&["web.shop", "10.0.0.1", "spiffe://prod/ns/shop/sa/web"]);
        assert_eq!(peer.names, ["web.shop", "spiffe://prod/ns/shop/sa/web"], "an address is no name");
        let renewed = with(&[]);
        assert!(renewed.names.is_empty());
        assert_eq!(renewed.spki_sha256, peer.spki_sha256);
        let spki = rcgen::PublicKeyData::subject_public_key_info(&key);
        assert_eq!(peer.spki_sha256[..], Sha256::digest(spki)[..]);
    }
}
