//! Sources that turn encoded ids into the numbers that users see.

pub(crate) mod bit_expansion;
pub(crate) mod range_mapping;
