//! Bytes of a connection: what was read and not parsed, and replies that were not written.
//!
//! Replies are written straight from the buffer that they are made in. Only if the peer does not take them are they set
//! aside, where they count as unread like the responses of the other APIs.

use std::{
    collections::VecDeque,
    io,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::timeout,
};

use crate::limits::{
    BUFFER_MAX, REDIS_BUFFER_MIN, REDIS_LINGER, REDIS_UNREAD_MAX, REDIS_UNTRACKED_MAX,
    response_budget::unread::{ConnectionUnread, TrackedChunk},
};

/// What a wait for the peer ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Bytes were read.
    Read,
    /// Replies were written that nothing was read or run for.
    Written,
    /// The peer sends nothing more.
    End,
}

/// Both directions of a connection.
pub(crate) struct Wire<I> {
    io: I,
    pub(crate) input: BytesMut,
    pub(crate) output: BytesMut,
    /// The buffer of the reply that is being made.
    scratch: BytesMut,
    /// Replies that the socket did not take at once, in order.
    held: VecDeque<TrackedChunk<Bytes>>,
    unread: ConnectionUnread,
    is_flushed: bool,
    /// How much is read at once: more for a peer that fills it.
    read_size: usize,
}

impl<I: AsyncRead + AsyncWrite + Unpin> Wire<I> {
    pub(crate) fn new(io: I, unread: ConnectionUnread) -> Self {
        let (input, output) = (BytesMut::new(), BytesMut::new());
        Self {
            io,
            input,
            output,
            scratch: BytesMut::new(),
            held: VecDeque::new(),
            unread,
            is_flushed: true,
            read_size: REDIS_BUFFER_MIN,
        }
    }

    /// Whether the peer has left so much unread that nothing more is read or run for it.
    pub(crate) fn is_full(&self) -> bool {
        self.unwritten() >= REDIS_UNREAD_MAX
    }

    /// Writes the replies, and waits until something more was read.
    pub(crate) async fn progress(&mut self) -> io::Result<Progress> {
        std::future::poll_fn(|cx| self.poll_progress(cx)).await
    }

