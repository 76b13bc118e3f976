//! Listening sockets of a server, with a backlog for bursts of connections.

use std::{io, net::SocketAddr};

use tokio::net::{TcpListener, TcpSocket};

/// Connections that may wait to be accepted. The system limits it further (`net.core.somaxconn`). With the
/// usual 128 a burst delays other clients by a second, until the system repeats their connects.
const BACKLOG: u32 = 4096;

/// Listens at `address`.
pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Without it a server could not start again while old connections end.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
