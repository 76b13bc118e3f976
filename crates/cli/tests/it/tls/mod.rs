//! TLS of the real program: who is served over it, and certificates that are renewed while it serves.

mod browser;
pub(crate) mod certificates;
pub(crate) mod clients;
mod page;
mod refused;
mod rotation;
mod table;
