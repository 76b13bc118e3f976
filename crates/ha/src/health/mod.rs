//! Health of one member: pure state machines that get `now` and return their transitions.

mod backoff;
pub(crate) mod member;
#[cfg(test)]
mod tests;
mod window;
