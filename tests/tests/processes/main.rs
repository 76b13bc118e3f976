//! The real binary, several at once, on a directory whose files are taken away, put back, locked, filled and swapped.
//!
//! Suggested reading order: [`place`], [`kills`], [`unusable`], [`copies`], [`partitions`], [`config`].
#![allow(clippy::disallowed_methods, reason = "bounds of patience with real processes")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails at that place")]

mod config;
mod copies;
mod full_disk;
mod kills;
mod partitions;
mod place;
mod resize;
mod root;
mod seen;
mod unusable;
