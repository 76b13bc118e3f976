//! The limits of what a peer sends below TLS: before its handshake is done, since until then nobody knows who it is, and
//! before others have their turn, since many records may have no text.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::limits::TLS_TURN_MAX;

/// A socket that gives so many bytes and then fails, until [`end_handshake`](Self::end_handshake). It is pending now and then
/// although there is more.
#[derive(Debug)]
pub(crate) struct LimitedSocket<S> {
    socket: S,
    /// The bytes that may still come; `None` after the handshake.
    left: Option<usize>,
    /// Bytes read since it was pending.
    in_turn: usize,
}

impl<S> LimitedSocket<S> {
    pub(super) fn new(socket: S, bytes_max: usize) -> Self {
        Self { socket, left: Some(bytes_max), in_turn: 0 }
    }

    /// From now on there is no limit on all bytes.
    pub(super) fn end_handshake(&mut self) {
        self.left = None;
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for LimitedSocket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // The library reads until there is text, and the runtime counts reads, not records.
        if self.in_turn >= TLS_TURN_MAX {
            self.in_turn = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buf.filled().len();
        let outcome = Pin::new(&mut self.socket).poll_read(cx, buf);
        if outcome.is_pending() {
            self.in_turn = 0;
        }
        ready!(outcome)?;
        let read = buf.filled().len() - before;
        self.in_turn += read;
        if let Some(left) = &mut self.left {
            match left.checked_sub(read) {
                Some(rest) => *left = rest,
                None => return Poll::Ready(Err(io::Error::other("the handshake is too long"))),
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: AsyncWrite + Unpin> AsyncWrite for LimitedSocket<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn so_many_bytes_come_and_all_after_the_end() {
        let mut limited = LimitedSocket::new(&[7_u8; 30][..], 20);
        let mut part = [0; 10];
        assert_eq!(limited.read(&mut part).await.unwrap(), 10);
        assert_eq!(limited.read(&mut part).await.unwrap(), 10);
        limited.read(&mut part).await.unwrap_err();
        let mut limited = LimitedSocket::new(&[7_u8; 30][..], 20);
        assert_eq!(limited.read(&mut part).await.unwrap(), 10);
        limited.end_handshake();
        assert_eq!(limited.read_to_end(&mut Vec::new()).await.unwrap(), 20);
    }

    #[tokio::test]
    async fn a_peer_that_always_has_more_gives_way_to_others() {
        let mut limited = LimitedSocket::new(tokio::io::repeat(7), usize::MAX);
        let mut others_turn = std::pin::pin!(tokio::task::unconstrained(async {
            loop {
                limited.read_exact(&mut [0; 4096]).await.unwrap();
            }
        }));
        for _ in 0..3 {
            // Without an end, this poll would not return.
            let polled = std::future::poll_fn(|cx| Poll::Ready(others_turn.as_mut().poll(cx))).await;
            assert!(matches!(polled, Poll::<()>::Pending));
        }
    }
}
