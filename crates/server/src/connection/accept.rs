//! Listeners and their accept loop.

use std::{net::IpAddr, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    connection::{
        ConnectionContext,
        accept_backoff::AcceptBackoff,
        connection_quota::{ConnectionPermit, ConnectionQuota, QuotaFull},
        ended::{EndReason, EndedLog},
    },
    limits::{
        ACCEPT_PAUSE, ROOM_WAITING_MAX, ROOM_WITHIN, response_budget::ResponseBudget,
        runtime_limits::RuntimeLimits,
    },
    shutdown::phase::{Phase, PhaseWatch},
    telemetry::request_metrics::ConnectionMetrics,
    tls::{
        acceptor::{Accepted, Acceptor, PeerStream},
        peer::PeerCertificate,
    },
};

/// Bound sockets of a server. The caller binds them, so it knows their addresses.
#[derive(Debug)]
pub struct Listeners {
    /// gRPC.
    pub grpc: TcpListener,
    /// HTTP/JSON.
    pub http: TcpListener,
    /// The protocol of Redis.
    pub redis: TcpListener,
    /// Admin: health, metrics, status. Read-only.
    pub admin: TcpListener,
}

/// Name and limits of a listener. In the phase `closes_at` it stops accepting. In `drops_at` its remaining
/// connections are dropped.
pub(crate) struct ListenerOptions {
    pub(crate) name: &'static str,
    pub(crate) acceptor: Acceptor,
    pub(crate) closes_at: Phase,
    pub(crate) drops_at: Phase,
    pub(crate) limits: RuntimeLimits,
    /// Limits on connections: in total, and per address.
    pub(crate) connections_max: fn(&RuntimeLimits) -> (u64, u64),
    pub(crate) phases: PhaseWatch,
}

