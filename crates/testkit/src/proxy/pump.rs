//! One way of a connection: reads, keeps each piece for as long as it is under way, writes.

use std::{net::SocketAddr, pin::Pin, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::tcp::{ReadHalf, WriteHalf},
    sync::mpsc::{self, Receiver, Sender},
    time::{Sleep, sleep},
};

use super::{
    listener::Wire,
    mode::{Direction, Fate, Order},
};

/// How many pieces are under way at most; then the sender waits, as for a slow network.
const UNDER_WAY_MAX: usize = 1024;
/// How long a piece is at most.
const PIECE_BYTES: usize = 16 * 1024;

/// How one way ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The sender closed it, and so has the receiver heard.
    Closed,
    /// An error, or it was cut.
    Broken,
}

/// Bytes, and when they arrive.
type Piece = (Pin<Box<Sleep>>, Vec<u8>);

/// Passes bytes on until the sender closes, somebody resets, or it is cut.
pub(crate) async fn run(
    from: ReadHalf<'_>,
    to: WriteHalf<'_>,
    way: Direction,
    target: SocketAddr,
    wire: Wire,
) -> End {
    let (sender, pieces) = mpsc::channel(UNDER_WAY_MAX);
    let orders = wire.orders.clone();
    let fed = async {
        feed(from, sender, || orders.borrow().mode.delay(way)).await;
        // What was read is still to be written.
        std::future::pending::<()>().await;
    };
    tokio::select! {
        closed = write(to, pieces, way, target, wire) => if closed { End::Closed } else { End::Broken },
        () = fed => End::Broken,
    }
}

/// Reads to the sender's end, which is an empty piece: it travels, too. After an error there is none.
async fn feed(mut from: ReadHalf<'_>, pieces: Sender<Piece>, delay: impl Fn() -> Duration) {
    loop {
        let mut piece = vec![0; PIECE_BYTES];
        let Ok(read) = from.read(&mut piece).await else { return };
        piece.truncate(read);
        // The time of arrival counts from now, however long the piece then waits for its turn.
        if pieces.send((Box::pin(sleep(delay())), piece)).await.is_err() || read == 0 {
            return;
        }
    }
}

/// Whether all was written, and the end; where it was not, the pieces that are left are dropped.
async fn write(
    mut to: WriteHalf<'_>,
    mut pieces: Receiver<Piece>,
    way: Direction,
    own: SocketAddr,
    mut wire: Wire,
) -> bool {
    let (mut under, mut passed) = (0, 0);
    while let Some((arrival, piece)) = pieces.recv().await {
        arrival.await;
        // Under any other fate nothing may pass; the connection sees the order, too, and ends this.
        let order = wire.orders.wait_for(|order| order.mode.fate() == Fate::Flow).await;
        let Ok(Order { number, mode, target }) = order.map(|order| *order) else { return false };
        if target != own {
            return false;
        }
        if number != under {
            (under, passed) = (number, 0);
        }
        if piece.is_empty() {
            return to.shutdown().await.is_ok();
        }
        let left = mode
            .allows(way)
            .map_or(usize::MAX, |bytes| usize::try_from(bytes - passed).unwrap_or(usize::MAX));
        let part = &piece[..piece.len().min(left)];
        if to.write_all(part).await.is_err() {
            return false;
        }
        passed += part.len() as u64;
        wire.counters.passed(way, part.len());
        if part.len() < piece.len() {
            return false;
        }
    }
    false
}
