//! What is refused, and what is said of it: logins, grants, schemas, settings, and what stands in between.

use std::net::SocketAddr;

use sequent_backend::{mysql::MysqlLedger, net::ServerOptions};
use sequent_core::{
    DurabilityClass, ErrorKind, Layout,
    ledger::{Identity, LayoutBook, LayoutPage, LayoutRecord},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::support::{CODES, Hand, LEDGER, ROWS, Site, WAYS, failed, row};

#[tokio::test]
async fn logins_and_databases_that_are_none_are_refused() {
    let site = Site::new(ROWS).await;
    let wrong = Site::options_at(&site.server.url_as("shop", "another%20secret"));
    failed(row(wrong).inspect().await, ErrorKind::Refused, &["1045", "mysql://shop@127.0.0.1"]);
    let nowhere = Site::options_at(&site.url().replace("/sequent", "/nowhere"));
    failed(row(nowhere).inspect().await, ErrorKind::Refused, &["nowhere"]);
}

#[tokio::test]
async fn a_missing_schema_is_made_only_where_that_is_allowed() {
    let site = Site::new(LEDGER).await;
    let never = || ServerOptions { create: false, ..site.options() };
    for (_, make) in WAYS {
        failed(make(never()).inspect().await, ErrorKind::Refused, &["sequent_cells", "may be made"]);
    }
    failed(MysqlLedger::new(never()).inspect().await, ErrorKind::Refused, &["sequent_meta", "may be made"]);
    row(site.options()).inspect().await.unwrap();
    row(never()).inspect().await.unwrap();
    MysqlLedger::new(site.options()).inspect().await.unwrap();
    MysqlLedger::new(never()).inspect().await.unwrap();
    let codes = Site::new(LEDGER).await;
    WAYS[2].1(codes.options()).inspect().await.unwrap();
    let hand = Hand::of((WAYS[2].1)(ServerOptions { create: false, ..codes.options() })).await.unwrap();
    failed(hand.close("order", 1).await, ErrorKind::Unfit, &["order_code_0", "may be made"]);
}

/// Each privilege that is written down is needed: without it something is refused.
#[tokio::test]
async fn the_grants_are_the_least() {
    for (at, grants) in [ROWS, CODES].into_iter().enumerate() {
        let make = [WAYS[0].1, WAYS[2].1][at];
        for left_out in grants.split(", ") {
            let site = Site::new(ROWS).await;
            site.server.sql("REVOKE ALL ON sequent.* FROM 'shop'@'127.0.0.1'").await;
            let kept: Vec<&str> = grants.split(", ").filter(|grant| *grant != left_out).collect();
            site.server.sql(&format!("GRANT {} ON sequent.* TO 'shop'@'127.0.0.1'", kept.join(", "))).await;
            let outcome = async {
                let hand = Hand::of(make(site.options())).await?;
                hand.begin("order", 1, 0).await?;
                for _ in 0..3 {
                    hand.take("order", 1, 1000).await?;
                }
                let sql = "SELECT COUNT(*) FROM order_code_0";
                let rows = site.server.try_sql(sql).await.unwrap_or_default();
                Ok::<_, sequent_core::SourceError>(rows.trim().parse().unwrap_or(0))
            };
            match outcome.await {
                Err(error) => assert_eq!(error.kind(), ErrorKind::Refused, "without {left_out}: {error}"),
                // A purge that is not allowed is no reason to give no numbers.
                Ok(rows) => assert!(left_out == "DELETE" && rows > 3000, "{rows} rows without {left_out}"),
            }
        }
    }
}

/// A ring that was fenced, and can't be changed further, would give nothing: a plan shows that all the rest may be done.
#[tokio::test]
async fn a_ledger_that_may_delete_nothing_plans_no_resize() {
    let site = Site::new(LEDGER).await;
    let ledger = MysqlLedger::new(site.options());
    let layout = |n| Layout::new(n, 0).unwrap();
    let first = LayoutRecord { cluster: "shop".parse().unwrap(), layout: layout(1), generation: 1 };
    let page = LayoutPage::of(&ledger.found(&first).await.unwrap());
    let planned = page.planned(layout(2));
    let user = "'shop'@'127.0.0.1'";
    let only = "GRANT DELETE ON sequent.sequent_documents TO";
    site.server.sql(&format!("REVOKE DELETE ON sequent.* FROM {user}; {only} {user}")).await;
    ledger.disconnect().await;
    failed(ledger.turn(&page, &planned).await, ErrorKind::Refused, &["DELETE", "sequent_counters"]);
    assert_eq!(ledger.page().await.unwrap(), Some(page.clone()));
    site.server.sql(&format!("GRANT DELETE ON sequent.* TO {user}")).await;
    ledger.disconnect().await;
    ledger.turn(&page, &planned).await.unwrap();
}

#[tokio::test]
async fn settings_decide_the_class() {
    for (settings, class) in [
        (&[("innodb_flush_log_at_trx_commit", "1")][..], DurabilityClass::Durable),
        (&[("innodb_flush_log_at_trx_commit", "2")], DurabilityClass::Lossy),
        (&[("log_bin", "binlog"), ("sync_binlog", "0")], DurabilityClass::Lossy),
        (&[("log_bin", "binlog"), ("sync_binlog", "1")], DurabilityClass::Durable),
    ] {
        let site = Site::with(ROWS, settings).await;
        let durability = row(site.options()).inspect().await.unwrap().durability;
        assert_eq!(durability.class, class, "{settings:?}: {durability:?}");
        let read = |name: &str| durability.settings.iter().any(|(is, _)| is == name);
        assert!(read("innodb_flush_log_at_trx_commit") && read("sync_binlog"), "{durability:?}");
    }
}

#[tokio::test]
async fn a_server_that_takes_no_writes_is_away_until_it_takes_them() {
    let site = Site::new(ROWS).await;
    let hand = Hand::of(row(site.options())).await.unwrap();
    hand.begin("order", 1, 0).await.unwrap();
    site.server.sql("SET GLOBAL read_only = ON").await;
    failed(row(site.options()).inspect().await, ErrorKind::Unavailable, &["read_only is ON"]);
    failed(hand.take("order", 1, 1).await, ErrorKind::Unavailable, &["read-only"]);
    failed(hand.store.inspect().await, ErrorKind::Unavailable, &["read_only is ON"]);
    let ledger = MysqlLedger::new(site.options());
    failed(ledger.inspect().await, ErrorKind::Unavailable, &["read_only is ON"]);
    site.server.sql("SET GLOBAL read_only = OFF").await;
    assert_eq!(hand.take("order", 1, 1).await.unwrap().first(), 1);
}

#[tokio::test]
async fn tables_of_an_engine_that_forgets_are_refused() {
    let site = Site::new(ROWS).await;
    row(site.options()).inspect().await.unwrap();
    site.server.sql("ALTER TABLE sequent_cells ENGINE = MyISAM").await;
    failed(row(site.options()).inspect().await, ErrorKind::Refused, &["sequent_cells", "MyISAM"]);
}

/// Passes on one connection, but greets with a connection's number of its own, as a proxy that multiplexes does.
async fn between(server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut server = TcpStream::connect(server).await.unwrap();
        let mut greeting = vec![0; 4];
        server.read_exact(&mut greeting).await.unwrap();
        let length = usize::from(greeting[0]) | usize::from(greeting[1]) << 8;
        greeting.resize(4 + length, 0);
        server.read_exact(&mut greeting[4..]).await.unwrap();
        // Protocol, the version up to a zero byte, then the number.
        let number = 5 + greeting[5..].iter().position(|byte| *byte == 0).unwrap() + 1;
        greeting[number] ^= 0x40;
        client.write_all(&greeting).await.unwrap();
        let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
    });
    address
}

#[tokio::test]
async fn a_proxy_that_multiplexes_is_refused() {
    let site = Site::new(ROWS).await;
    let port = between(site.server.address()).await.port();
    let store = row(site.options_through(port));
    failed(store.inspect().await, ErrorKind::Refused, &["multiplexes"]);
}
