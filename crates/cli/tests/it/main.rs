//! The real binary, run in directories of its own.
#![allow(clippy::disallowed_methods, reason = "deadlines of tests, against real processes")]
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod abuse;
mod answers;
mod attacks;
mod audit;
mod bench;
mod book;
mod browser;
mod console;
mod doctor;
mod drain;
mod emptied;
mod explain;
mod forget;
mod frames;
mod greedy;
mod hung;
mod imported_files;
mod keys;
mod listening;
mod logs;
mod lowered;
mod lowered_alike;
mod metrics_page;
mod numbers;
mod operate;
mod operators;
mod peers;
mod place;
mod poisoned;
mod privacy;
mod recover;
mod refusals;
mod resize;
mod running;
mod secrets;
mod serve;
mod servers;
mod texts;
mod tls;
mod tokens;
mod usage;
