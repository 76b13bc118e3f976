//! `mysql-row` against the conformance suite.

use crate::support::{CODES, Hand, ROWS, Shard, Site, row, segment};

sequent_testkit::store_conformance!(Shard { site: Site::new(ROWS).await, make: row });

/// What `retain_periods` needs besides, to remove cells: the grants of `mysql-auto-increment` have it.
#[tokio::test]
async fn a_cell_is_removed_where_that_is_granted() {
    for make in [row, segment] {
        let shard = Shard { site: Site::new(CODES).await, make };
        let hand = Hand::of(make(shard.site.options())).await.unwrap();
        hand.begin("over", 1, 0).await.unwrap();
        let key = sequent_core::Key::from_stored("over");
        let cell = sequent_core::Cell { key: &key, under: &hand.under };
        assert!(hand.store.remove(cell).await.unwrap());
        hand.take("over", 1, 1).await.unwrap_err();
    }
}
