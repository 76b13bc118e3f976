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

        /// The protocol of Redis: [any Redis client](../using/redis.md).
        redis: SocketAddr = address("redis", 7422),

        /// Health, metrics, status and console.
        admin: SocketAddr = address("admin", 7423),
    }
}
