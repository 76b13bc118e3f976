//! TLS of the real program: who is served over it, and certificates that are renewed while it serves.

mod certificates;
mod clients;
mod page;
mod refused;
mod rotation;
mod table;
