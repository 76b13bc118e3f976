//! Clusters over real servers: the configuration that names them, users with the README's grants, outages.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod config;
mod kinds;
mod mixed;
mod site;
mod volatile;
