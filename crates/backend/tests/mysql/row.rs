//! `mysql-row` against the conformance suite.

use sequent_backend::mysql::MysqlStore;

use crate::support::{CODES, Hand, ROWS, Shard, Site};

sequent_testkit::store_conformance!(Shard { site: Site::new(ROWS).await, make: MysqlStore::row });

/// What `retain_periods` needs besides, to remove cells: the grants of `mysql-auto-increment` have it.
#[tokio::test]
async fn a_cell_is_removed_where_that_is_granted() {
    for make in [MysqlStore::row, MysqlStore::segment] {
        let shard = Shard { site: Site::new(CODES).await, make };
        let hand = Hand::of(make(shard.site.options())).await.unwrap();
        hand.begin("over", 1, 0).await.unwrap();
        let key = sequent_core::Key::from_stored("over");
        let cell = sequent_core::Cell { key: &key, under: &hand.under };
        assert!(sequent_core::Store::remove(&hand.store, cell).await.unwrap());
        hand.take("over", 1, 1).await.unwrap_err();
    }
}
