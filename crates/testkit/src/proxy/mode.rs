//! How the wire behaves.

use std::{net::SocketAddr, time::Duration};

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server.
    There,
    /// From the server to the client.
    Back,
}

/// How a proxy treats its connections, those that it has and those to come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// As if it were not there.
    #[default]
    Pass,
    /// Every byte arrives so much later; how many are under way at a time makes no difference.
    Latency {
        /// From the client to the server.
        there: Duration,
        /// From the server to the client.
        back: Duration,
    },
    /// Nothing arrives, nothing is lost: what was sent arrives when the mode changes, as when a network heals.
    Hold,
    /// Connections are reset (RST), new ones as soon as they are made.
    Reset,
    /// As when the server's process was killed: nobody listens any more, connections are reset.
    Refuse,
    /// Connections are accepted, and all that is sent, either way, vanishes, ends of connections too. Server and client
    /// each believe the other to be there. When the mode changes, a connection that this happened to is reset.
    BlackHole,
    /// As a black hole to the client, while the server sees its side of the connection closed.
    HalfOpen,
    /// A connection is reset, both sides, when so many bytes more have gone one way: with 0 bytes back, a request is
    /// done and its reply is lost. Counted for each connection from when the mode was set or it was made.
    Cut {
        /// Which way is counted.
        direction: Direction,
        /// How many bytes pass.
        after_bytes: u64,
    },
}

impl Mode {
    /// How long bytes are under way.
    pub(crate) fn delay(self, way: Direction) -> Duration {
        match (self, way) {
            (Self::Latency { there, .. }, Direction::There) => there,
            (Self::Latency { back, .. }, Direction::Back) => back,
            _ => Duration::ZERO,
        }
    }

    /// How many bytes pass before the connection is cut, where it is to be.
    pub(crate) fn allows(self, way: Direction) -> Option<u64> {
        match self {
            Self::Cut { direction, after_bytes } if direction == way => Some(after_bytes),
            _ => None,
        }
    }

    /// What becomes of the connections.
    pub(crate) fn fate(self) -> Fate {
        match self {
            Self::Pass | Self::Latency { .. } | Self::Cut { .. } => Fate::Flow,
            Self::Hold => Fate::Wait,
            Self::Reset | Self::Refuse => Fate::Reset,
            Self::BlackHole => Fate::Silence { server_too: true },
            Self::HalfOpen => Fate::Silence { server_too: false },
        }
    }
}

/// What becomes of connections under a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Bytes go on.
    Flow,
    /// Bytes go on later.
    Wait,
    /// It is reset.
    Reset,
    /// Nothing comes out of it any more.
    Silence {
        /// Whether the server is kept believing as well.
        server_too: bool,
    },
}

/// A mode and a server, with a number by which it can be told whether they are obeyed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    /// Counts the orders.
    pub(crate) number: u64,
    /// How bytes go.
    pub(crate) mode: Mode,
    /// Where they go.
    pub(crate) target: SocketAddr,
}
