//! `mysql-row` against the conformance suite.

use sequent_backend::mysql::MysqlStore;

use crate::support::{ROWS, Shard, Site};

sequent_testkit::store_conformance!(Shard { site: Site::new(ROWS).await, make: MysqlStore::row });
