//! HTTP/2 connection to one server, opened on demand.

use std::{
    process,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use http::{Request, Response, Uri, header};
use hyper::{
    body::Incoming,
    client::conn::http2::{Builder, SendRequest},
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use sequent_core::{BoxFuture, ErrorKind, SourceError};
use tokio::{
    net::TcpStream,
    sync::watch,
    time::{sleep, timeout},
};
use tokio_util::either::Either;
use tonic::{Code, Status, body::Body};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use crate::{
    client::{address::Address, options::Options},
    transport::{
        status::{foreign_status, is_graceful_goaway, with_grpc_status},
        tls::ClientTls,
        token_file::TokenFile,
    },
};

/// Service whose health is checked.
pub(super) const SERVICE: &str = "sequent.v1.Sequences";

/// Interval of pings on a silent connection, and how long the server has to answer. Pings detect a dead connection.
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// How long responses may arrive after the end of their connection.
///
/// A server that closes gracefully needs less, and an attempt has far more. Without this limit a request could wait
/// for ever: about one in 10^4 of those that are sent while the connection ends (hyper 1.12 with h2 0.4.20).
const LAST_ANSWERS: Duration = Duration::from_millis(100);

/// Server address with its current connection.
pub(super) struct ServerConnection {
    pub(super) address: Address,
    connect_timeout: Duration,
    identity: Option<Arc<str>>,
    /// The token that requests are sent with.
    pub(super) token: Option<Arc<TokenFile>>,
    /// Of an address with `https://`.
    tls: Option<Arc<ClientTls>>,
    current: Mutex<Option<Connection>>,
    /// Held by the task that connects. Others wait for its connection.
    connecting: tokio::sync::Mutex<()>,
}

/// Connection, and the process that opened it.
#[derive(Clone)]
struct Connection {
    sender: SendRequest<Body>,
    /// Closed together with the connection.
    open: watch::Receiver<()>,
    process: u32,
    state: Arc<ConnectionState>,
}

/// What its requests have found.
#[derive(Default)]
struct ConnectionState {
    /// A request was dropped before it has ended.
    abandoned: AtomicBool,
    /// The server has announced the end of the connection. The sender may notice that later than a request.
    ended: AtomicBool,
    /// At least one response has arrived.
    answered: AtomicBool,
}

impl Connection {
    fn is_usable(&self) -> bool {
        !self.is_closed() && !self.state.abandoned.load(Ordering::Relaxed)
    }

    fn is_closed(&self) -> bool {
        self.sender.is_closed() || self.state.ended.load(Ordering::Relaxed)
    }
}

impl ServerConnection {
    pub(super) fn new(address: Address, options: &Options, tls: Option<Arc<ClientTls>>) -> Self {
        let (current, connecting) = (Mutex::default(), tokio::sync::Mutex::default());
        let Options { connect_timeout, identity, token, .. } = options;
        let (connect_timeout, identity, token) = (*connect_timeout, identity.clone(), token.clone());
        let tls = tls.filter(|_| address.is_tls());
        Self { address, connect_timeout, identity, token, tls, current, connecting }
    }

    pub(super) fn origin(&self) -> Uri {
        self.address.origin.clone()
    }

    /// A channel on the current connection, or on a new one.
    pub(super) async fn channel(&self) -> Result<Channel, SourceError> {
        if let Some(connection) = self.usable() {
            return Ok(self.on(connection));
        }
        let _turn = self.connecting.lock().await;
        if let Some(connection) = self.usable() {
            return Ok(self.on(connection));
        }
        let connected = timeout(self.connect_timeout, self.connect_verified()).await;
        let connection = connected.unwrap_or_else(|_| {
            let text = format!("no connection within {} ms", self.connect_timeout.as_millis());
            Err(SourceError::new(ErrorKind::Unavailable, text))
        })?;
        *self.current() = Some(connection.clone());
        Ok(self.on(connection))
    }

    fn on(&self, connection: Connection) -> Channel {
        Channel { connection, token: self.token.clone() }
    }

    fn usable(&self) -> Option<Connection> {
        let mut current = self.current();
        if current.as_ref().is_some_and(|connection| connection.process != process::id()) {
            // The connection belongs to the parent process. Dropping it here would send GOAWAY on it.
            std::mem::forget(current.take());
        }
        current.take_if(|connection| !connection.is_usable());
        current.clone()
    }

    /// Opens a connection and verifies the identity of the cluster before anyone uses it.
    async fn connect_verified(&self) -> Result<Connection, SourceError> {
        let (sender, open) = self.connect().await?;
        let connection = Connection { sender, open, process: process::id(), state: Arc::default() };
        let Some(identity) = &self.identity else { return Ok(connection) };
        let channel = self.on(connection.clone());
        if is_serving(channel, self.origin(), format!("{SERVICE}/{identity}")).await? {
            return Ok(connection);
        }
        let text = format!("it is stopping, or of another cluster than {identity}");
        Err(SourceError::new(ErrorKind::Unavailable, text))
    }

    async fn connect(&self) -> Result<(SendRequest<Body>, watch::Receiver<()>), SourceError> {
        let failed = |what: &str, error: Box<dyn std::error::Error + Send + Sync>| {
            SourceError::new(ErrorKind::Unavailable, what).because(error)
        };
        let address = (self.address.host.as_str(), self.address.port);
        let stream = TcpStream::connect(address).await.map_err(|error| failed("connect", error.into()))?;
        stream.set_nodelay(true).map_err(|error| failed("connect", error.into()))?;
        let stream = match &self.tls {
            None => Either::Left(stream),
            Some(tls) => {
                let encrypted = Arc::clone(tls).connect(&self.address.host, stream).await;
                Either::Right(Box::new(encrypted.map_err(|error| failed("TLS handshake", error.into()))?))
            }
        };
        let handshake = Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(Some(PING_EVERY))
            .keep_alive_timeout(PING_TIMEOUT)
            .keep_alive_while_idle(true)
            .handshake(TokioIo::new(stream));
        let (sender, connection) = handshake.await.map_err(|error| failed("handshake", error.into()))?;
        // Ends with the connection, or with the last sender. Requests see the error.
        let (opened, open) = watch::channel(());
        tokio::spawn(async move {
            drop(connection.await);
            drop(opened);
        });
        Ok((sender, open))
    }

    fn current(&self) -> MutexGuard<'_, Option<Connection>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard of a request.
struct RequestGuard<'a> {
    state: &'a ConnectionState,
    has_ended: bool,
}

impl Drop for RequestGuard<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.state.abandoned.store(true, Ordering::Relaxed);
        }
    }
}

