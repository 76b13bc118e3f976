//! `[listen]`: the addresses of the server's APIs.

use std::net::SocketAddr;

use super::tls::{TlsMode, TlsSection};
use crate::config::reading::{
    Reader, section,
    setting::{address, choice, texts},
};

/// Where plaintext is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plaintext {
    /// On loopback alone.
    Loopback,
    /// On any address: something in front encrypts, or the network is trusted.
    Trusted,
}

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

        /// Where plaintext is served. Without [TLS](../operating/tls.md), a listener beyond loopback is refused.
        /// `"trusted"` allows it, for example where a proxy in front encrypts.
        plaintext: Plaintext =
            choice("plaintext", &[("loopback", Plaintext::Loopback), ("trusted", Plaintext::Trusted)]),

        /// The names by which HTTP and the admin port are called, besides `localhost` and any IP address; `*` in front
        /// stands for any beginning: `"*.shop.svc.cluster.local"`. Other names are refused: a page of another site could
        /// take one as its own, and ask from within an operator's browser.
        hosts: Vec<String> = texts("hosts").or(Vec::new()),

        /// Pages that may ask besides the console, by their origin, such as `"https://ops.example"`: pages that a proxy
        /// in front serves together with this API.
        origins: Vec<String> = texts("origins").or(Vec::new()),
    }
}

/// What mends a listener beyond loopback without TLS.
const WITHOUT_TLS: &str = "without TLS loopback alone is allowed: set tls.mode, tls.cert_file and tls.key_file, or, if \
                           something in front encrypts, listen.plaintext = \"trusted\"";

/// The entries of `hosts`.
const HOSTS: &str =
    "a name without a port, or `*.` and the end of names, as \"*.shop.internal\", is expected";

/// The entries of `origins`.
const ORIGINS: &str =
    "http:// or https:// with a host, and a port if it has one, is expected, as \"https://ops.example\"";

/// Whether a text is a name of a host, or the end of names after `*.`.
fn is_host(text: &str) -> bool {
    let name = text.strip_prefix("*.").unwrap_or(text);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// Whether a text is an origin that a browser may send, other than `null`, which any page can have.
fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    host.is_some_and(|host| {
        !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:[]".contains(c))
    })
}

impl ListenSection {
    pub(crate) fn checked(reader: &mut Reader<'_>, tls: &TlsSection) -> Self {
        let mut section = reader.section("listen");
        let listen = Self::read(&mut section);
        if tls.mode == TlsMode::Off && listen.plaintext == Plaintext::Loopback {
            for (key, address) in listen.beyond_loopback() {
                section.fault(key, format!("\"{address}\""), WITHOUT_TLS);
            }
        }
        for host in listen.hosts.iter().filter(|host| !is_host(host)) {
            section.fault("hosts", format!("{host:?}"), HOSTS);
        }
        for origin in listen.origins.iter().filter(|origin| !is_origin(origin)) {
            section.fault("origins", format!("{origin:?}"), ORIGINS);
        }
        section.finish();
        listen
    }

    /// Each listener that other machines can reach, with its key.
    pub fn beyond_loopback(&self) -> Vec<(&'static str, SocketAddr)> {
        let all = [("grpc", self.grpc), ("http", self.http), ("redis", self.redis), ("admin", self.admin)];
        all.into_iter().filter(|(_, address)| !address.ip().to_canonical().is_loopback()).collect()
    }
}
