//! Which clients are accepted: signed by a known authority, and with an allowed name.

use std::sync::Arc;

use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    pki_types::{CertificateDer, UnixTime},
    server::danger::{ClientCertVerified, ClientCertVerifier},
};
use sequent_engine::config::CertNames;

use super::peer::PeerCertificate;

/// Verifier of clients' certificates that demands an allowed name besides the signature.
///
/// The name is checked within the handshake, so that a client that is not allowed learns that from the alert.
#[derive(Debug)]
pub(super) struct NamedClients {
    pub(super) signed: Arc<dyn ClientCertVerifier>,
    pub(super) allowed: CertNames,
}

impl ClientCertVerifier for NamedClients {
    fn offer_client_auth(&self) -> bool {
        self.signed.offer_client_auth()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.signed.client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.signed.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self.signed.verify_client_cert(end_entity, intermediates, now)?;
        let peer = PeerCertificate::read(end_entity);
        let peer = peer.map_err(|_| Error::InvalidCertificate(CertificateError::BadEncoding))?;
        if peer.names.iter().any(|name| self.allowed.has(name)) {
            return Ok(verified);
        }
        tracing::debug!(?peer, "no name of a client's certificate is in tls.allowed_names");
        Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signed.supported_verify_schemes()
    }
}