/// Connection for the generated gRPC clients.
#[derive(Clone)]
pub(crate) struct Channel {
    connection: Connection,
    token: Option<Arc<TokenFile>>,
}

impl Channel {
    /// The outcome of a request. If this is dropped before the request has ended, the state of the connection is
    /// unknown, and it is not used again.
    pub(super) async fn tracked<T>(
        &self,
        request: impl Future<Output = Result<T, Status>>,
    ) -> Result<T, Status> {
        let state = &*self.connection.state;
        let mut guard = RequestGuard { state, has_ended: false };
        let outcome = request.await;
        guard.has_ended = true;
        if outcome.is_ok() {
            state.answered.store(true, Ordering::Relaxed);
        }
        if outcome.as_ref().is_err_and(is_graceful_goaway) {
            self.end();
        }
        outcome
    }

    /// Marks the connection as ending, so that no request uses it.
    pub(super) fn end(&self) {
        self.connection.state.ended.store(true, Ordering::Relaxed);
    }

    /// Waits until the connection is closed and no more responses can arrive.
    pub(super) async fn wait_closed(&self) {
        let mut open = self.connection.open.clone();
        while open.changed().await.is_ok() {}
        sleep(LAST_ANSWERS).await;
    }

    /// Whether the server has ended the connection.
    pub(super) fn was_closed(&self) -> bool {
        self.connection.is_closed()
    }

    /// Whether a response has arrived on the connection, which proves that the server is up.
    pub(super) fn has_answered(&self) -> bool {
        self.connection.state.answered.load(Ordering::Relaxed)
    }
}

impl tower_service::Service<Request<Body>> for Channel {
    type Response = Response<Incoming>;
    type Error = hyper::Error;
    type Future = BoxFuture<'static, Result<Response<Incoming>, hyper::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), hyper::Error>> {
        self.connection.sender.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        if let Some(token) = &self.token {
            request.headers_mut().insert(header::AUTHORIZATION, token.header());
        }
        let answer = self.connection.sender.send_request(request);
        Box::pin(async move { answer.await.map(with_grpc_status) })
    }
}

/// Whether the health service reports this service as serving.
pub(super) async fn is_serving(channel: Channel, origin: Uri, service: String) -> Result<bool, SourceError> {
    let mut client = HealthClient::with_origin(channel.clone(), origin);
    match channel.tracked(client.check(HealthCheckRequest { service })).await {
        Ok(answer) => Ok(answer.into_inner().status == ServingStatus::Serving as i32),
        Err(status) if status.code() == Code::NotFound => Ok(false),
        Err(status) => Err(foreign_status(&status)),
    }
}
