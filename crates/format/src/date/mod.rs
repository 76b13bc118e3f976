//! Dates in texts, and the periods of counters: one instant, one zone, nothing from the host.
//!
//! A two-digit year stands for 2000 to 2099: a template that shows one has no text for other years.

mod days;
mod facts;
pub(crate) mod instant;
mod moment;
mod pattern;
mod period;
mod shown;
mod zone;

pub(crate) use facts::Facts;
pub use instant::EXPECTED as INSTANT_EXPECTED;
pub(crate) use moment::{Moment, MonthDay};
pub(crate) use pattern::{Pattern, Token};
pub use period::Reset;
pub(crate) use shown::Shown;
pub(crate) use zone::Zone;
pub use zone::tzdb_version;

/// The years that two digits can stand for.
pub(crate) const TWO_DIGIT_YEARS: std::ops::RangeInclusive<i16> = 2000..=2099;
