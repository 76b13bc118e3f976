//! `mysql-segment` against the conformance suite.

use crate::support::{ROWS, Shard, Site, segment};

sequent_testkit::store_conformance!(Shard { site: Site::new(ROWS).await, make: segment });
