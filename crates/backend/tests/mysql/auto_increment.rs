//! `mysql-auto-increment` against the conformance suite, in both lock modes that servers have by default; and what only a
//! table a key can suffer.

use std::sync::Arc;

use sequent_backend::net::ServerOptions;
use sequent_core::{BoxFuture, Epoch, ErrorKind, InstanceId, Key, SourceError, Store};
use sequent_testkit::conformance::store::{Mishap, Odd, StoreFixture};

use crate::support::{CODES, Shard, Site};

fn make(options: ServerOptions) -> Arc<dyn Store> {
    crate::support::auto_increment(options)
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

    /// The table of the key is what counts: its fence stays, and is open.
    fn befall<'a>(&'a self, mishap: Mishap<'a>) -> BoxFuture<'a, bool> {
        let Mishap::Truncated(key) = mishap else { return self.0.befall(mishap) };
        Box::pin(async move {
            self.0.site.server.sql(&format!("TRUNCATE `{key}_code_0`")).await;
            true
        })
    }

    fn open_oddly(&self, how: Odd) -> BoxFuture<'_, Option<Arc<dyn Store>>> {
        self.0.open_oddly(how)
    }

    /// What a table can be named after: a sequence's name that is not too long.
    fn holds(&self, key: &Key) -> bool {
        let name = key.as_str();
        let sound = |c: char| c.is_ascii_alphanumeric() || ".:_-".contains(c);
        name.chars().all(sound) && name.len() + "_code_0".len() <= 64
    }
}

mod lock_mode_1 {
    use super::Codes;

    sequent_testkit::store_conformance!(Codes::new("1").await);
}

mod lock_mode_2 {
    use super::Codes;

    sequent_testkit::store_conformance!(Codes::new("2").await);
}

/// A store whose key `order` counts for epoch 1, above 0.
async fn begun() -> (Codes, Arc<dyn Store>, InstanceId) {
    let codes = Codes::new("2").await;
    let store = make(codes.0.site.options());
    let under = store.inspect().await.unwrap().instance;
    begin(&store, &under, 1).await.unwrap();
    (codes, store, under)
}

fn order() -> Key {
    Key::from_stored("order")
}

async fn begin(store: &Arc<dyn Store>, under: &InstanceId, epoch: i64) -> Result<u64, SourceError> {
    let (key, epoch) = (order(), Epoch::from_stored(epoch));
    let cell = sequent_core::Cell { key: &key, under };
    let value = store.close(cell, epoch).await?;
    store.install(cell, epoch, value).await?;
    Ok(value)
}

async fn take(store: &Arc<dyn Store>, under: &InstanceId, epoch: i64, want: u64) -> Result<u64, SourceError> {
    let key = order();
    let cell = sequent_core::Cell { key: &key, under };
    store.take(cell, Epoch::from_stored(epoch), want).await.map(|block| block.last())
}

#[tokio::test]
async fn a_truncated_table_is_named() {
    let (codes, store, under) = begun().await;
    assert_eq!(take(&store, &under, 1, 5).await.unwrap(), 5);
    codes
        .0
        .site
        .server
        .sql("TRUNCATE order_code_0; INSERT INTO order_code_0 (generate_time) VALUES (NOW())")
        .await;
    let refusal = take(&store, &under, 1, 2).await.unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::Regressed, "rows that others add are no anchor: {refusal}");
    assert!(refusal.to_string().contains("order_code_0"), "{refusal}");
    begin(&store, &under, 2).await.unwrap();
    assert_eq!(take(&store, &under, 2, 1).await.unwrap(), 2, "the ledger's base would have lifted it");
}

#[tokio::test]
async fn a_dropped_table_alone_gives_nothing_until_a_new_epoch_begins() {
    let (codes, store, under) = begun().await;
    take(&store, &under, 1, 5).await.unwrap();
    codes.0.site.server.sql("DROP TABLE order_code_0").await;
    for _ in 0..2 {
        let refusal = take(&store, &under, 1, 1).await.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Regressed, "{refusal}");
    }
    assert_eq!(codes.0.site.server.sql("SHOW TABLES LIKE 'order_code_0'").await.trim(), "", "a take made it");
    let key = order();
    let cell = sequent_core::Cell { key: &key, under: &under };
    assert_eq!(store.close(cell, Epoch::from_stored(2)).await.unwrap(), 0);
    store.install(cell, Epoch::from_stored(2), 5).await.unwrap();
    assert_eq!(take(&store, &under, 2, 1).await.unwrap(), 6);
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
    let under = other.inspect().await.unwrap().instance;
    for turn in 1..=10 {
        let both = tokio::join!(take(&store, &under, 1, 1500), take(&other, &under, 1, 1500));
        assert_eq!(both.0.unwrap().max(both.1.unwrap()), 10_000 + turn * 3000);
    }
}

#[tokio::test]
async fn a_block_longer_than_a_statement_is_given_in_part() {
    for (packet, rows) in [("16K", 1300..4096), ("1M", 4096..4097)] {
        let site = Site::with(CODES, &[("max_allowed_packet", packet)]).await;
        let hand = crate::support::Hand::of(make(site.options())).await.unwrap();
        hand.begin("order", 1, 0).await.unwrap();
        let block = hand.take("order", 1, 300_000).await.unwrap();
        assert!(block.first() == 1 && rows.contains(&block.count()), "{packet}: {block}");
        assert_eq!(hand.take("order", 1, 3).await.unwrap().first(), block.last() + 1);
    }
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
        let refusal = store.close(cell, Epoch::from_stored(1)).await.unwrap_err();
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
    assert!(crate::support::row(site.options()).inspect().await.is_ok(), "rows do not mind");
}

/// The server says of itself that it is a MySQL that forgets.
#[tokio::test]
async fn a_server_that_forgets_at_a_restart_is_refused() {
    let site = Site::with(CODES, &[("version", "5.7.44-log")]).await;
    let refusal = make(site.options()).inspect().await.unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::Refused, "{refusal}");
    for part in ["5.7.44-log forgets AUTO_INCREMENT at a restart", "MySQL 8.0 or later", "mysql-row"] {
        assert!(refusal.to_string().contains(part), "{part:?} is not in {refusal}");
    }
    assert!(crate::support::row(site.options()).inspect().await.is_ok(), "rows do not mind");
}
