//! `[listen]`: the addresses of the server's APIs.

use std::net::SocketAddr;

use crate::config::reading::{section, setting::address};

section! {
    /// The addresses of the server's APIs: loopback unless configured. Port 0 takes a free one.
    pub struct ListenSection(section) {
        /// gRPC.
        grpc: SocketAddr = address("grpc", 7420),

        /// HTTP/JSON.
        http: SocketAddr = address("http", 7421),

        /// RESP, the protocol of Redis. It is not served yet.
        resp: SocketAddr = address("resp", 7422),

        /// Health, metrics, status and console.
        admin: SocketAddr = address("admin", 7423),
    }
}
