//! Takes connections while the mode has a listener at all.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::{net::TcpListener, sync::watch, task::JoinSet, time::sleep};

use super::{
    connection,
    counts::Counters,
    mode::{Mode, Order},
};

/// How often the port is asked for again, which sockets that are about to close may hold a moment longer.
const TRIES_MAX: u32 = 200;
/// Between two of these.
const TRY_EVERY: Duration = Duration::from_millis(10);

/// What listener and connections share.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    /// Where bytes go, and how.
    pub(crate) orders: watch::Receiver<Order>,
    /// What has gone.
    pub(crate) counters: Arc<Counters>,
}

/// Opens the port.
pub(crate) async fn listen(address: SocketAddr) -> TcpListener {
    for _ in 0..TRIES_MAX {
        if let Ok(listener) = TcpListener::bind(address).await {
            return listener;
        }
        sleep(TRY_EVERY).await;
    }
    panic!("the port of {address} was taken by another process");
}

/// Serves until aborted or until nobody gives orders; its connections end with it.
pub(crate) async fn run(first: TcpListener, mut wire: Wire, obeys: watch::Sender<u64>) {
    let Ok(address) = first.local_addr() else { return };
    let mut listener = Some(first);
    let mut connections = JoinSet::new();
    loop {
        let Order { number, mode, .. } = *wire.orders.borrow_and_update();
        if mode == Mode::Refuse {
            listener = None;
        } else if listener.is_none() {
            listener = Some(listen(address).await);
        }
        obeys.send_replace(number);
        tokio::select! {
            biased;
            changed = wire.orders.changed() => {
                if changed.is_err() {
                    return;
                }
            }
            Some(Ok((client, _))) = accept(listener.as_ref()) => {
                let mut wire = wire.clone();
                connections.spawn(async move { connection::serve(client, &mut wire).await });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// The next connection, or never.
async fn accept(
    listener: Option<&TcpListener>,
) -> Option<std::io::Result<(tokio::net::TcpStream, SocketAddr)>> {
    match listener {
        Some(listener) => Some(listener.accept().await),
        None => std::future::pending().await,
    }
}
