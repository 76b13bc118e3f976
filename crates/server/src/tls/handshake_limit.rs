//! The upper limit of what a peer sends before its handshake is done: until then nobody knows who it is.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A socket that gives so many bytes and then fails, until [`end`](Self::end).
#[derive(Debug)]
pub(crate) struct HandshakeLimit<S> {
    socket: S,
    /// The bytes that may still come; `None` after the handshake.
    left: Option<usize>,
}

impl<S> HandshakeLimit<S> {
    pub(super) fn new(socket: S, bytes_max: usize) -> Self {
        Self { socket, left: Some(bytes_max) }
    }

    /// From now on there is no limit.
    pub(super) fn end(&mut self) {
        self.left = None;
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HandshakeLimit<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.socket).poll_read(cx, buf))?;
        let read = buf.filled().len() - before;
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
impl<S: AsyncWrite + Unpin> AsyncWrite for HandshakeLimit<S> {
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
        let mut limited = HandshakeLimit::new(&[7_u8; 30][..], 20);
        let mut part = [0; 10];
        assert_eq!(limited.read(&mut part).await.unwrap(), 10);
        assert_eq!(limited.read(&mut part).await.unwrap(), 10);
        limited.read(&mut part).await.unwrap_err();
        let mut limited = HandshakeLimit::new(&[7_u8; 30][..], 20);
        assert_eq!(limited.read(&mut part).await.unwrap(), 10);
        limited.end();
        assert_eq!(limited.read_to_end(&mut Vec::new()).await.unwrap(), 20);
    }
}
