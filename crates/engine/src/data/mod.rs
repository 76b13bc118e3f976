//! The data directory: what may be in it, and the mark that every process leaves there.

mod birth;
mod directory;
mod disk;
mod home;
mod quarantine;
mod serving;

pub(crate) use birth::turn_to_make;
pub(crate) use directory::{Found, look, prepare};
pub(crate) use home::{Home, Unjudged};
pub(crate) use quarantine::Quarantine;
