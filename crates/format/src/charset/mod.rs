//! Sets of characters: what a part can hold, and which characters are allowed in texts.

mod case;
mod lookalikes;
mod set;
mod visible;

pub(crate) use case::Case;
pub(crate) use set::Charset;
pub(crate) use visible::{describe, is_visible, visible};
