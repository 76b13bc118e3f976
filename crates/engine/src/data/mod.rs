//! The data directory: what may be in it, and the mark that every process leaves there.

mod birth;
mod directory;
mod disk;
mod home;
mod leap_advice;
mod quarantine;
mod serving;

pub(crate) use birth::turn_to_make;
pub use directory::{Found, look, prepare};
pub use home::{Home, Unjudged};
pub use leap_advice::leap_advice;
pub(crate) use quarantine::Quarantine;
