//! A TCP proxy whose wire fails on command: between a server that is well and a client that is to believe otherwise.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! use sequent_testkit::proxy::{Mode, Proxy};
//! use tokio::net::{TcpListener, TcpStream};
//! let server = TcpListener::bind("127.0.0.1:0").await?;
//! let proxy = Proxy::to(server.local_addr()?).await;
//! let through = TcpStream::connect(proxy.address()).await?;
//! proxy.set(Mode::Refuse).await;
//! assert!(TcpStream::connect(proxy.address()).await.is_err());
//! # Ok::<(), std::io::Error>(())
//! # })?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod connection;
mod counts;
mod listener;
mod mode;
mod pump;

use std::{net::SocketAddr, sync::Arc};

use tokio::{
    sync::{Mutex, watch},
    task::AbortHandle,
};

use crate::servers::Port;
use counts::Counters;
pub use counts::Counts;
use mode::Order;
pub use mode::{Direction, Mode};

/// A proxy on a port of 127.0.0.1; dropped, it is gone with all its connections.
#[derive(Debug)]
pub struct Proxy {
    port: Arc<Port>,
    orders: watch::Sender<Order>,
    obeyed: Mutex<watch::Receiver<u64>>,
    counters: Arc<Counters>,
    listener: AbortHandle,
}

impl Proxy {
    /// One that passes everything on to `target`, for a start.
    pub async fn to(target: SocketAddr) -> Self {
        let port = Arc::new(Port::reserve());
        let counters = Arc::<Counters>::default();
        let (orders, heard) = watch::channel(Order { number: 0, mode: Mode::default(), target });
        let (obeys, obeyed) = watch::channel(0);
        let wire = listener::Wire { orders: heard, counters: Arc::clone(&counters) };
        let listening = listener::listen(port.address()).await;
        let listener = tokio::spawn(listener::run(listening, wire, obeys)).abort_handle();
        Self { port, orders, obeyed: Mutex::new(obeyed), counters, listener }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// The port alone.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// From when this returns on, no byte is passed on that the mode forbids, and who connects meets the mode.
    pub async fn set(&self, mode: Mode) {
        self.order(|order| order.mode = mode).await;
    }

    /// From when this returns on, who connects gets to this server, and connections to another one are reset: a switch, as
    /// high availability has it.
    pub async fn turn_to(&self, target: SocketAddr) {
        self.order(|order| order.target = target).await;
    }

    async fn order(&self, change: impl FnOnce(&mut Order)) {
        // One order at a time, so that each waits for its own.
        let mut obeyed = self.obeyed.lock().await;
        let mut order = *self.orders.borrow();
        order.number += 1;
        change(&mut order);
        self.orders.send_replace(order);
        // The listener ends with this value alone, so there is somebody to obey.
        drop(obeyed.wait_for(|done| *done >= order.number).await);
    }

    /// What has gone through.
    pub fn counts(&self) -> Counts {
        self.counters.read()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listener.abort();
    }
}
