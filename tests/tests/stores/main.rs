//! Clusters over real servers: the configuration that names them, users with the book's grants, outages.

#![allow(clippy::disallowed_methods, reason = "bounds of patience with real processes")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod adopted;
mod behind;
#[path = "../sdk/everybody/bits.rs"]
mod bits;
mod burst;
mod config;
mod dense;
mod disturbed;
mod doctor;
mod drained;
mod etcd;
mod forgetful;
#[allow(dead_code, reason = "shared with the tests of failover, which use all of it")]
#[path = "../failover/http.rs"]
mod http;
mod import_edges;
mod imported;
mod kinds;
mod left_out;
mod load;
mod logins;
mod lossy;
mod lowered;
mod masters;
mod mixed;
mod moved;
mod moving_pages;
#[allow(dead_code, reason = "shared with the tests of failover, which use all of it")]
mod paced;
mod pair;
mod partition;
#[allow(dead_code, reason = "shared with the tests of processes, which use all of it")]
#[path = "../processes/place.rs"]
mod place;
mod poisoned;
mod refused_imports;
mod resized;
mod restarts;
mod restored;
#[allow(dead_code, reason = "shared with the tests of failover, which use all of it")]
#[path = "../failover/server.rs"]
mod server;
mod site;
mod steady;
mod tale;
mod twins;
mod volatile;
mod ways_back;
