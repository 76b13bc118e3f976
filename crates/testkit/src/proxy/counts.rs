//! What has gone through a proxy.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::mode::Direction;

/// What a proxy has seen since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections that were accepted.
    pub accepted: u64,
    /// Connections that the proxy still has.
    pub open: u64,
    /// Bytes handed to the server.
    pub bytes_there: u64,
    /// Bytes handed to the client.
    pub bytes_back: u64,
}

/// The same, as it is counted.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    accepted: AtomicU64,
    open: AtomicU64,
    there: AtomicU64,
    back: AtomicU64,
}

impl Counters {
    /// The counts now.
    pub(crate) fn read(&self) -> Counts {
        Counts {
            accepted: self.accepted.load(Relaxed),
            open: self.open.load(Relaxed),
            bytes_there: self.there.load(Relaxed),
            bytes_back: self.back.load(Relaxed),
        }
    }

    /// Counts bytes that were handed on.
    pub(crate) fn passed(&self, way: Direction, bytes: usize) {
        let counter = match way {
            Direction::There => &self.there,
            Direction::Back => &self.back,
        };
        counter.fetch_add(bytes as u64, Relaxed);
    }

    /// Counts a connection, as open until the value returned is dropped.
    pub(crate) fn opened(&self) -> Open<'_> {
        self.accepted.fetch_add(1, Relaxed);
        self.open.fetch_add(1, Relaxed);
        Open(self)
    }
}

/// A connection that is open.
pub(crate) struct Open<'a>(&'a Counters);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Relaxed);
    }
}
