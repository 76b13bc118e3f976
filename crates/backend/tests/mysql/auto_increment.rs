//! `mysql-auto-increment` against the conformance suite, in both lock modes that servers have by default; and what only a
//! table a key can suffer.

use std::sync::Arc;

use sequent_backend::mysql::MysqlStore;
use sequent_core::{BoxFuture, ErrorKind, Incarnation, Key, Life, SourceError, Store};
use sequent_testkit::conformance::store::StoreFixture;

use crate::support::{CODES, Shard, Site};

fn make(options: sequent_backend::mysql::MysqlOptions) -> MysqlStore {
    MysqlStore::auto_increment(options, "0").unwrap()
}

struct Codes(Shard);

impl Codes {
    async fn new(lock_mode: &str) -> Self {
        let site = Site::with(CODES, &[("innodb_autoinc_lock_mode", lock_mode)]).await;
        Self(Shard { site, make })
    }
}

impl StoreFixture for Codes {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        self.0.open()
    }

    fn restart(&self) -> BoxFuture<'_, bool> {
        self.0.restart()
    }

    fn copy(&self) -> BoxFuture<'_, bool> {
        self.0.copy()
    }

    fn restore(&self) -> BoxFuture<'_, bool> {
        self.0.restore()
    }

    /// The cell is both: the fence and the table.
    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            self.0.site.server.sql(&format!("DROP TABLE `{key}_code_0`")).await;
            self.0.delete(key).await
        })
    }
}

/// All checks but that of odd keys, most of which no table can be named after.
macro_rules! suite {
    ($mode:ident, $fixture:expr) => {
        mod $mode {
            use super::Codes;

            sequent_testkit::conformance_tests! { store, $fixture;
                a_take_never_creates, a_lift_never_creates, an_install_never_creates,
                a_close_writes_its_mark_on_nothing, a_close_returns_the_value_and_ends_the_life,
                a_second_close_keeps_the_value, an_install_opens_at_the_greater_of_value_and_base,
                an_install_done_twice_is_done_once, an_install_of_a_superseded_life_is_refused,
                a_lift_goes_forward_only, a_lift_to_nothing_only_reads, takes_go_on_where_the_last_ended,
                keys_share_nothing, lives_are_compared_to_the_last_bit, the_edge_of_the_range_never_wraps,
                values_beyond_the_range_are_refused,
                a_stamp_is_compared_and_set, of_many_first_stamps_one_stands, a_mark_only_grows,
                marks_at_once_leave_the_greatest, marks_and_stamps_are_no_cells, an_inspection_is_sane,
                many_tasks_at_once_get_every_id_once, two_handles_at_once_get_every_id_once,
                many_keys_at_once_stay_dense, of_many_closers_one_may_install, takers_race_closers,
                another_incarnation_touches_nothing, what_was_acknowledged_outlives_a_restart,
                a_restored_copy_speaks_as_another, a_deleted_cell_is_not_created_again,
                a_dropped_future_disturbs_nobody,
            }
        }
    };
}

suite!(lock_mode_1, Codes::new("1").await);
suite!(lock_mode_2, Codes::new("2").await);

/// A store whose key `order` counts for life 1, above 0.
async fn begun() -> (Codes, MysqlStore, Incarnation) {
    let codes = Codes::new("2").await;
    let store = make(codes.0.site.options());
    let under = store.inspect().await.unwrap().incarnation;
    begin(&store, &under, 1).await.unwrap();
    (codes, store, under)
}

fn order() -> Key {
    Key::from_stored("order")
}

async fn begin(store: &MysqlStore, under: &Incarnation, life: i64) -> Result<u64, SourceError> {
    let (key, life) = (order(), Life::from_stored(life));
    let cell = sequent_core::Cell { key: &key, under };
    let value = store.close(cell, life).await?;
    store.install(cell, life, value).await?;
    Ok(value)
}

async fn take(store: &MysqlStore, under: &Incarnation, life: i64, want: u64) -> Result<u64, SourceError> {
    let key = order();
    let cell = sequent_core::Cell { key: &key, under };
    store.take(cell, Life::from_stored(life), want).await.map(|block| block.last())
}

