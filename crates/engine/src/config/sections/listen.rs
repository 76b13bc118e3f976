//! `[listen]`: the addresses of the server's APIs.

use std::net::SocketAddr;

use crate::config::TableReader;

/// `[listen]`: loopback unless configured.
#[derive(Debug, Clone)]
pub struct ListenPart {
    /// gRPC.
    pub grpc: SocketAddr,
    /// HTTP/JSON.
    pub http: SocketAddr,
    /// RESP.
    pub resp: SocketAddr,
    /// Health, metrics, status.
    pub admin: SocketAddr,
}

impl ListenPart {
    pub(crate) fn read(mut section: TableReader<'_, '_>) -> Self {
        let grpc = address(&mut section, "grpc", 7420);
        let http = address(&mut section, "http", 7421);
        let resp = address(&mut section, "resp", 7422);
        let admin = address(&mut section, "admin", 7423);
        section.finish();
        Self { grpc, http, resp, admin }
    }
}

fn address(section: &mut TableReader<'_, '_>, key: &'static str, port: u16) -> SocketAddr {
    let default = SocketAddr::from(([127, 0, 0, 1], port));
    let Some(text) = section.text(key) else {
        section.default_shown(key, format!("\"{default}\""));
        return default;
    };
    text.parse().unwrap_or_else(|_| {
        section.fault(key, format!("{text:?}"), "an address and port, as \"127.0.0.1:7420\", is expected");
        default
    })
}
