//! A socket whose peer must greet in time and must read what it is sent.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Sleep, sleep},
};

use crate::limits::{GREETING_BYTES, GREETING_TIMEOUT, WRITE_STALL};

/// A socket whose peer must greet in time and must read what it is sent: a call that would wait longer fails.
pub(crate) struct Watched {
    socket: TcpStream,
    greeting: Option<Greeting>,
    stall: Option<Pin<Box<Sleep>>>,
}

struct Greeting {
    missing: usize,
    until: Pin<Box<Sleep>>,
}

impl Watched {
    /// `greets`: whether the peer must send [`GREETING_BYTES`] in time.
    pub(crate) fn new(socket: TcpStream, greets: bool) -> Self {
        let greeting =
            greets.then(|| Greeting { missing: GREETING_BYTES, until: Box::pin(sleep(GREETING_TIMEOUT)) });
        Self { socket, greeting, stall: None }
    }

    /// What a write came to: one that is stuck has [`WRITE_STALL`].
    fn written<T>(&mut self, cx: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.stall = None;
            return outcome;
        }
        let stall = self.stall.get_or_insert_with(|| Box::pin(sleep(WRITE_STALL)));
        stall.as_mut().poll(cx).map(|()| Err(late("read what it was sent", WRITE_STALL)))
    }
}

fn late(what: &str, limit: Duration) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("the peer did not {what} within {limit:?}"))
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut self.socket).poll_read(cx, buffer);
        let Some(greeting) = &mut self.greeting else { return outcome };
        if outcome.is_pending() {
            return greeting.until.as_mut().poll(cx).map(|()| Err(late("greet", GREETING_TIMEOUT)));
        }
        greeting.missing = greeting.missing.saturating_sub(buffer.filled().len() - before);
        if greeting.missing == 0 {
            self.greeting = None;
        }
        outcome
    }
}

impl AsyncWrite for Watched {
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
