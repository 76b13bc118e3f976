//! One connection: its protocol with every bound set, and its end.

use std::{convert::Infallible, error::Error, pin::pin, time::Duration};

use http::{Request, Response};
use http_body::Body;
use hyper::{
    body::Incoming,
    server::conn::{http1, http2},
    service::Service,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulConnection,
};
use sequent_core::{Entropy, OsEntropy};
use tokio::net::TcpStream;

use crate::{
    aside::Aside,
    bounds::{
        AGE_GRACE, BUFFER_MAX, CONNECTION_AGE, CONNECTION_WINDOW, HEAD_TIMEOUT, HEADER_LINES_MAX,
        HEADERS_MAX, LOCAL_RESETS_MAX, PENDING_RESETS_MAX, PING_EVERY, PING_TIMEOUT, SEND_BUFFER_MAX,
        STREAM_WINDOW, STREAMS_MAX,
    },
    inline::Inline,
    phase::{Phase, Phases},
    stream::Watched,
};

/// What a listener's connections speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// HTTP/1.1, one request at a time.
    Http1,
    /// HTTP/2 without TLS, known beforehand.
    Http2,
}

/// Serves one connection until its peer leaves, it has aged, or the server closes and its requests are answered.
pub(crate) async fn serve<S, B>(protocol: Protocol, socket: TcpStream, service: S, phases: Phases)
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send,
    S::Future: Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    // Answers are small and whole: waiting for more to send would only delay them.
    if let Err(error) = socket.set_nodelay(true) {
        tracing::debug!(%error, "connection was gone before it began");
        return;
    }
    let io = TokioIo::new(Watched::new(socket, protocol == Protocol::Http2));
    let ended = match protocol {
        Protocol::Http1 => until_closed(one().serve_connection(io, service), phases).await,
        Protocol::Http2 => until_closed(two().serve_connection(io, service), phases).await,
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended");
    }
}

fn one() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_header_size(HEADERS_MAX as usize)
        .max_buf_size(BUFFER_MAX);
    debug_assert_eq!(HEADER_LINES_MAX, 100, "the parser's own bound, which setting it would put on the heap");
    builder
}

fn two() -> http2::Builder<Inline> {
    let mut builder = http2::Builder::new(Inline);
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_local_error_reset_streams(LOCAL_RESETS_MAX)
        .max_pending_accept_reset_streams(PENDING_RESETS_MAX)
        .max_header_list_size(HEADERS_MAX)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER_MAX)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_TIMEOUT)
        .auto_date_header(false);
    builder
}

async fn until_closed<C: GracefulConnection>(connection: C, phases: Phases) -> Result<(), C::Error> {
    let mut connection = pin!(connection);
    let mut ending = Aside::new(async move {
        tokio::select! {
            () = phases.reach(Phase::Closing) => None,
            () = tokio::time::sleep(age()) => Some(AGE_GRACE),
        }
    });
    let limit = tokio::select! {
        biased;
        ended = connection.as_mut() => return ended,
        limit = &mut ending => limit,
    };
    connection.as_mut().graceful_shutdown();
    match limit {
        // How long a closing server waits is its own affair: then it drops this future.
        None => connection.await,
        Some(limit) => tokio::time::timeout(limit, connection).await.unwrap_or(Ok(())),
    }
}

/// Connections that began together do not end together.
fn age() -> Duration {
    CONNECTION_AGE.mul_f64(1.0 + OsEntropy.fraction() / 10.0)
}
