//! Fields of a certificate that TLS itself has no use for: names, and for how long it is valid.

use x509_cert::{
    Certificate,
    der::Decode,
    ext::pkix::{SubjectAltName, name::GeneralName},
};

/// The error of each function is a text for people.
pub(super) fn parse(der: &[u8]) -> Result<Certificate, String> {
    Certificate::from_der(der).map_err(|error| format!("a certificate can't be read: {error}"))
}

/// URI and DNS names. The common name counts for nothing, as in every browser. A URI without a colon and a DNS name with
/// one are none: by it the kinds are told apart.
pub(super) fn names(certificate: &Certificate) -> Result<Vec<String>, String> {
    let names = certificate.tbs_certificate().get_extension::<SubjectAltName>();
    let names = names.map_err(|error| format!("the names of a certificate can't be read: {error}"))?;
    let text = |name: GeneralName| match name {
        GeneralName::DnsName(name) => Some(name.to_string()).filter(|name| !name.contains(':')),
        GeneralName::UniformResourceIdentifier(name) => {
            Some(name.to_string()).filter(|name| name.contains(':'))
        }
        _ => None,
    };
    Ok(names.into_iter().flat_map(|(_, SubjectAltName(names))| names).filter_map(text).collect())
}

/// When it begins to be valid, in seconds since 1970.
pub(super) fn begins_s(certificate: &Certificate) -> u64 {
    certificate.tbs_certificate().validity().not_before.to_unix_duration().as_secs()
}

/// When it expires, in seconds since 1970.
pub(super) fn expires_s(certificate: &Certificate) -> u64 {
    certificate.tbs_certificate().validity().not_after.to_unix_duration().as_secs()
}
