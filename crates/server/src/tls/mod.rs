//! TLS of the listeners: what is in force, how a connection begins, and who the peer is.
//!
//! Reading order: [`acceptor`] turns a socket into a stream, [`files`] reads certificate, key and authorities as one
//! whole, [`reload`] replaces them while the server runs, [`client_names`] decides which clients are accepted.

pub(crate) mod acceptor;
mod certificate;
mod client_names;
pub(crate) mod files;
mod limited_socket;
pub(crate) mod peer;
pub(crate) mod reload;

pub use files::TlsFiles;
pub use reload::{ServerTls, TlsWatch};
