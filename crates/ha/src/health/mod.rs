//! Health of members: pure state machines that are told `now` and return what flipped.

mod backoff;
mod member;
#[cfg(test)]
mod tests;
mod window;

pub(crate) use member::{Cause, Claim, Flip, Member};
