//! Serving one connection: HTTP/1.1 or HTTP/2 with every limit set.

pub(crate) mod accept;
mod accept_backoff;
pub(crate) mod activity;
mod connection_quota;
pub(crate) mod ended;
mod goaway;
mod graceful_close;
pub(crate) mod idle_timeout_io;
mod inline_executor;
pub(crate) mod poll_on_wake;

pub(crate) use graceful_close::{max_age, now};

use std::{convert::Infallible, error::Error, net::IpAddr, sync::Arc, time::Duration};

use http::{Request, Response};
use http_body::Body;
use hyper::{
    body::Incoming,
    server::conn::{http1, http2},
    service::{Service, service_fn},
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    connection::{
        activity::Activity,
        ended::EndReason,
        goaway::{ConnectionClose, goaway_phase},
        graceful_close::serve_until_closed,
        idle_timeout_io::IdleTimeoutIo,
        inline_executor::InlineExecutor,
    },
    limits::{
        BUFFER_MAX, CONNECTION_WINDOW, HEADER_LINES_MAX, HEADERS_MAX, LOCAL_RESETS_MAX, PENDING_RESETS_MAX,
        PING_EVERY, PING_TIMEOUT, SEND_BUFFER_MAX, STREAM_WINDOW, STREAMS_MAX,
        response_budget::{tracked_response::TrackUnread, unread::ConnectionUnread},
    },
    shutdown::phase::{Phase, PhaseWatch},
};

/// Protocol of a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// HTTP/1.1 with one request at a time. The duration limits the head of a request and an idle connection.
    Http1(Duration),
    /// HTTP/2. Without TLS it is spoken with prior knowledge.
    Http2,
}

/// What a connection shares with its listener.
pub(crate) struct ConnectionContext {
    /// The address of the other end.
    pub(crate) peer: IpAddr,
    pub(crate) phases: PhaseWatch,
    /// The phase in which the listener closes.
    pub(crate) closes_at: Phase,
    pub(crate) unread: ConnectionUnread,
    /// The address that its peer is counted under.
    pub(crate) address: IpAddr,
    pub(crate) activity: Arc<Activity>,
    /// Whether another connection had to make room for this one. Its first request then has little time.
    pub(crate) is_crowded: bool,
}

/// Serves one connection until its peer leaves, it reaches its maximal age, another one needs its place, or the server
/// closes and its requests are answered. Returns why, if it ended on account of its peer.
pub(crate) async fn serve<I, S, B>(
    protocol: Protocol,
    socket: I,
    service: S,
    context: ConnectionContext,
) -> Option<EndReason>
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send,
    S::Future: Send + Unpin + 'static,
    B: Body + Send + Unpin + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let activity = Arc::clone(&context.activity);
    let is_http2 = protocol == Protocol::Http2;
    let io = TokioIo::new(IdleTimeoutIo::new(socket, is_http2.then(|| Arc::clone(&activity))));
    let (begun, unread) = (Arc::clone(&activity), context.unread.clone());
    let service = move |request: Request<Incoming>| {
        begun.begin();
        TrackUnread::new(service.call(request), unread.clone())
    };
    let (phases, closes) = (context.phases.clone(), context.closes_at);
    let ended = match protocol {
        Protocol::Http1(head) => {
            let (closes_from, closes_at) = (goaway_phase(closes), now() + max_age());
            let service = service_fn(move |request| ConnectionClose {
                answer: service(request),
                is_last: phases.has_reached(closes_from) || now() >= closes_at,
            });
            let connection = http1_builder(head).serve_connection(io, service);
            serve_until_closed(connection, context, None).await
        }
        Protocol::Http2 => {
            // A connection that is accepted during the drain is served. With an immediate GOAWAY its peer would only
            // reconnect.
            let is_late = phases.has_reached(goaway_phase(closes));
            let closes_at = if is_late { closes } else { goaway_phase(closes) };
            let connection = http2_builder().serve_connection(io, service_fn(service));
            serve_until_closed(connection, ConnectionContext { closes_at, ..context }, Some(max_age())).await
        }
    };
    ended.unwrap_or_else(|error| {
        let reason = EndReason::of(&error, activity.requests());
        tracing::debug!(%error, ?reason, "connection ended");
        reason
    })
}

fn http1_builder(head: Duration) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(head)
        .max_header_size(HEADERS_MAX as usize)
        .max_buf_size(BUFFER_MAX);
    debug_assert_eq!(HEADER_LINES_MAX, 100, "the parser's own bound, which setting it would put on the heap");
    builder
}

