//! Limits of the server that are not configurable, and the quotas that enforce limits. The limits on an error's text
//! are in `error`.
//!
//! Libraries leave several of these open or high by default. Bounds on concurrent streams, and on resets that a
//! server sends, keep a flood of resets from exhausting memory.

pub(crate) mod body_reader;
pub(crate) mod fd_budget;
pub(crate) mod pending_quota;
pub(crate) mod proof_queue;
pub(crate) mod response_budget;
pub(crate) mod runtime_limits;

use std::time::Duration;

/// Limit on requests for numbers in flight, over all APIs. More are refused with `QUOTA_EXCEEDED`.
pub(crate) const IN_FLIGHT_MAX: usize = 20_000;

/// Limit on templates that are analyzed at once. Each occupies a thread.
pub(crate) const PROOFS_MAX: usize = 2;

/// Limit on further ones that wait. More are refused with `QUOTA_EXCEEDED`. With 50 ms each, which is much for a
/// template, the last one waits for 0.8 s.
pub(crate) const PROOFS_WAITING_MAX: usize = 32;

/// Limit on those of one connection, in work and waiting.
pub(crate) const PROOFS_OF_CONNECTION_MAX: usize = 4;

/// Pending requests that each connection may always have: unfinished bodies and long calls.
pub(crate) const PENDING_FREE: usize = 8;

/// Limit on further pending requests, over all connections. More are refused with `QUOTA_EXCEEDED`.
pub(crate) const PENDING_MAX: usize = 20_000;

/// The same of one address.
pub(crate) const PENDING_OF_ADDRESS_MAX: usize = PENDING_MAX / 4;

/// Bytes of an unfinished body that count as zero. An ordinary request has no more.
pub(crate) const BODY_FREE: usize = 1024;

/// Limit on further bytes of all unfinished bodies together: 1024 bodies of the largest size.
pub(crate) const BODIES_MAX: usize = 1024 * BODY_MAX;

/// The same of one address.
pub(crate) const BODIES_OF_ADDRESS_MAX: usize = BODIES_MAX / 4;

/// Limit on the body of a request, and on a gRPC message, in bytes.
pub(crate) const BODY_MAX: usize = STREAM_WINDOW as usize;

/// Limit on all headers of a request together, in bytes.
pub(crate) const HEADERS_MAX: u32 = 16 * 1024;

/// Limit on the number of headers of a request. For HTTP/1 it is the parser's own, which needs no heap.
pub(crate) const HEADER_LINES_MAX: usize = 100;

/// Memory of one header beside its text, in bytes.
pub(crate) const HEADER_LINE_BYTES: usize = 128;

/// Read buffer of an HTTP/1 connection: a head of [`HEADERS_MAX`] and the first part of a body.
pub(crate) const BUFFER_MAX: usize = 64 * 1024;

/// Limit on concurrent streams of one HTTP/2 connection.
pub(crate) const STREAMS_MAX: u32 = 256;

/// Limit on streams that the peer reset before they were accepted (rapid reset). Beyond it the connection is closed.
pub(crate) const PENDING_RESETS_MAX: usize = 20;

/// Limit on resets that this server sent because of the peer's errors. Beyond it the connection is closed. A request that is
/// refused before its body has arrived may count, too.
pub(crate) const LOCAL_RESETS_MAX: usize = 4 * STREAMS_MAX as usize;

/// Flow-control window of one HTTP/2 stream: one whole body.
pub(crate) const STREAM_WINDOW: u32 = 64 * 1024;

/// Flow-control window of one HTTP/2 connection: 16 whole bodies.
pub(crate) const CONNECTION_WINDOW: u32 = 16 * STREAM_WINDOW;

/// Send buffer of one HTTP/2 stream, for a peer that reads slowly.
pub(crate) const SEND_BUFFER_MAX: usize = 64 * 1024;

/// How long a peer of a listener with TLS has for its first byte and its handshake.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// Limit on what a peer sends before its handshake is done, all of which may be kept: several times the longest chain of
/// certificates that clients have.
pub(crate) const HANDSHAKE_BYTES_MAX: usize = 32 * 1024;

