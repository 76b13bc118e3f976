//! One connection: bytes flow, until the mode says what else becomes of it.

use std::net::SocketAddr;

use tokio::{io::AsyncReadExt, net::TcpStream};

use super::{
    listener::Wire,
    mode::{Direction, Fate, Order},
    pump::{self, End},
};

/// How a connection goes on when bytes no longer flow.
enum Then {
    /// Both sides have closed it.
    Closed,
    /// Both sides get a reset.
    Reset,
    /// The client gets nothing more; nor does the server, or it sees the connection closed.
    Silence { server_too: bool },
}

/// Serves one client to the end.
pub(crate) async fn serve(mut client: TcpStream, wire: &mut Wire) {
    let counters = std::sync::Arc::clone(&wire.counters);
    let _open = counters.opened();
    let Order { mode, target, .. } = *wire.orders.borrow_and_update();
    let (then, mut server) = match mode.fate() {
        Fate::Reset => (Then::Reset, None),
        // A server that never saw this client has nothing to believe.
        Fate::Silence { .. } => (Then::Silence { server_too: false }, None),
        Fate::Flow | Fate::Wait => match TcpStream::connect(target).await {
            Ok(mut server) => (flow(&mut client, &mut server, target, wire).await, Some(server)),
            Err(_) => (Then::Reset, None),
        },
    };
    match then {
        Then::Closed => return,
        Then::Reset => {}
        Then::Silence { server_too } => {
            // Closed in order, as by a client that went away.
            server = server.filter(|_| server_too);
            silence(&mut client, server.as_mut(), wire).await;
        }
    }
    for side in [Some(client), server].into_iter().flatten() {
        drop(side.set_zero_linger());
    }
}

/// Passes bytes both ways for as long as the mode lets them, and the server is the one to have.
async fn flow(client: &mut TcpStream, server: &mut TcpStream, target: SocketAddr, wire: &mut Wire) -> Then {
    // Small packets at once: the proxy adds no delay of its own.
    drop((client.set_nodelay(true), server.set_nodelay(true)));
    let ((from_client, to_client), (from_server, to_server)) = (client.split(), server.split());
    let there = pump::run(from_client, to_server, Direction::There, target, wire.clone());
    let back = pump::run(from_server, to_client, Direction::Back, target, wire.clone());
    tokio::pin!(there, back);
    let (mut there_ended, mut back_ended) = (false, false);
    while !(there_ended && back_ended) {
        let end = tokio::select! {
            biased;
            changed = wire.orders.changed() => {
                let order = *wire.orders.borrow();
                match (changed, order.mode.fate()) {
                    (Err(_), _) | (_, Fate::Reset) => return Then::Reset,
                    _ if order.target != target => return Then::Reset,
                    (_, Fate::Flow | Fate::Wait) => continue,
                    (_, Fate::Silence { server_too }) => return Then::Silence { server_too },
                }
            }
            end = &mut there, if !there_ended => { there_ended = true; end }
            end = &mut back, if !back_ended => { back_ended = true; end }
        };
        if end == End::Broken {
            return Then::Reset;
        }
    }
    Then::Closed
}

/// Swallows whatever comes, also the end, until the mode changes to one that is not silent.
async fn silence(client: &mut TcpStream, server: Option<&mut TcpStream>, wire: &mut Wire) {
    let swallow = async {
        tokio::join!(drain(Some(client)), drain(server));
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = swallow => {}
        _ = wire.orders.wait_for(|order| !matches!(order.mode.fate(), Fate::Silence { .. })) => {}
    }
}

async fn drain(side: Option<&mut TcpStream>) {
    let Some(side) = side else { return };
    let mut buffer = [0; 4096];
    while side.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
}
