//! Every limit of the doors that is no part of the configuration, in one place.
//!
//! Libraries leave several of these open by default: stock builders set no bound on concurrent streams and on resets
//! that a server answers with, which is how floods of resets exhaust memory.

pub(crate) mod body_reader;
pub(crate) mod fd_budget;
pub(crate) mod pending_quota;
pub(crate) mod response_budget;
pub(crate) mod runtime_limits;

use std::time::Duration;

/// The most requests in work over all doors; more are refused with `QUOTA_EXCEEDED`.
pub(crate) const IN_FLIGHT_MAX: usize = 20_000;

/// The most slots that one error lists with their causes; how many more there are, it counts. Of gRPC they travel in a
/// header, of which many peers take no more than 8 KiB.
pub(crate) const SLOTS_SHOWN_MAX: usize = 32;

/// What each connection may have standing open, bodies that have not arrived and calls that last, whatever others do.
pub(crate) const PENDING_FREE: usize = 8;

/// The most that stands open beyond that, over all connections; more is refused with `QUOTA_EXCEEDED`.
pub(crate) const PENDING_MAX: usize = 20_000;

/// What of a body that has not arrived is not counted: an ordinary request has no more.
pub(crate) const BODY_FREE: usize = 1024;

/// The most bytes of all bodies that have not arrived, beyond that: 1024 of the largest.
pub(crate) const BODIES_MAX: usize = 1024 * BODY_MAX;

/// The most bytes of a request's body, and of a gRPC message.
pub(crate) const BODY_MAX: usize = STREAM_WINDOW as usize;

/// The most bytes of a request's headers, all together.
pub(crate) const HEADERS_MAX: u32 = 16 * 1024;

/// The most headers of an HTTP/1 request: the parser's own number, which needs no heap.
pub(crate) const HEADER_LINES_MAX: usize = 100;

/// What an HTTP/1 connection buffers: a head of [`HEADERS_MAX`] and a first part of a body.
pub(crate) const BUFFER_MAX: usize = 64 * 1024;

/// The most streams that a peer may have open on one HTTP/2 connection.
pub(crate) const STREAMS_MAX: u32 = 256;

/// Streams that a peer reset before they were accepted (rapid reset): beyond this the connection ends.
pub(crate) const PENDING_RESETS_MAX: usize = 20;

/// Resets that this server answered a peer's faults with: beyond this the connection ends.
pub(crate) const LOCAL_RESETS_MAX: usize = 128;

/// What one HTTP/2 stream may send before it is read: a whole body.
pub(crate) const STREAM_WINDOW: u32 = 64 * 1024;

/// What one HTTP/2 connection may send before it is read: 16 whole bodies.
pub(crate) const CONNECTION_WINDOW: u32 = 16 * STREAM_WINDOW;

/// What one HTTP/2 stream keeps for a peer that reads slowly.
pub(crate) const SEND_BUFFER_MAX: usize = 64 * 1024;

/// How long a peer has for the first [`PREFACE_BYTES`] of an HTTP/2 connection.
pub(crate) const PREFACE_TIMEOUT: Duration = Duration::from_secs(5);

/// The length of HTTP/2's preface.
pub(crate) const PREFACE_BYTES: usize = 24;

/// How long an HTTP/1 peer has for a request's head; also how long its connection may idle.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(15);

/// The same at the admin listener, which has few connections: shorter than the pause between two scrapes, so that none
/// arrives just as its connection is ended.
pub(crate) const ADMIN_HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// How often a silent HTTP/2 peer is pinged.
pub(crate) const PING_EVERY: Duration = Duration::from_secs(20);

/// How long it has to answer.
pub(crate) const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a peer may leave what is written to it unread.
pub(crate) const WRITE_STALL: Duration = Duration::from_secs(10);

/// How long a peer may leave an answer untaken that it grants no room, or too little: so many turns, and the rest of the
/// one in which the answer was made; then it is hung up on.
pub(crate) const UNREAD_INTERVALS: usize = 2;

/// The length of such a turn: with two, an answer has 10 to 15 seconds, as [`WRITE_STALL`] at least.
pub(crate) const UNREAD_INTERVAL: Duration = Duration::from_secs(5);

/// What each connection may leave unread, as answers or as pieces of [`UNREAD_UNIT_BYTES`] bytes, whatever others do.
pub(crate) const UNREAD_FREE: usize = 8;

/// The most that is unread beyond that, over all connections of a door: then whoever has left it for longest, and most of
/// it, is hung up on at once, one after another.
pub(crate) const UNREAD_SOFT_MAX: usize = 20_000;

/// The most where that is not fast enough: whoever leaves more is hung up on at once.
pub(crate) const UNREAD_HARD_MAX: usize = 2 * UNREAD_SOFT_MAX;

/// What counts as one more answer: about what a stream costs that waits.
pub(crate) const UNREAD_UNIT_BYTES: usize = 4096;

/// How long a request's body may take to arrive.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// The age at which a connection is asked to end, so that callers spread over servers anew; up to a tenth more, by chance.
pub(crate) const CONNECTION_AGE: Duration = Duration::from_secs(30 * 60);

/// How long an aged connection has to finish what it has begun.
pub(crate) const AGE_GRACE: Duration = Duration::from_secs(30);

/// The pause after an accept that failed for want of something, such as file descriptors.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long no accept may fail before an outage is over: connections that end meanwhile let single ones in.
pub(crate) const ACCEPT_QUIET: Duration = Duration::from_secs(10);

/// The most connections of the admin listener, and half of them from one address: few ask it, and it answers beside a
/// crowd at the doors.
pub(crate) const ADMIN_CONNECTIONS_MAX: u64 = 32;

/// The doors that share the descriptors which are left: gRPC and HTTP.
pub(crate) const DOORS: u64 = 2;

/// The connections of a door however few descriptors there are.
pub(crate) const DOOR_LEAST: u64 = 8;

/// File descriptors kept for the process itself: its output, its runtime, its listeners, the files that it looks at (its
/// configuration, its home), and a connection for each listener that is refused as soon as it was accepted.
pub(crate) const DESCRIPTORS_OWN: u64 = 32;

/// File descriptors kept for each store: a file has 3 with its log, twice as many while it is opened anew, and a pool of
/// connections has 16 unless configured.
pub(crate) const DESCRIPTORS_PER_STORE: u64 = 16;

/// What callers are told to wait before they try again.
pub(crate) const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The most bytes of a caller's value that an error shows.
pub(crate) const VALUE_SHOWN_MAX: usize = 128;

/// The most bytes of an error's text, and of what it says of a field, that leave the gRPC door: a status travels in headers, once
/// percent-encoded and once in base64, and clients end a *connection* whose headers are longer than 8 KiB.
pub(crate) const STATUS_SHOWN_MAX: usize = 1024;

/// The most fields that a status names.
pub(crate) const STATUS_FIELDS_MAX: usize = 8;

/// How often histograms are drained, scraped or not: each sample is kept until then.
pub(crate) const UPKEEP_EVERY: Duration = Duration::from_secs(1);

/// How long a look into the stores is shown before another is taken. What the ring knows is shown as it is now.
pub(crate) const STATUS_MAX_AGE: Duration = Duration::from_secs(5);