/// How long a peer has for the first [`PREFACE_BYTES`] of an HTTP/2 connection.
pub(crate) const PREFACE_TIMEOUT: Duration = Duration::from_secs(5);

/// Length of the HTTP/2 preface.
pub(crate) const PREFACE_BYTES: usize = 24;

/// How long an HTTP/1 peer has for the head of a request, and how long its connection may be idle.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(15);

/// The same for the admin listener, which has few connections. It is shorter than the interval between two scrapes,
/// so that no scrape arrives while its connection is being closed.
pub(crate) const ADMIN_HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// Interval of HTTP/2 pings on a silent connection.
pub(crate) const PING_EVERY: Duration = Duration::from_secs(20);

/// How long the peer has to answer a ping.
pub(crate) const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the peer may leave what is written to its socket unread.
pub(crate) const WRITE_STALL: Duration = Duration::from_secs(10);

/// How many whole intervals a response may stay unread because the peer grants no flow-control window. Then the peer
/// is disconnected.
pub(crate) const UNREAD_INTERVALS: usize = 2;

/// Length of such an interval. With two of them, a response has 10 to 15 seconds, at least as long as
/// [`WRITE_STALL`].
pub(crate) const UNREAD_INTERVAL: Duration = Duration::from_secs(5);

/// Unread responses that each connection may always have. A large response counts once per [`UNREAD_UNIT_BYTES`].
pub(crate) const UNREAD_FREE: usize = 8;

/// Soft limit on further unread responses, over all connections of a listener. Above it, peers are disconnected one
/// at a time: first the one that has read nothing for longest, and of several the one with most.
pub(crate) const UNREAD_SOFT_MAX: usize = 20_000;

/// Hard limit on unread responses. Above it, a peer that adds one is disconnected immediately.
pub(crate) const UNREAD_HARD_MAX: usize = 2 * UNREAD_SOFT_MAX;

/// Bytes of a response that count as one more. A waiting stream costs about as much memory.
pub(crate) const UNREAD_UNIT_BYTES: usize = 4096;

/// How long the body of a request may take to arrive.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes that an HTTP/2 peer may send before its first request, and besides its requests: frames that ask for nothing.
/// It is 60,000 pings.
pub(crate) const BYTES_AT_FIRST: usize = 1 << 20;

/// Bytes of an HTTP/2 peer after which its connection gives way to others. A read has about as many: some hundred small frames.
pub(crate) const HTTP2_TURN_MAX: usize = 8 * 1024;

/// Bytes of TLS records after which a connection gives way to others: a record is 16 KiB at most, and may be as small as 26
/// bytes that change a key.
pub(crate) const TLS_TURN_MAX: usize = 16 * 1024;

/// The most that it may have saved up. All its streams together may be sending somewhat less: [`STREAMS_MAX`] bodies.
pub(crate) const BYTES_UNREQUESTED_MAX: usize = 20 << 20;

/// Bytes that each request adds: a head, a body, and their frames.
pub(crate) const BYTES_PER_REQUEST: usize = 128 * 1024;

/// How many whole intervals an HTTP/2 connection may be without a stream. Then it is closed gracefully.
pub(crate) const IDLE_INTERVALS: u64 = 5;

/// Length of such an interval. With five of them, a connection may be idle for 5 to 6 minutes.
pub(crate) const IDLE_INTERVAL: Duration = Duration::from_secs(60);

/// How long a connection has for its first request if it was accepted by a full listener.
pub(crate) const FIRST_REQUEST_WHEN_FULL: Duration = Duration::from_secs(1);

/// How long a connection has to make room for another one. It only has to be scheduled.
pub(crate) const ROOM_WITHIN: Duration = Duration::from_secs(1);

/// Limit on connections of a listener that wait for room at once, beyond its limit on connections. The next ones are
/// accepted when they have it.
pub(crate) const ROOM_WAITING_MAX: usize = 16;

/// Least time between two log lines of a listener about connections that it ended.
pub(crate) const ENDED_LOG_EVERY: Duration = Duration::from_secs(60);

/// Age at which a connection is closed gracefully, so that clients spread over servers again. Up to a tenth more is
/// added at random.
pub(crate) const CONNECTION_AGE: Duration = Duration::from_secs(30 * 60);

