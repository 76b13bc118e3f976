//! Whole clusters over real files: what an operator sees, says, loses and repairs.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod advance;
mod explain;
mod fenced;
mod imported;
mod losses;
mod operators;
#[path = "../../../engine/tests/cluster/place.rs"]
mod place;
mod resize;
mod restored_layout;
mod went_back;

use place::{Place, listening, once, take};
