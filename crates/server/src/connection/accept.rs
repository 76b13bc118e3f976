//! Listeners, and what each of them lets in.

use std::{convert::Infallible, error::Error, time::Duration};

use http::{Request, Response};
use http_body::Body;
use hyper::{body::Incoming, service::Service};
use tokio::{net::TcpListener, task::JoinSet, time::sleep};

use crate::{
    connection::{
        Protocol,
        accept_backoff::Outage,
        connection_quota::{Full, Places},
        serve,
    },
    limits::{ACCEPT_PAUSE, response_budget::AllUnread, runtime_limits::Dials},
    shutdown::phase::{Phase, Phases},
    telemetry::request_metrics::Lines,
};

/// The sockets of a server, bound by its caller, who knows their addresses.
#[derive(Debug)]
pub struct Listeners {
    /// gRPC.
    pub grpc: TcpListener,
    /// HTTP/JSON.
    pub http: TcpListener,
    /// Health, metrics, status: read-only.
    pub admin: TcpListener,
}

/// How a listener ends: when it takes no more, and when what is left of its connections is dropped.
pub(crate) struct Ends {
    pub(crate) name: &'static str,
    pub(crate) protocol: Protocol,
    pub(crate) closes: Phase,
    pub(crate) drops: Phase,
    pub(crate) dials: Dials,
    /// The most connections, and of one address.
    pub(crate) connections_max: fn(&Dials) -> (u64, u64),
    pub(crate) phases: Phases,
}

/// Takes connections until the server closes, and ends when the last of them has; or drops what is left at the end.
/// Returns how many it dropped.
/// `door` makes what serves one of them.
pub(crate) async fn accept<S, B>(listener: TcpListener, door: impl Fn() -> S, ends: Ends) -> usize
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + Sync + 'static,
    S::Future: Send + Unpin + 'static,
    B: Body + Send + Unpin + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let lines = Lines::new(ends.name);
    let (places, unread) = (Places::default(), AllUnread::default());
    let (mut connections, mut outage) = (JoinSet::new(), Outage::new(ends.name));
    let mut closing = std::pin::pin!(ends.phases.clone().reach(ends.closes));
    loop {
        let accepted = tokio::select! {
            biased;
            () = closing.as_mut() => break,
            Some(_) = connections.join_next() => continue,
            () = outage.over() => continue,
            accepted = listener.accept() => accepted,
        };
        let (socket, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                lines.failed();
                outage.failed(&error);
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let place = match places.take(peer.ip(), (ends.connections_max)(&ends.dials)) {
            Ok(place) => place,
            Err(full) => {
                lines.refused(full == Full::Address);
                continue;
            }
        };
        let (service, lines) = (door(), lines.clone());
        let watches = ((ends.phases.clone(), ends.closes), unread.line());
        connections.spawn(async move {
            let line = Line::open(lines);
            serve(ends.protocol, socket, service, watches).await;
            drop((line, place));
        });
    }
    // Whoever connects from here on is refused at once rather than left waiting.
    drop(listener);
    tokio::select! {
        biased;
        () = async { while connections.join_next().await.is_some() {} } => {}
        () = ends.phases.clone().reach(ends.drops) => {}
    }
    let left = connections.len();
    connections.shutdown().await;
    left
}

/// An open connection, counted while it is there, however it ends.
struct Line(Lines);

impl Line {
    fn open(lines: Lines) -> Self {
        lines.opened();
        Self(lines)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.0.closed();
    }
}

/// How long the admin listener's connections have once all doors are shut.
pub(crate) const ADMIN_GRACE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http_body_util::Full;
    use sequent_engine::config::{Config, Sources};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
    };

    use super::*;
    use crate::limits::ADMIN_HEAD_TIMEOUT;

    async fn ask(socket: &mut TcpStream) -> String {
        socket.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut answer = [0; 512];
        let read = socket.read(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer[..read]).into_owned()
    }

    #[tokio::test]
    async fn whoever_looks_is_answered_until_the_engine_is_shut_down() {
        let folder = tempfile::tempdir().unwrap();
        let dials = Dials::new(&Config::load(&Sources::embedded(folder.path())).unwrap().limits);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (phase, phases) = Phases::new();
        let ends = Ends {
            name: "test",
            protocol: Protocol::Http1(ADMIN_HEAD_TIMEOUT),
            closes: Phase::Ended,
            drops: Phase::Ended,
            dials,
            connections_max: Dials::admin_connections_max,
            phases,
        };
        let answer = |_| std::future::ready(Ok(Response::new(Full::new(Bytes::from_static(b"here")))));
        let accepting = tokio::spawn(accept(listener, move || hyper::service::service_fn(answer), ends));
        let mut kept = TcpStream::connect(address).await.unwrap();
        for now in [Phase::Serving, Phase::Draining, Phase::Closing, Phase::Ending] {
            phase.send_replace(now);
            assert!(ask(&mut kept).await.ends_with("here"), "{now:?}");
            // One that comes now, and asks a moment later.
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