    /// Writes what the peer takes at once, and sets the rest aside.
    pub(crate) async fn write_ready(&mut self) -> io::Result<()> {
        std::future::poll_fn(|cx| match self.poll_write_all(cx) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            _ => Poll::Ready(Ok(())),
        })
        .await
    }

    /// Writes all replies.
    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        std::future::poll_fn(|cx| self.poll_write_all(cx)).await
    }

    /// Waits for `work`. While it is not ready, the replies that were made before are written.
    pub(crate) async fn write_beside<T>(&mut self, work: impl Future<Output = T>) -> io::Result<T> {
        let mut work = pin!(work);
        std::future::poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Ok(done)),
            Poll::Pending => match self.poll_write_all(cx) {
                Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                _ => Poll::Pending,
            },
        })
        .await
    }

    /// A buffer for the next reply, which [`put_scratch`](Self::put_scratch) takes back.
    pub(crate) fn take_scratch(&mut self) -> BytesMut {
        std::mem::take(&mut self.scratch)
    }

    /// Puts a reply behind those that are not written yet.
    pub(crate) fn put_scratch(&mut self, mut reply: BytesMut) {
        self.output.extend_from_slice(&reply);
        if reply.capacity() <= BUFFER_MAX {
            reply.clear();
            self.scratch = reply;
        }
    }

    /// Ends the output: the peer reads the replies, and then the end.
    pub(crate) async fn shutdown(&mut self) -> io::Result<()> {
        self.io.shutdown().await
    }

    /// Discards what the peer still sends, until it ends, or sends nothing for [`REDIS_LINGER`].
    pub(crate) async fn discard(&mut self) {
        loop {
            self.input.clear();
            self.input.reserve(REDIS_BUFFER_MIN);
            let read = timeout(REDIS_LINGER, self.io.read_buf(&mut self.input)).await;
            if !matches!(read, Ok(Ok(1..))) {
                return;
            }
        }
    }

    fn unwritten(&self) -> usize {
        self.output.len() + self.held.iter().map(Buf::remaining).sum::<usize>()
    }

    fn poll_progress(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Progress>> {
        let was_full = self.is_full();
        if let Poll::Ready(Err(error)) = self.poll_write_all(cx) {
            return Poll::Ready(Err(error));
        }
        if was_full {
            return if self.is_full() { Poll::Pending } else { Poll::Ready(Ok(Progress::Written)) };
        }
        let read = ready!(self.poll_read(cx))?;
        Poll::Ready(Ok(if read == 0 { Progress::End } else { Progress::Read }))
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let room = self.input.capacity() - self.input.len();
        if room < self.read_size {
            self.input.reserve(self.read_size);
        }
        let room = self.input.capacity() - self.input.len();
        let read = ready!(pin!(self.io.read_buf(&mut self.input)).poll(cx))?;
        if read >= room {
            self.read_size = (2 * self.read_size).min(BUFFER_MAX);
        } else if read < self.read_size / 4 {
            self.read_size = (self.read_size / 2).max(REDIS_BUFFER_MIN);
        }
        Poll::Ready(Ok(read))
    }

    fn poll_write_all(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.held.is_empty() && self.output.len() > REDIS_UNTRACKED_MAX {
            self.hold();
        }
        loop {
            if let Some(held) = self.held.front_mut() {
                let written = ready!(Pin::new(&mut self.io).poll_write(cx, held.chunk()))?;
                held.advance(written);
                if written == 0 {
                    return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                }
                if !held.has_remaining() {
                    self.held.pop_front();
                }
            } else if self.output.is_empty() {
                return self.poll_flush(cx);
            } else {
                self.is_flushed = false;
                let written = match Pin::new(&mut self.io).poll_write(cx, &self.output)? {
                    Poll::Ready(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    Poll::Ready(written) => written,
                    Poll::Pending => 0,
                };
                if written == self.output.len() {
                    self.output.clear();
                } else {
                    self.output.advance(written);
                    self.hold();
                }
            }
        }
    }

    /// Sets the replies aside that the peer does not take, in pieces without spare room: what is counted is what they
    /// occupy, and a piece that was written occupies nothing.
    fn hold(&mut self) {
        let pieces = self.output.chunks(BUFFER_MAX).map(Bytes::copy_from_slice);
        self.held.extend(pieces.map(|piece| self.unread.track(piece)));
        self.output = BytesMut::new();
    }

    /// A stream with a buffer of its own, such as one of TLS, may still hold what was written.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_flushed {
            ready!(Pin::new(&mut self.io).poll_flush(cx))?;
            self.is_flushed = true;
            // An idle connection keeps no large buffers.
            if self.output.capacity() > BUFFER_MAX {
                self.output = BytesMut::new();
            }
            if self.input.is_empty()
                && self.read_size == REDIS_BUFFER_MIN
                && self.input.capacity() > BUFFER_MAX
            {
                self.input = BytesMut::new();
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{UNREAD_FREE, UNREAD_UNIT_BYTES, response_budget::ResponseBudget};

    #[tokio::test]
    async fn all_that_a_peer_leaves_unread_is_counted() {
        let (own, _peer) = tokio::io::duplex(1024);
        let all = ResponseBudget::default();
        let mut wire = Wire::new(own, all.connection());
        let (rounds, reply) = (10, vec![b'x'; 3 * UNREAD_UNIT_BYTES * UNREAD_FREE]);
        for _ in 0..rounds {
            wire.output.extend_from_slice(&reply);
            let mut written = Box::pin(wire.flush());
            let polled = std::future::poll_fn(|cx| Poll::Ready(written.as_mut().poll(cx).is_pending())).await;
            assert!(polled, "nobody reads");
        }
        let largest = wire.held.iter().map(Buf::remaining).max();
        assert!(largest <= Some(BUFFER_MAX), "{largest:?}: a piece is held until its last byte is written");
        let counted = all.sum() * UNREAD_UNIT_BYTES;
        assert!(counted + UNREAD_FREE * UNREAD_UNIT_BYTES >= rounds * reply.len(), "{counted}");
        drop(wire);
        assert_eq!(all.sum(), 0);
    }

    #[tokio::test]
    async fn replies_are_written_while_the_next_one_is_awaited() {
        let (own, mut peer) = tokio::io::duplex(1024);
        let mut wire = Wire::new(own, ResponseBudget::default().connection());
        wire.output.extend_from_slice(b"+PONG\r\n");
        let (tell, told) = tokio::sync::oneshot::channel();
        let waits = tokio::spawn(async move { wire.write_beside(told).await });
        let mut reply = [0; 7];
        peer.read_exact(&mut reply).await.unwrap();
        assert_eq!(&reply, b"+PONG\r\n");
        tell.send(7).unwrap();
        assert_eq!(waits.await.unwrap().unwrap(), Ok(7));
    }
}
