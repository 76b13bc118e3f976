//! The server's listening sockets, with a backlog for bursts of connections.

use std::{io, net::SocketAddr};

use tokio::net::{TcpListener, TcpSocket};

/// Connections that may wait for the server to take them; the system caps it (`net.core.somaxconn`). With the usual 128
/// a burst makes bystanders wait a second, for the system to send their connects again.
const BACKLOG: u32 = 4096;

/// Listens at `address`.
pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // As a listener made in one step has it: else a server could not start again while old connections end.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
