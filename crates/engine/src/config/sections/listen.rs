//! `[listen]`: the addresses of the server's APIs.

use std::net::SocketAddr;

use crate::config::reading::{
    section,
    setting::{address, texts},
};

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

        /// The names by which HTTP and the admin port are called, besides `localhost` and any IP address; `*` in front
        /// stands for any beginning: `"*.shop.svc.cluster.local"`. Other names are refused: a page of another site could
        /// take one as its own, and ask from within an operator's browser.
        hosts: Vec<String> = texts("hosts").or(Vec::new()),

        /// Pages that may ask besides the console, by their origin, such as `"https://ops.example"`: pages that a proxy
        /// in front serves together with this API.
        origins: Vec<String> = texts("origins").or(Vec::new()),
    }
}