fn http2_builder() -> http2::Builder<InlineExecutor> {
    let mut builder = http2::Builder::new(InlineExecutor);
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

#[cfg(test)]
#[path = "../../tests/api/http2_frames.rs"]
mod frames;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{
        ADMIN_HEAD_TIMEOUT, CONNECTION_AGE, HEAD_TIMEOUT, IDLE_INTERVAL, IDLE_INTERVALS, UNREAD_INTERVAL,
        UNREAD_INTERVALS, response_budget::ResponseBudget,
    };
    use std::pin::Pin;

    use bytes::Bytes;
    use http_body_util::Full;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, copy, duplex, sink, split},
        time::{Instant, timeout},
    };

    #[allow(clippy::cast_possible_truncation, reason = "a few")]
    const INTERVALS: u32 = UNREAD_INTERVALS as u32;

    const ANSWER: &[u8] = &[b'7'; 100];

    fn context(phases: PhaseWatch) -> ConnectionContext {
        ConnectionContext {
            peer: IpAddr::from([127, 0, 0, 1]),
            phases,
            closes_at: Phase::Closing,
            unread: ResponseBudget::default().connection(),
            address: std::net::Ipv4Addr::LOCALHOST.into(),
            activity: Arc::default(),
            is_crowded: false,
        }
    }

    /// How long a connection lasts whose peer reads everything from its socket, grants each stream `window` bytes,
    /// and sends one request. `None` if it lasts longer than any response may stay unread.
    #[allow(clippy::disallowed_methods, reason = "paused time, in a test")]
    async fn connection_lifetime(window: u32, phase: Phase) -> Option<Duration> {
        let (here, there) = duplex(1 << 16);
        let (mut reader, mut writer) = split(there);
        let reads = tokio::spawn(async move { copy(&mut reader, &mut sink()).await });
        let ask = [frames::PREFACE, &frames::settings(window), &frames::head(1, "/", true)].concat();
        writer.write_all(&ask).await.unwrap();
        let answer = |_| std::future::ready(Ok(Response::new(Full::new(Bytes::from_static(ANSWER)))));
        let (sender, phases) = PhaseWatch::new();
        let began = Instant::now();
        let served = serve(Protocol::Http2, here, hyper::service::service_fn(answer), context(phases));
        let phase_change = async {
            // By now the request has been read.
            tokio::time::sleep(Duration::from_millis(1)).await;
            sender.send_replace(phase);
            std::future::pending::<()>().await;
        };
        let limit = UNREAD_INTERVAL * (INTERVALS + 1) + UNREAD_INTERVAL / 2;
        let served = async {
            tokio::select! { _ = served => {}, () = phase_change => {} }
        };
        let ended = timeout(limit, served).await.ok().map(|()| began.elapsed());
        reads.abort();
        ended
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_grants_no_room_for_its_answer_is_hung_up_on() {
        let least = UNREAD_INTERVAL * INTERVALS;
        for window in [0, 1, 99] {
            let lasted = connection_lifetime(window, Phase::Serving).await;
            assert!(lasted.is_some_and(|lasted| lasted >= least), "window {window}: {lasted:?}");
            let lasted = connection_lifetime(window, Phase::Closing).await;
            assert!(lasted.is_some_and(|lasted| lasted >= least), "window {window}, closing: {lasted:?}");
        }
        assert_eq!(connection_lifetime(100, Phase::Serving).await, None, "it has taken its answer");
    }
    /// How long a connection lasts whose peer sends `said` and nothing more.
    #[allow(clippy::disallowed_methods, reason = "paused time, in a test")]
    async fn idle_lifetime(head: Duration, sent: &str) -> Duration {
        let (here, there) = duplex(1 << 16);
        let (mut reader, mut writer) = split(there);
        let answer = |_| std::future::ready(Ok(Response::new(Full::new(Bytes::from_static(ANSWER)))));
        let (_sender, phases) = PhaseWatch::new();
        let served = serve(Protocol::Http1(head), here, hyper::service::service_fn(answer), context(phases));
        let served = tokio::spawn(served);
        writer.write_all(sent.as_bytes()).await.unwrap();
        let began = Instant::now();
        let mut answers = Vec::new();
        reader.read_to_end(&mut answers).await.unwrap();
        served.await.unwrap();
        let whole = sent.matches("\r\n\r\n").count();
        let given = answers.windows(ANSWER.len()).filter(|window| *window == ANSWER).count();
        assert_eq!(given, whole, "{}", String::from_utf8_lossy(&answers));
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_ends_soon_and_one_of_the_admin_listener_sooner() {
        const WHOLE: &str = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
        const A_MOMENT: Duration = Duration::from_millis(100);
        assert!(ADMIN_HEAD_TIMEOUT * 2 < HEAD_TIMEOUT);
        for head in [ADMIN_HEAD_TIMEOUT, HEAD_TIMEOUT] {
            for sent in ["", "GET / HT", WHOLE, &WHOLE.repeat(2)] {
                let lasted = idle_lifetime(head, sent).await;
                assert!(lasted >= head && lasted < head + A_MOMENT, "{sent:?}: {lasted:?}, and not {head:?}");
            }
        }
    }

    /// How an HTTP/2 connection ends whose peer answers pings, and how long it lasts. `None` if it lasts for ten
    /// intervals.
    async fn http2_end(path: Option<&'static str>) -> Option<(Option<EndReason>, Duration)> {
        let (here, there) = duplex(1 << 16);
        let (_sender, phases) = PhaseWatch::new();
        let answer = |request: Request<Incoming>| -> Pin<Box<dyn Future<Output = _> + Send>> {
            Box::pin(async move {
                if request.uri().path() == "/never" {
                    std::future::pending::<()>().await;
                }
                Ok(Response::new(Full::new(Bytes::from_static(ANSWER))))
            })
        };
        let served = serve(Protocol::Http2, here, hyper::service::service_fn(answer), context(phases));
        let (served, began) = (tokio::spawn(served), now());
        let executor = hyper_util::rt::TokioExecutor::new();
        let client = hyper::client::conn::http2::handshake(executor, TokioIo::new(there)).await;
        let (mut sender, connection) = client.unwrap();
        let driven = tokio::spawn(connection);
        let asked = path.map(|path| {
            let request = Request::get(format!("http://x{path}")).body(Full::<Bytes>::default()).unwrap();
            tokio::spawn(sender.send_request(request))
        });
        let ended = timeout(IDLE_INTERVAL * 10, served).await.ok();
        drop((sender, asked));
        driven.abort();
        Some((ended?.unwrap(), began.elapsed()))
    }

    #[tokio::test(start_paused = true)]
    async fn an_http2_connection_without_a_stream_ends_after_minutes() {
        let intervals = u32::try_from(IDLE_INTERVALS).unwrap();
        for path in [None, Some("/")] {
            let (reason, lasted) = http2_end(path).await.expect("it ends");
            assert_eq!(reason, Some(EndReason::Idle), "{path:?}");
            let (least, most) = (IDLE_INTERVAL * intervals, IDLE_INTERVAL * (intervals + 2));
            assert!((least..most).contains(&lasted), "{path:?}: {lasted:?}");
        }
        assert_eq!(http2_end(Some("/never")).await, None, "it has a stream");
    }

    /// A request may be on its way when a connection reaches its maximal age.
    #[tokio::test(start_paused = true)]
    async fn a_connection_of_maximal_age_answers_its_last_request_and_says_that_it_ends() {
        let (mut here, there) = duplex(1 << 16);
        let answer = |_| std::future::ready(Ok(Response::new(Full::new(Bytes::from_static(ANSWER)))));
        let (_sender, phases) = PhaseWatch::new();
        let served =
            serve(Protocol::Http1(HEAD_TIMEOUT), there, hyper::service::service_fn(answer), context(phases));
        let (served, began) = (tokio::spawn(served), now());
        let mut said = String::new();
        while !said.contains("connection: close") {
            assert!(began.elapsed() < CONNECTION_AGE * 2, "it goes on for ever");
            #[allow(clippy::disallowed_methods, reason = "paused time, in a test")]
            tokio::time::sleep(HEAD_TIMEOUT / 2).await;
            here.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
            let mut bytes = [0; 1024];
            let count = here.read(&mut bytes).await.unwrap();
            said = String::from_utf8_lossy(&bytes[..count]).into_owned();
            assert!(said.starts_with("HTTP/1.1 200"), "unanswered after {:?}", began.elapsed());
        }
        assert!(began.elapsed() >= CONNECTION_AGE, "{:?}", began.elapsed());
        assert_eq!(here.read(&mut [0; 8]).await.unwrap(), 0, "the end");
        served.await.unwrap();
    }
}
