//! A server's process at an address that outlives it.

use std::net::{SocketAddr, TcpListener};

use crate::place::{Place, Running};

/// `sequent serve` over the place's embedded cluster.
pub(crate) struct Server {
    address: SocketAddr,
    process: Option<Running>,
}

impl Server {
    /// Started, and ready.
    pub(crate) fn start(place: &Place) -> Self {
        // A port that was free a moment ago.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut server = Self { address, process: None };
        server.restart(place);
        server
    }

    /// Started at the same address, and ready.
    pub(crate) fn restart(&mut self, place: &Place) {
        let redis = format!("listen.redis={}", self.address);
        let mut args = vec!["serve", "--json"];
        let free = ["listen.grpc=127.0.0.1:0", "listen.http=127.0.0.1:0", "listen.admin=127.0.0.1:0"];
        for setting in free.into_iter().chain([redis.as_str(), "limits.drain_delay_s=1"]) {
            args.extend(["--set", setting]);
        }
        let process = place.start(&args);
        process.until("a server says where it is", |process| process.out().contains('\n').then_some(()));
        self.process = Some(process);
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.process.take().expect("it runs").kill();
    }

    /// Tells it to drain.
    pub(crate) fn begin_drain(&self) {
        self.process.as_ref().expect("it runs").signal("TERM");
    }

    /// Waits until it has drained.
    pub(crate) fn end_drain(&mut self) {
        let ran = self.process.take().expect("it runs").wait();
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}
