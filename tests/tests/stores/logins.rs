//! A password that is changed under a running ring: the slot goes, says why, and comes back by itself.

use std::{collections::BTreeSet, time::Duration};

use sequent_engine::{
    Engine, SlotGlance,
    config::{Config, Sources},
};
use sequent_testkit::servers::{MariaDb, Postgres};
use tempfile::TempDir;

use crate::site::{PASSWORD, maria, open, password_file, postgres, take};

/// Between two looks, and how many there are at most: half a minute at least.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const LOOKS_MAX: usize = 600;

/// Numbers of one request, more than are kept ready: each asks the stores.
const COUNT: u64 = 100;

struct Site {
    maria: MariaDb,
    postgres: Postgres,
    folder: TempDir,
}

impl Site {
    async fn start() -> Self {
        let (one, other) = tokio::join!(MariaDb::start(), Postgres::start());
        maria(&one, "shard0", "mysql-row").await;
        postgres(&other).await;
        let folder = tempfile::tempdir().unwrap();
        password_file(folder.path(), "password");
        Self { maria: one, postgres: other, folder }
    }

    fn config(&self) -> Config {
        let (maria, postgres) = (self.maria.address(), self.postgres.address());
        let password = format!("password_file = \"{}/password\"", self.folder.path().display());
        let text = format!(
            "cluster = \"c\"\nauto_create = [\"*\"]\n\
             [ring]\nshard_bits = 1\nrescue_after_max_s = 2\nattempt_timeout_ms = 8000\nslow_after_ms = 8000\n\
             [reservoir]\nat_risk_max = 64\n[limits]\ndeadline_ms = 30000\n\
             [[shard]]\nslot = 0\nstore = \"mysql-row\"\nurl = \"mysql://sequent@{maria}/shard0\"\n{password}\n\
             [[shard]]\nslot = 1\nstore = \"postgres-row\"\nurl = \"postgres://seq@{postgres}/seq\"\n{password}\n\
             [ledger]\nstore = \"sqlite\"\nsingle_server = true\n"
        );
        let file = self.folder.path().join("sequent.toml");
        std::fs::write(&file, text).unwrap();
        Config::load(&Sources::embedded(self.folder.path().join("data")).file(file)).unwrap()
    }

    /// Nobody who logs in with the old word is let in any more, and who is in goes.
    async fn change(&self, slot: usize, word: &str) {
        if slot == 0 {
            let sql = format!("ALTER USER 'sequent'@'%' IDENTIFIED BY '{word}'; KILL USER sequent");
            self.maria.sql(&sql).await;
        } else {
            let sql = format!(
                "ALTER ROLE seq PASSWORD '{word}'; \
                 SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'seq'"
            );
            self.postgres.sql(&sql).await;
        }
    }
}

/// Numbers are taken until the slot is as expected; no request fails, no number comes twice, and nothing is quarantined.
async fn until(
    engine: &Engine,
    given: &mut BTreeSet<u64>,
    slot: usize,
    is: impl Fn(&SlotGlance) -> bool,
) -> SlotGlance {
    let mut last = None;
    for _ in 0..LOOKS_MAX {
        assert!(take(engine, COUNT).await.into_iter().all(|number| given.insert(number)), "given twice");
        let glance = engine.slots().swap_remove(slot);
        assert_ne!(glance.state, "quarantined", "{glance:?}");
        if is(&glance) {
            return glance;
        }
        last = Some(glance);
        tokio::time::sleep(LOOK_EVERY).await;
    }
    panic!("not after {LOOKS_MAX} looks: {last:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_whose_login_is_refused_for_a_moment_comes_back_by_itself() {
    let site = Site::start().await;
    let engine = open(&site.config()).await;
    let mut given = BTreeSet::new();
    let refused = |slot: &SlotGlance| {
        slot.state != "live" && slot.cause.as_ref().is_some_and(|(_, text)| text.contains("login refused"))
    };
    for slot in 0..2 {
        until(&engine, &mut given, slot, |slot| slot.state == "live").await;
        site.change(slot, "another-word").await;
        until(&engine, &mut given, slot, refused).await;
        let report = engine.status().await.shards.swap_remove(slot);
        let said = report.cause.expect("a slot that is out has a cause").detail;
        assert!(said.contains("login refused") && !said.contains(PASSWORD), "{said}");
        site.change(slot, PASSWORD).await;
        until(&engine, &mut given, slot, |slot| slot.state == "live").await;
    }
    engine.shutdown().await;
}
