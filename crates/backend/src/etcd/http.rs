//! One connection of HTTP/1.1, plain or under TLS: a request at a time, its answer within bounds.

use std::{error::Error, time::SystemTime};

use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, StatusCode,
    body::Bytes,
    client::conn::http1::{self, SendRequest},
    header::{AUTHORIZATION, CONTENT_TYPE, DATE, HOST},
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    task::JoinHandle,
};
use tokio_rustls::TlsConnector;

use super::{options::Endpoint, tls};
use crate::wire::Fault;

/// The longest answer that is read: a page of rows takes a twentieth of it.
const ANSWER_BYTES_MAX: usize = 32 << 20;

/// An open connection. Dropped, it is closed, whatever was on its way.
pub(super) struct Http {
    sender: SendRequest<Full<Bytes>>,
    host: String,
    driver: Driver,
}

/// Reads and writes for as long as its connection is wanted.
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What is asked.
pub(super) struct Ask<'a> {
    pub(super) path: &'a str,
    /// Who asks, as a login has told.
    pub(super) token: Option<&'a str>,
    /// What is sent; nothing is sent to read a page.
    pub(super) body: Option<Vec<u8>>,
}

/// What was answered.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    /// The wall clock of who answered, to the second.
    pub(super) date: Option<SystemTime>,
    pub(super) body: Bytes,
}

impl Http {
    pub(super) async fn connect(endpoint: &Endpoint, tls: Option<&TlsConnector>) -> Result<Self, Fault> {
        let address = (endpoint.host.as_str(), endpoint.port);
        let stream = TcpStream::connect(address).await.map_err(away)?;
        stream.set_nodelay(true).map_err(away)?;
        match tls.filter(|_| endpoint.is_secure) {
            None => Self::over(stream, endpoint).await,
            Some(tls) => Self::over(tls::secured(tls, endpoint, stream).await?, endpoint).await,
        }
    }

    async fn over<S>(stream: S, endpoint: &Endpoint) -> Result<Self, Fault>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(away)?;
        // Why it ended is told to whoever asks next.
        let driver = Driver(tokio::spawn(async move { drop(connection.await) }));
        Ok(Self { sender, host: endpoint.authority(), driver })
    }

    pub(super) async fn ask(&mut self, ask: Ask<'_>) -> Result<Reply, Fault> {
        let method = if ask.body.is_some() { Method::POST } else { Method::GET };
        let mut request = Request::builder().method(method).uri(ask.path).header(HOST, &self.host);
        request = request.header(CONTENT_TYPE, "application/json");
        if let Some(token) = ask.token {
            request = request.header(AUTHORIZATION, token);
        }
        let body = Full::new(Bytes::from(ask.body.unwrap_or_default()));
        let request = request.body(body).map_err(|error| Fault::refused(format!("a request: {error}")))?;
        self.sender.ready().await.map_err(away)?;
        let response = self.sender.send_request(request).await.map_err(away)?;
        let date = response.headers().get(DATE).and_then(|date| date.to_str().ok());
        let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|error| Fault::away(format!("an answer: {}", told(&*error))))?;
        Ok(Reply { status, date, body: body.to_bytes() })
    }

    /// Whether it can be asked again, as far as is known on this side.
    pub(super) fn is_open(&self) -> bool {
        !self.sender.is_closed() && !self.driver.0.is_finished()
    }
}

fn away(error: impl Error + 'static) -> Fault {
    if let Some(cause) = tls::refusal(&error) {
        return Fault::refused(cause);
    }
    Fault::away(told(&error))
}

/// An error with all that lies beneath it.
fn told(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(cause) = below {
        text = format!("{text}: {cause}");
        below = cause.source();
    }
    text
}