/// How long a connection of that age has for its requests.
pub(crate) const AGE_GRACE: Duration = Duration::from_secs(30);

/// Pause after a failed `accept`, for example without file descriptors.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long no `accept` may fail before the listener counts as recovered. Meanwhile, closed connections let single
/// ones in.
pub(crate) const ACCEPT_QUIET: Duration = Duration::from_secs(10);

/// Limit on connections of the admin listener; a quarter of them from one address by default. It has few clients, and
/// must answer while the other listeners are overloaded.
pub(crate) const ADMIN_CONNECTIONS_MAX: u64 = 32;

/// Listeners that share the remaining file descriptors: gRPC, HTTP and Redis.
pub(crate) const API_LISTENERS: u64 = 3;

/// Connections per listener, however few file descriptors there are.
pub(crate) const LISTENER_CONNECTIONS_MIN: u64 = 8;

/// File descriptors of the process itself: output, runtime, listeners, and the configuration and data files that it
/// watches. One connection per listener is included, which is accepted and then refused.
pub(crate) const FDS_OF_PROCESS: u64 = 32;

/// File descriptors per store. A file needs 3 with its log and twice as many while it is reopened; a connection pool
/// has 16 by default.
pub(crate) const FDS_PER_STORE: u64 = 16;

/// Limit on one command over the protocol of Redis, all arguments and their lengths included, in bytes.
pub(crate) const REDIS_COMMAND_MAX: usize = BODY_MAX;

/// Limit on the arguments of one command, its name included.
pub(crate) const REDIS_ARGUMENTS_MAX: usize = 1024;

/// Limit on the commands of one transaction, from `MULTI` to `EXEC`. Pipelines of some clients are transactions by
/// default, so it is a multiple of a usual pipeline.
pub(crate) const REDIS_QUEUED_MAX: usize = 65_536;

/// Limit on the bytes of these commands.
pub(crate) const REDIS_QUEUED_BYTES_MAX: usize = 64 * BODY_MAX;

/// Limit on equal commands of a pipeline that are answered by one take.
pub(crate) const REDIS_RUN_MAX: u64 = 1024;

/// Replies that one connection may leave unread. Beyond it, nothing more of its pipeline is read or run.
pub(crate) const REDIS_UNREAD_MAX: usize = 1 << 20;

/// Bytes of commands and their replies after which a connection writes its replies, and gives way to others. It is more
/// than a usual pipeline of `INCR`, and few commands with long replies.
pub(crate) const REDIS_TURN_MAX: usize = 16 * 1024;

/// The most bytes of replies of a connection that do not count as unread, while others wait for its peer.
pub(crate) const REDIS_UNTRACKED_MAX: usize = 16 * 1024;

/// Read buffer of a connection at first. It grows to [`BUFFER_MAX`] for a peer that fills it.
pub(crate) const REDIS_BUFFER_MIN: usize = 4 * 1024;

/// Interval at which a connection is looked at for what its peer has left undone.
pub(crate) const REDIS_CHECK_EVERY: Duration = Duration::from_secs(5);

/// How many of these intervals the rest of a command may take.
pub(crate) const REDIS_COMMAND_CHECKS_MAX: u32 = 3;

/// How many of these intervals a connection may be idle: an hour, since pools of clients keep connections.
pub(crate) const REDIS_IDLE_CHECKS_MAX: u32 = 720;

/// How long a peer has to close its side of a connection that this server has closed. What it sends is discarded, and
/// gives it that long again, up to [`WRITE_STALL`] in all: a reset could cost it replies that it has not read.
pub(crate) const REDIS_LINGER: Duration = Duration::from_millis(250);

/// Limit on the name that a client gives its connection, in bytes.
pub(crate) const REDIS_CLIENT_NAME_MAX: usize = 128;

/// Interval at which the runtime is sampled, scraped or not.
pub(crate) const RUNTIME_SAMPLE_EVERY: Duration = Duration::from_secs(1);

/// How old the status of the stores may be before it is read again. The state of the slots is always current.
pub(crate) const STATUS_MAX_AGE: Duration = Duration::from_secs(5);
