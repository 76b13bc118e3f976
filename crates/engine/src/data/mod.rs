//! The data directory: what may be in it, and the mark that every process leaves there.

mod create_lock;
mod directory;
mod disk;
mod exposed;
mod jump_advice;
mod owner_file;
mod quarantine;
mod version_file;

pub(crate) use create_lock::turn_to_make;
pub use directory::{Found, look, prepare};
pub use exposed::{exposed_data, exposed_settings};
pub use jump_advice::jump_advice;
pub(crate) use quarantine::Quarantine;
pub use version_file::{Unjudged, VersionFile};
