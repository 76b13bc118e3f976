//! HTTP/1.1 connection, plain or TLS: one request at a time, with a bounded answer.

use std::{error::Error, io, iter::successors, time::SystemTime};

use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, StatusCode,
    body::Bytes,
    client::conn::http1::{self, SendRequest},
    header::{AUTHORIZATION, CONTENT_TYPE, DATE, HOST},
};
use hyper_util::rt::TokioIo;
use sequent_core::Why;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    task::JoinSet,
};
use tokio_rustls::TlsConnector;

use super::tls;
use crate::net::{Cause, Fault, Host, cause_of};

/// The longest answer that is read, in bytes. A page of rows takes a twentieth of it.
const ANSWER_BYTES_MAX: usize = 32 << 20;

/// An open connection. Dropping it closes it, even with a request in flight.
pub(super) struct Http {
    sender: SendRequest<Full<Bytes>>,
    host: String,
    /// The task that reads and writes the connection. It ends with the connection's owner.
    _driver: JoinSet<()>,
}

/// A request.
pub(super) struct HttpRequest<'a> {
    pub(super) path: &'a str,
    /// The token of the login.
    pub(super) token: Option<&'a str>,
    /// The body of a POST; `None` for a GET.
    pub(super) body: Option<Vec<u8>>,
}

/// An answer.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    /// The member's wall clock, to the second.
    pub(super) date: Option<SystemTime>,
    pub(super) body: Bytes,
}

impl Http {
    pub(super) async fn connect(host: &Host, tls: Option<&TlsConnector>) -> Result<Self, Fault> {
        let address = (host.name.as_str(), host.port);
        let stream = TcpStream::connect(address).await.map_err(away)?;
        stream.set_nodelay(true).map_err(away)?;
        match tls {
            None => Self::over(stream, host).await,
            Some(tls) => Self::over(tls::secured(tls, host, stream).await?, host).await,
        }
    }

    async fn over<S>(stream: S, host: &Host) -> Result<Self, Fault>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(away)?;
        // The next request reports why the connection ended.
        let mut driver = JoinSet::new();
        driver.spawn(async move { drop(connection.await) });
        Ok(Self { sender, host: host.to_string(), _driver: driver })
    }

    pub(super) async fn ask(&mut self, request: HttpRequest<'_>) -> Result<Reply, Fault> {
        let HttpRequest { path, token, body } = request;
        let method = if body.is_some() { Method::POST } else { Method::GET };
        let mut request = Request::builder().method(method).uri(path).header(HOST, &self.host);
        request = request.header(CONTENT_TYPE, "application/json");
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, token);
        }
        let body = Full::new(Bytes::from(body.unwrap_or_default()));
        let request = request.body(body).map_err(|error| Fault::refused(format!("a request: {error}")))?;
        self.sender.ready().await.map_err(away)?;
        let response = self.sender.send_request(request).await.map_err(away)?;
        let date = response.headers().get(DATE).and_then(|date| date.to_str().ok());
        let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|error| Fault::away(cause(&*error)))?;
        Ok(Reply { status, date, body: body.to_bytes() })
    }

    /// Whether the connection is open, as far as this side knows.
    pub(super) fn is_open(&self) -> bool {
        !self.sender.is_closed()
    }
}

fn away(error: impl Error + 'static) -> Fault {
    if let Some(cause) = tls::refusal(&error) {
        return Fault::refused(cause);
    }
    Fault::away(cause(&error))
}

/// The text of an error with all its sources, and the reason that callers see.
fn cause(error: &(dyn Error + 'static)) -> Cause {
    let (mut text, mut told) = (error.to_string(), why(error));
    for below in successors(error.source(), |error| (*error).source()) {
        text = format!("{text}: {below}");
        told = told.or_else(|| why(below));
    }
    Cause::from(text).told(told)
}

fn why(error: &(dyn Error + 'static)) -> Option<Why> {
    if let Some(error) = error.downcast_ref::<hyper::Error>() {
        let is_lost = error.is_incomplete_message() || error.is_closed() || error.is_canceled();
        return is_lost.then_some(Why::ConnectionLost);
    }
    cause_of(error.downcast_ref::<io::Error>()?)
}
