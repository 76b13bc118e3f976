//! The ledger against the conformance suite.

use std::{
    fmt::Write,
    sync::{Arc, Mutex},
    time::Duration,
};

use sequent_core::{
    BoxFuture, Epoch, Key, Layout,
    ledger::{
        Counter, Definition, Identity, LayoutRecord, Ledger, Loss, Opening, Over, Pass, Raise, ServerId,
        SlotCommand, SlotVerb,
    },
};
use sequent_testkit::conformance::ledger::LedgerFixture;

use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::support::Site;

/// For so long a stranger holds a row.
const HELD: Duration = Duration::from_secs(2);

const SCHEMA: &str = "sequent_ledger";

/// Every table but those that say which run of the server it is.
const TABLES: [&str; 5] = ["meta", "servers", "counters", "history", "documents"];

struct LedgerSchema {
    site: Site,
    dump: Mutex<String>,
}

impl LedgerSchema {
    async fn new() -> Self {
        Self { site: Site::new().await, dump: Mutex::default() }
    }
}

impl LedgerSchema {
    /// Another client of the database runs a statement, and commits it after some seconds.
    async fn stranger(&self, sql: String) -> bool {
        let mut stranger = PgConnection::connect(&self.site.server.url()).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(format!("BEGIN; {sql}"))).execute(&mut stranger).await.unwrap();
        tokio::spawn(async move {
            tokio::time::sleep(HELD).await;
            sqlx::raw_sql("COMMIT").execute(&mut stranger).await.unwrap();
        });
        true
    }
}

impl LedgerFixture for LedgerSchema {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Ledger>> {
        Box::pin(async { Arc::new(self.site.ledger()) as Arc<dyn Ledger> })
    }

    fn restart(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            self.site.server.restart().await;
            true
        })
    }

    fn copy(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            *self.dump.lock().unwrap() = self.site.dump(SCHEMA);
            let mut sql = "CREATE SCHEMA kept;\n".to_owned();
            for table in TABLES {
                writeln!(sql, "CREATE TABLE kept.{table} AS TABLE {SCHEMA}.{table};").unwrap();
            }
            self.site.server.sql(&sql).await;
            true
        })
    }

    fn restore(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            let dump = self.dump.lock().unwrap().clone();
            self.site.load(SCHEMA, &dump).await;
            true
        })
    }

    fn restore_in_place(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            // Rows by hand, in the tables that are there: nothing but the nonces can tell.
            let mut sql = "BEGIN;\n".to_owned();
            for table in TABLES {
                let into = format!("INSERT INTO {SCHEMA}.{table} OVERRIDING SYSTEM VALUE");
                writeln!(sql, "DELETE FROM {SCHEMA}.{table}; {into} TABLE kept.{table};").unwrap();
            }
            self.site.server.sql(&(sql + "COMMIT;")).await;
            true
        })
    }

    fn hold_dense<'a>(&'a self, key: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(self.stranger(format!("SELECT * FROM {SCHEMA}.dense WHERE k = '{key}' FOR UPDATE")))
    }

    fn begin_dense<'a>(&'a self, key: &'a str, value: u64) -> BoxFuture<'a, bool> {
        Box::pin(self.stranger(format!("INSERT INTO {SCHEMA}.dense VALUES ('{key}', {value}, 0)")))
    }
}

sequent_testkit::ledger_conformance!(LedgerSchema::new().await);

/// Who was suspended for days is still known when it wakes; where there are many rows, the longest silent go.
#[tokio::test]
async fn rows_of_servers_that_no_longer_call_go_after_a_day_where_there_are_many() {
    let site = Site::new().await;
    let ledger = site.ledger();
    let under = ledger.inspect().await.unwrap().instance;
    ledger.enlist(&under, ServerId(1), 1).await.unwrap();
    site.server.sql(&format!("UPDATE {SCHEMA}.servers SET seen_ms = seen_ms - 72 * 3600000")).await;
    ledger.enlist(&under, ServerId(3), 1).await.unwrap();
    let servers = || site.server.sql("SELECT server FROM sequent_ledger.servers ORDER BY server");
    assert_eq!(servers().await, "1\n3\n");
    let crowd = format!("INSERT INTO {SCHEMA}.servers SELECT i, 1, 0 FROM generate_series(10000, 11023) i");
    site.server.sql(&crowd).await;
    ledger.enlist(&under, ServerId(2), 1).await.unwrap();
    let left = servers().await;
    assert!(left.starts_with("1\n2\n3\n10002\n") && left.ends_with("\n11023\n"), "{left}");
}

/// Each call of a ledger once: what a role must be allowed to do.
pub(crate) async fn every_call(ledger: &dyn Ledger) {
    let under = ledger.inspect().await.unwrap().instance;
    let layout =
        LayoutRecord { cluster: "shop".parse().unwrap(), layout: Layout::new(2, 0).unwrap(), generation: 1 };
    ledger.found(&layout).await.unwrap();
    let server = ServerId(7);
    ledger.enlist(&under, server, 1).await.unwrap();
    ledger.record(&under, None, &under).await.unwrap();
    ledger.record(&under, Some(0), &under).await.unwrap();
    let counter = Counter { slot: 0, key: Key::from_stored("order") };
    let opening = |bits| Opening {
        counter: counter.clone(),
        epoch: Epoch::from_stored(bits),
        over: Over::Any,
        store: under.clone(),
        value: 0,
        beside: 0,
        ahead: 100,
        jump_max: 1000,
    };
    let pass = |nonce: &'static [u64; 1], next| Pass {
        under: &under,
        record: Some(&under),
        server,
        nonces: nonce,
        next,
        generation: 1,
    };
    ledger.open(pass(&[1], 2), &[opening(1), opening(2)]).await.unwrap();
    let raise = Raise {
        counter: counter.clone(),
        epoch: Epoch::from_stored(2),
        ceiling: 500,
        seen: 120,
        jump_max: 1000,
    };
    ledger.raise(pass(&[2], 3), std::slice::from_ref(&raise)).await.unwrap();
    ledger.heartbeat(pass(&[3], 4), &[raise]).await.unwrap();
    assert_eq!(ledger.history(&counter).await.unwrap().len(), 1);
    assert_eq!(ledger.list(None, 10).await.unwrap().len(), 1);
    let definition = Definition { name: "order".parse().unwrap(), version: 1, body: "a".to_owned() };
    ledger.define(&definition, None).await.unwrap();
    let word = SlotCommand {
        slot: 0,
        verb: SlotVerb::Evict,
        who: "a".into(),
        why: "b".into(),
        at_ms: 0,
        until_ms: None,
    };
    ledger.say(&word).await.unwrap();
    ledger.say(&word).await.unwrap();
    ledger.slot_commands().await.unwrap();
    ledger.known().await.unwrap();
    let new = ledger.rebear(&under).await.unwrap();
    assert_ne!(new, under);
    ledger.recover(Loss::Bump(10), 0).await.unwrap();
}

/// The same ledger, keeping only some of the rules.
#[cfg(feature = "mutation")]
struct Mutant {
    site: Site,
    rules: sequent_core::Rules,
}

#[cfg(feature = "mutation")]
impl LedgerFixture for Mutant {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Ledger>> {
        Box::pin(std::future::ready(Arc::new(self.site.ledger().keeping(self.rules)) as Arc<dyn Ledger>))
    }
}

#[cfg(feature = "mutation")]
sequent_testkit::ledger_mutations!(async |rules| Mutant { site: Site::new().await, rules });
