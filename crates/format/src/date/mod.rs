//! Dates in texts, and the periods of counters. Every function takes the instant and the zone; nothing is read from the host.

mod calendar_search;
mod decoded;
mod inference;
pub(crate) mod instant;
mod local_datetime;
mod month_day;
mod pattern;
mod period;
mod token;
mod zone;

pub(crate) use decoded::DecodedDate;
pub(crate) use inference::DateFields;
pub use instant::EXPECTED as INSTANT_EXPECTED;
pub(crate) use local_datetime::LocalDateTime;
pub(crate) use month_day::MonthDay;
pub(crate) use pattern::Pattern;
pub use period::Reset;
pub(crate) use token::Token;
pub(crate) use zone::Zone;
pub use zone::tzdb_version;