/// Accepts connections until the server closes, then waits for the open ones. In the phase `drops_at` the rest is
/// dropped. Returns how many were dropped.
///
/// `serve` serves one connection, whose peer may have presented a certificate. It returns why the connection ended, if
/// that was on account of its peer.
pub(crate) async fn accept<F>(
    listener: TcpListener,
    serve: impl Fn(PeerStream, Option<Arc<PeerCertificate>>, ConnectionContext) -> F + Send + Sync + 'static,
    options: ListenerOptions,
) -> usize
where
    F: Future<Output = Option<EndReason>> + Send + 'static,
{
    let metrics = ConnectionMetrics::new(options.name);
    let begin = Arc::new((options.acceptor, serve));
    let (quota, budget) = (ConnectionQuota::default(), ResponseBudget::default());
    let waiting = Arc::new(Semaphore::new(ROOM_WAITING_MAX));
    let ended = Arc::new(EndedLog::new(options.name, metrics.clone()));
    let (mut connections, mut backoff) = (JoinSet::new(), AcceptBackoff::new(options.name));
    let mut closing = std::pin::pin!(options.phases.clone().wait_until(options.closes_at));
    loop {
        let accepted = tokio::select! {
            biased;
            () = closing.as_mut() => break,
            Some(_) = connections.join_next() => continue,
            () = backoff.recovered() => continue,
            accepted = listener.accept() => accepted,
        };
        let (socket, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                metrics.failed();
                backoff.failed(&error);
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let (limits, most) = (options.limits.clone(), options.connections_max);
        let entered = quota.acquire(peer.ip(), most(&limits));
        // The others that arrive don't wait for the room that this one needs, unless many wait for theirs.
        let full = entered.as_ref().err().copied();
        let waits = match full {
            Some(_) => {
                timeout(ROOM_WITHIN, Arc::clone(&waiting).acquire_owned()).await.ok().and_then(Result::ok)
            }
            None => None,
        };
        if full.is_some() && waits.is_none() {
            metrics.refused(full == Some(QuotaFull::Address));
            continue;
        }
        let (begin, metrics, ended) = (Arc::clone(&begin), metrics.clone(), Arc::clone(&ended));
        let (phases, closes_at) = (options.phases.clone(), options.closes_at);
        let (quota, unread) = (quota.clone(), budget.connection());
        connections.spawn(async move {
            let is_crowded = waits.is_some();
            let entered = match entered {
                Ok(permit) => Ok(permit),
                Err(_) => make_room(&quota, peer.ip(), || most(&limits)).await,
            };
            drop(waits);
            let permit = match entered {
                Ok(permit) => permit,
                Err(full) => return metrics.refused(full == QuotaFull::Address),
            };
            let context = ConnectionContext {
                peer: peer.ip(),
                phases,
                closes_at,
                unread,
                address: permit.address,
                activity: Arc::clone(&permit.activity),
                is_crowded,
            };
            let open_connection = metrics.opened();
            let (acceptor, serve) = &*begin;
            let reason = match handshake(acceptor, socket, &context).await {
                Ok(Some((stream, peer))) => serve(stream, peer, context).await,
                Ok(None) => None,
                Err(reason) => Some(reason),
            };
            if let Some(reason) = reason {
                ended.ended(reason);
            }
            drop((open_connection, permit));
        });
    }
    // A dropped listener refuses new connections at once. A listener that is kept would leave them waiting.
    drop(listener);
    tokio::select! {
        biased;
        () = async { while connections.join_next().await.is_some() {} } => {}
        () = options.phases.clone().wait_until(options.drops_at) => {}
    }
    let left = connections.len();
    connections.shutdown().await;
    left
}

/// Begins a connection; `None` if its peer left, or was refused. Fails if it has to end before it has begun.
async fn handshake(
    acceptor: &Acceptor,
    socket: TcpStream,
    context: &ConnectionContext,
) -> Result<Option<Accepted>, EndReason> {
    // Responses are small and complete. Nagle's algorithm would only delay them.
    if let Err(error) = socket.set_nodelay(true) {
        tracing::debug!(%error, "connection was gone before it began");
        return Ok(None);
    }
    tokio::select! {
        biased;
        accepted = acceptor.accept(socket) => Ok(accepted),
        () = context.activity.asked_to_end() => Err(EndReason::MadeRoom),
        () = context.activity.without_request(), if context.is_crowded => Err(EndReason::Slow),
    }
}

/// A place for a connection: those that have been idle longest end first. Fails if they don't end in time.
async fn make_room(
    quota: &ConnectionQuota,
    peer: IpAddr,
    limits: impl Fn() -> (u64, u64),
) -> Result<ConnectionPermit, QuotaFull> {
    loop {
        let full = match quota.acquire(peer, limits()) {
            Ok(permit) => return Ok(permit),
            Err(full) => full,
        };
        let Some(idle) = quota.longest_idle(peer, full) else { return Err(full) };
        // Its place and its file descriptor are free before the next connection has them.
        if timeout(ROOM_WITHIN, idle.end()).await.is_err() {
            return Err(full);
        }
    }
}

/// How long the admin listener's connections may stay open after all listeners are closed.
pub(crate) const ADMIN_GRACE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::Response;
    use http_body_util::Full;
    use sequent_engine::config::{Config, Sources};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
    };

    use super::*;
    use crate::{
        connection::{Protocol, serve},
        limits::ADMIN_HEAD_TIMEOUT,
        tls::{ServerTls, TlsFiles, files::Alpn},
    };

    async fn ask(socket: &mut TcpStream) -> String {
        socket.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        let mut answer = [0; 512];
        let read = socket.read(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer[..read]).into_owned()
    }

    #[tokio::test]
    async fn whoever_looks_is_answered_until_the_engine_is_shut_down() {
        let folder = tempfile::tempdir().unwrap();
        let limits = RuntimeLimits::new(&Config::load(&Sources::embedded(folder.path())).unwrap().limits);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (phase, phases) = PhaseWatch::new();
        let options = ListenerOptions {
            name: "test",
            acceptor: Acceptor::new("test", ServerTls::new(TlsFiles::off()), Alpn::Http1),
            closes_at: Phase::Ended,
            drops_at: Phase::Ended,
            limits,
            connections_max: RuntimeLimits::admin_connections_max,
            phases,
        };
        let answer = |_| std::future::ready(Ok(Response::new(Full::new(Bytes::from_static(b"here")))));
        let http = Protocol::Http1(ADMIN_HEAD_TIMEOUT);
        let serve =
            move |stream, _, context| serve(http, stream, hyper::service::service_fn(answer), context);
        let accepting = tokio::spawn(accept(listener, serve, options));
        let mut kept = TcpStream::connect(address).await.unwrap();
        for now in [Phase::Serving, Phase::Draining, Phase::Closing, Phase::Ending] {
            phase.send_replace(now);
            assert!(ask(&mut kept).await.ends_with("here"), "{now:?}");
            // A new connection that sends its request a moment later.
            let mut fresh = TcpStream::connect(address).await.unwrap();
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            assert!(ask(&mut fresh).await.ends_with("here"), "{now:?}, a new connection");
        }
        phase.send_replace(Phase::Ended);
        accepting.await.unwrap();
        assert!(TcpStream::connect(address).await.is_err());
    }
}
