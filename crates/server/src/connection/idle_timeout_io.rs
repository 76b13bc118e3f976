//! Socket with limits: the peer must send the HTTP/2 preface in time, must read what is sent, and may send no more than
//! its requests account for.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

use crate::{
    connection::activity::Activity,
    limits::{
        BYTES_AT_FIRST, BYTES_PER_REQUEST, BYTES_UNREQUESTED_MAX, HTTP2_TURN_MAX, PREFACE_BYTES,
        PREFACE_TIMEOUT, WRITE_STALL,
    },
};

/// Socket that fails a call if the peer sends no preface within [`PREFACE_TIMEOUT`], reads nothing for
/// [`WRITE_STALL`], or sends more than its requests account for.
pub(crate) struct IdleTimeoutIo<S> {
    socket: S,
    preface: Option<PrefaceDeadline>,
    /// What an HTTP/2 peer may still send. No library counts the control frames that it sends.
    allowance: Option<Allowance>,
    stall: Option<Pin<Box<Sleep>>>,
}

struct PrefaceDeadline {
    missing: usize,
    until: Pin<Box<Sleep>>,
}

impl<S> IdleTimeoutIo<S> {
    /// An HTTP/2 peer, whose `activity` is given, must send [`PREFACE_BYTES`] in time.
    pub(crate) fn new(socket: S, activity: Option<Arc<Activity>>) -> Self {
        let preface = activity
            .is_some()
            .then(|| PrefaceDeadline { missing: PREFACE_BYTES, until: Box::pin(sleep(PREFACE_TIMEOUT)) });
        Self { socket, preface, allowance: activity.map(Allowance::new), stall: None }
    }

    /// Maps the outcome of a write. A write that is pending for [`WRITE_STALL`] fails.
    fn written<T>(&mut self, cx: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.stall = None;
            return outcome;
        }
        let stall = self.stall.get_or_insert_with(|| Box::pin(sleep(WRITE_STALL)));
        stall.as_mut().poll(cx).map(|()| Err(timed_out("read what it was sent", WRITE_STALL)))
    }
}

/// Bytes that a peer may still send: some at first, and more with each request.
struct Allowance {
    bytes: usize,
    /// The turn of the last read, and the bytes read in it.
    turn: u64,
    in_turn: usize,
    /// Requests that have brought their bytes.
    counted: u64,
    activity: Arc<Activity>,
}

impl Allowance {
    fn new(activity: Arc<Activity>) -> Self {
        Self { bytes: BYTES_AT_FIRST, turn: activity.turn(), in_turn: 0, counted: 0, activity }
    }

    /// Whether the connection has read as much as it may before others have their turn.
    fn is_turn_over(&mut self) -> bool {
        let turn = self.activity.turn();
        if self.turn != turn {
            (self.turn, self.in_turn) = (turn, 0);
        }
        self.in_turn >= HTTP2_TURN_MAX
    }

    fn take(&mut self, bytes: usize) -> io::Result<()> {
        self.in_turn += bytes;
        if self.bytes < bytes {
            let requests = self.activity.requests();
            let new = usize::try_from(requests - self.counted).unwrap_or(usize::MAX);
            let more = new.saturating_mul(BYTES_PER_REQUEST);
            self.bytes = self.bytes.saturating_add(more).min(BYTES_UNREQUESTED_MAX);
            self.counted = requests;
        }
        match self.bytes.checked_sub(bytes) {
            Some(left) => {
                self.bytes = left;
                Ok(())
            }
            None => Err(io::Error::new(
                io::ErrorKind::QuotaExceeded,
                "the peer sent more bytes than its requests account for",
            )),
        }
    }
}

fn timed_out(what: &str, limit: Duration) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("the peer did not {what} within {limit:?}"))
}

impl<S: AsyncRead + Unpin> AsyncRead for IdleTimeoutIo<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // The library reads until nothing is left, and again after each request that it answers at once; the runtime counts
        // reads, not frames.
        if self.allowance.as_mut().is_some_and(Allowance::is_turn_over) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut self.socket).poll_read(cx, buffer);
        let read = buffer.filled().len() - before;
        if let Some(allowance) = &mut self.allowance
            && let Err(error) = allowance.take(read)
        {
            return Poll::Ready(Err(error));
        }
        let Some(preface) = &mut self.preface else { return outcome };
        if outcome.is_pending() {
            return preface
                .until
                .as_mut()
                .poll(cx)
                .map(|()| Err(timed_out("send the HTTP/2 preface", PREFACE_TIMEOUT)));
        }
        preface.missing = preface.missing.saturating_sub(read);
        if preface.missing == 0 {
            self.preface = None;
        }
        outcome
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for IdleTimeoutIo<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.written(cx, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.socket).poll_write_vectored(cx, parts);
        self.written(cx, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.socket).poll_flush(cx);
        self.written(cx, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.socket).poll_shutdown(cx);
        self.written(cx, outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        sync::atomic::{AtomicBool, Ordering},
        task::{Wake, Waker},
    };

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// How many bytes one turn reads of a peer that always has more, and whether the next turn comes by itself.
    fn turn(io: &mut (impl AsyncRead + Unpin)) -> (usize, bool) {
        let (woken, mut read) = (Arc::new(Woken::default()), 0);
        let waker = Waker::from(Arc::clone(&woken));
        let mut cx = Context::from_waker(&waker);
        loop {
            let mut bytes = [0; 1024];
            let mut buffer = ReadBuf::new(&mut bytes);
            if Pin::new(&mut *io).poll_read(&mut cx, &mut buffer).is_pending() {
                return (read, woken.0.load(Ordering::Relaxed));
            }
            read += buffer.filled().len();
            assert!(read < BYTES_AT_FIRST, "it gives way to nobody");
        }
    }

    #[tokio::test]
    async fn a_peer_that_always_has_more_gives_way_to_others() {
        let socket = tokio::io::join(tokio::io::repeat(7), tokio::io::sink());
        let activity = Arc::new(Activity::default());
        let mut io = IdleTimeoutIo::new(socket, Some(Arc::clone(&activity)));
        for _ in 0..3 {
            activity.begin_turn();
            assert_eq!(turn(&mut io), (HTTP2_TURN_MAX, true));
            // The library asks again after each request.
            assert_eq!(turn(&mut io), (0, true), "its turn is over");
        }
    }
}
