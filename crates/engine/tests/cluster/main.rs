//! Whole clusters over real files: opening, taking, and what is counted.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod above;
mod at_risk;
mod definitions;
mod dense;
mod effective;
mod gauges;
mod idle;
mod midnight;
mod numbering;
mod partitions;
mod place;
mod refusals;
mod shared;
mod taking;
mod texts;

use place::{Place, contents, listening, once, take};
