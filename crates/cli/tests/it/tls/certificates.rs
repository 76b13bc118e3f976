//! Authorities and certificates, written as files.

use std::path::PathBuf;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose, SanType,
};

use crate::place::Place;

/// The name in the certificate of a client that is allowed.
pub(crate) const WEB: &str = "spiffe://prod/ns/shop/sa/web";

/// The same of one that is not.
pub(crate) const STRANGER: &str = "spiffe://prod/ns/bank/sa/web";

/// The names of a server's certificate.
pub(crate) const HOST: [&str; 2] = ["localhost", "127.0.0.1"];

/// When certificates expire, unless a test says otherwise: at the begin of this year.
pub(crate) const YEAR: i32 = 2040;

/// An authority that signs certificates.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name.push(DnType::CommonName, name);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate with these names until this year, and its key, as PEM.
    pub(crate) fn signs(&self, names: &[&str], year: i32) -> (String, String) {
        let mut params = CertificateParams::default();
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        let san = |name: &&str| match name.parse() {
            Ok(ip) => SanType::IpAddress(ip),
            Err(_) if name.contains(':') => SanType::URI((*name).try_into().unwrap()),
            Err(_) => SanType::DnsName((*name).try_into().unwrap()),
        };
        params.subject_alt_names = names.iter().map(san).collect();
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }

    /// The same as files: `NAME.crt` and `NAME.key`.
    pub(crate) fn writes(&self, place: &Place, name: &str, names: &[&str], year: i32) -> (PathBuf, PathBuf) {
        let (certificate, key) = self.signs(names, year);
        (place.write(&format!("{name}.crt"), &certificate), place.write(&format!("{name}.key"), &key))
    }
}

/// The flags of a server with TLS, with the files of this place: `tls.crt`, `tls.key`, `clients.crt`.
pub(crate) fn flags(place: &Place, mode: &str, client_auth: &str) -> Vec<String> {
    let file = |name: &str| place.path(name).display().to_string();
    let mut settings = vec![("mode", mode.to_owned())];
    if mode != "off" {
        settings.extend([
            ("cert_file", file("tls.crt")),
            ("key_file", file("tls.key")),
            ("client_auth", client_auth.to_owned()),
        ]);
    }
    if client_auth != "off" {
        settings.extend([
            ("client_ca_file", file("clients.crt")),
            ("allowed_names", "spiffe://prod/ns/shop/*".to_owned()),
        ]);
    }
    settings.into_iter().flat_map(|(key, value)| ["--set".to_owned(), format!("tls.{key}={value}")]).collect()
}
