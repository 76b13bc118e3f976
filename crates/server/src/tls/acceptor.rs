//! The beginning of a connection: plaintext, or a handshake within a time limit.

use std::{io, sync::Arc};

use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_util::either::Either;

use super::{
    files::{Alpn, TlsConfig},
    limited_socket::LimitedSocket,
    peer::PeerCertificate,
    reload::ServerTls,
};
use crate::{
    limits::{HANDSHAKE_BYTES_MAX, HANDSHAKE_TIMEOUT},
    telemetry::tls_metrics::{Handshake, HandshakeMetrics},
};

/// The first byte of a handshake: a TLS record of that kind.
const HANDSHAKE_RECORD: u8 = 0x16;

/// A connection without or with TLS. Only the second is boxed.
pub(crate) type PeerStream = Either<TcpStream, Box<TlsStream<LimitedSocket<TcpStream>>>>;

/// A connection, and the certificate of its peer if it presented one.
pub(crate) type Accepted = (PeerStream, Option<Arc<PeerCertificate>>);

/// How connections of one listener begin.
pub(crate) struct Acceptor {
    tls: ServerTls,
    alpn: Alpn,
    metrics: HandshakeMetrics,
}

impl Acceptor {
    pub(crate) fn new(listener: &'static str, tls: ServerTls, alpn: Alpn) -> Self {
        Self { tls, alpn, metrics: HandshakeMetrics::new(listener) }
    }

    /// The stream of a connection; `None` if the peer left, or was refused.
    pub(crate) async fn accept(&self, socket: TcpStream) -> Option<Accepted> {
        let Some(tls) = self.tls.in_force() else { return Some((Either::Left(socket), None)) };
        let begun = timeout(HANDSHAKE_TIMEOUT, self.begin(&tls, socket)).await;
        let refused = match begun {
            Ok(Ok(accepted)) => return Some(accepted),
            Ok(Err(error)) => error,
            Err(_) => io::ErrorKind::TimedOut.into(),
        };
        match outcome(&refused) {
            Some(outcome) => self.metrics.count(outcome),
            None => return None,
        }
        tracing::debug!(error = %refused, "no TLS connection");
        None
    }

    async fn begin(&self, tls: &TlsConfig, socket: TcpStream) -> io::Result<Accepted> {
        let mut first = [0];
        if socket.peek(&mut first).await? == 0 {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if first != [HANDSHAKE_RECORD] {
            self.metrics.count(Handshake::Plaintext);
            if tls.allows_plaintext {
                return Ok((Either::Left(socket), None));
            }
            return Err(io::ErrorKind::Unsupported.into());
        }
        let acceptor = TlsAcceptor::from(Arc::clone(tls.offering(self.alpn)));
        let mut stream = acceptor.accept(LimitedSocket::new(socket, HANDSHAKE_BYTES_MAX)).await?;
        stream.get_mut().0.end_handshake();
        let certificate = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let peer = certificate.map(PeerCertificate::read).transpose().map_err(io::Error::other)?;
        self.metrics.count(Handshake::Done);
        if let Some(peer) = &peer {
            tracing::debug!(?peer, "connection with a client certificate");
        }
        Ok((Either::Right(Box::new(stream)), peer.map(Arc::new)))
    }
}

/// How a beginning that failed is counted. A peer that left without a byte is no failure, nor one that is counted
/// already.
fn outcome(error: &io::Error) -> Option<Handshake> {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    match (cause, error.kind()) {
        (Some(rustls::Error::NoCertificatesPresented | rustls::Error::InvalidCertificate(_)), _) => {
            Some(Handshake::Certificate)
        }
        (None, io::ErrorKind::TimedOut) => Some(Handshake::Timeout),
        (None, io::ErrorKind::ConnectionAborted | io::ErrorKind::Unsupported) => None,
        _ => Some(Handshake::Failed),
    }
}