#[tokio::test]
async fn a_truncated_table_gives_nothing_until_a_new_life_begins() {
    let (codes, store, under) = begun().await;
    assert_eq!(take(&store, &under, 1, 5).await.unwrap(), 5);
    codes.0.site.server.sql("TRUNCATE order_code_0").await;
    for want in [1, 7, 2] {
        if want == 2 {
            codes.0.site.server.sql("INSERT INTO order_code_0 (f) VALUES (1)").await;
        }
        let refusal = take(&store, &under, 1, want).await.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Regressed, "{refusal}");
        assert!(refusal.to_string().contains("order_code_0"), "{refusal}");
    }
    let cell = sequent_core::Cell { key: &order(), under: &under };
    let refusal = store.lift(cell, Life::from_stored(1), 0).await.unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::Regressed, "the watch sees it too: {refusal}");
    begin(&store, &under, 2).await.unwrap();
    assert_eq!(take(&store, &under, 2, 1).await.unwrap(), 2, "the ledger's base would have lifted it");
}

#[tokio::test]
async fn a_deleted_fence_alone_keeps_what_the_table_knows() {
    let (codes, store, under) = begun().await;
    take(&store, &under, 1, 5).await.unwrap();
    codes.0.site.server.sql("DELETE FROM sequent_cells").await;
    assert_eq!(take(&store, &under, 1, 1).await.unwrap_err().kind(), ErrorKind::Regressed);
    assert_eq!(begin(&store, &under, 2).await.unwrap(), 5);
    assert_eq!(take(&store, &under, 2, 1).await.unwrap(), 6);
}

#[tokio::test]
async fn old_rows_go_and_the_newest_and_the_anchor_stay() {
    let (codes, store, under) = begun().await;
    for turn in 1..=20 {
        assert_eq!(take(&store, &under, 1, 500).await.unwrap(), turn * 500);
    }
    let rows: u64 =
        codes.0.site.server.sql("SELECT COUNT(*) FROM order_code_0").await.trim().parse().unwrap();
    assert!(rows < 3_000, "{rows} rows of 10,000 are left");
    let ends = codes.0.site.server.sql("SELECT MIN(id), MAX(id) FROM order_code_0").await;
    assert_eq!(ends.trim(), "0\t10000");
    // Nor do two handles that purge at once get into each other's way.
    let other = make(codes.0.site.options());
    let under = other.inspect().await.unwrap().incarnation;
    for turn in 1..=10 {
        let both = tokio::join!(take(&store, &under, 1, 1500), take(&other, &under, 1, 1500));
        assert_eq!(both.0.unwrap().max(both.1.unwrap()), 10_000 + turn * 3000);
    }
}

#[tokio::test]
async fn a_block_longer_than_a_statement_is_given_in_part() {
    let site = Site::with(CODES, &[("max_allowed_packet", "1M")]).await;
    let hand = crate::support::Hand::of(make(site.options())).await.unwrap();
    hand.begin("order", 1, 0).await.unwrap();
    let block = hand.take("order", 1, 300_000).await.unwrap();
    assert!(block.first() == 1 && (200_000..300_000).contains(&block.count()), "{block}");
    assert_eq!(hand.take("order", 1, 3).await.unwrap().first(), block.last() + 1);
}

#[tokio::test]
async fn each_row_has_the_time_it_was_made() {
    let (codes, store, under) = begun().await;
    take(&store, &under, 1, 2).await.unwrap();
    let sql = "SELECT COUNT(*) FROM order_code_0 \
        WHERE ABS(TIMESTAMPDIFF(SECOND, generate_time, UTC_TIMESTAMP())) < 60";
    assert_eq!(codes.0.site.server.sql(sql).await.trim(), "3", "two ids and the anchor");
}

#[tokio::test]
async fn keys_without_a_table_are_told_which_store_can() {
    let (_codes, store, under) = begun().await;
    for text in ["order|8:20170304", "order|0:|3:010", &"x".repeat(100), "or`der", "单号"] {
        let key = Key::from_stored(text);
        let cell = sequent_core::Cell { key: &key, under: &under };
        let refusal = store.close(cell, Life::from_stored(1)).await.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Exhausted, "the key's matter, not the slot's: {refusal}");
        assert!(refusal.to_string().contains("mysql-row"), "{refusal}");
    }
}

#[tokio::test]
async fn another_increment_is_refused() {
    let site = Site::with(CODES, &[("auto_increment_increment", "2")]).await;
    let refusal = make(site.options()).inspect().await.unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::Refused);
    assert!(refusal.to_string().contains("auto_increment_increment is 2, expected 1"), "{refusal}");
    assert!(MysqlStore::row(site.options()).inspect().await.is_ok(), "rows do not mind");
}
