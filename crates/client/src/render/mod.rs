//! Texts of numbers: rendered in this process from a lease, or by a server.

pub(crate) mod local_render;
pub(crate) mod text;
