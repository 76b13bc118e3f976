//! What the example leaves out: compare and swap, a ledger on PostgreSQL beside a shard, schemas, TLS, logins refused.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    sync::{Arc, Mutex},
    time::Duration,
};

use sequent_admin::{Admin, NamedLoss};
use sequent_core::ledger::Loss;
use sequent_engine::{
    Engine, Options,
    config::{Config, Sources},
    report::ShardReport,
};
use sequent_testkit::servers::{MariaDb, Postgres};
use tempfile::TempDir;

use crate::site::{PASSWORD, maria, open, password_file, postgres, take};

/// How often it is looked whether a loss was noticed: for a minute.
const LOOKS_MAX: usize = 600;

struct Site {
    maria: MariaDb,
    postgres: Postgres,
    folder: TempDir,
}

impl Site {
    async fn start() -> Self {
        let (one, other) = tokio::join!(MariaDb::start(), Postgres::start());
        maria(&one, "a", "mysql-segment").await;
        postgres(&other).await;
        let folder = tempfile::tempdir().unwrap();
        password_file(folder.path(), "password");
        std::fs::write(folder.path().join("wrong"), "geheim-no-more").unwrap();
        Self { maria: one, postgres: other, folder }
    }

    /// Slot 0 compares and swaps, with `more` said of it; slot 1 and the ledger share a database.
    fn config(&self, more: &str) -> Config {
        let (maria, postgres) = (self.maria.address(), self.postgres.address());
        let folder = self.folder.path().display();
        let mut text = "cluster = \"c\"\nauto_create = [\"*\"]\n[ring]\nshard_bits = 1\n".to_owned();
        let shard0 =
            format!("[[shard]]\nslot = 0\nstore = \"mysql-segment\"\nurl = \"mysql://sequent@{maria}/a\"\n");
        let shard1 = format!(
            "[[shard]]\nslot = 1\nstore = \"postgres-row\"\nurl = \"postgres://seq:${{WORD}}@{postgres}/seq\"\nschema = \"one\"\n"
        );
        let ledger = format!(
            "[ledger]\nstore = \"postgres\"\nurl = \"postgres://seq@{postgres}/seq\"\npassword_file = \"{folder}/password\"\n"
        );
        write!(text, "{shard0}{more}\n{shard1}{ledger}").unwrap();
        let file = self.folder.path().join("sequent.toml");
        std::fs::write(&file, text).unwrap();
        let mut sources = Sources::embedded(self.folder.path().join("data")).file(file);
        sources.environment.insert("WORD".to_owned(), PASSWORD.to_owned());
        let sources = sources.flag("ring.attempt_timeout_ms", "8000").flag("ring.slow_after_ms", "8000");
        Config::load(&sources.flag("limits.deadline_ms", "30000")).unwrap()
    }

    async fn slot_0(&self, more: &str) -> ShardReport {
        let admin = Admin::open(&self.config(more), &Options::default()).await.unwrap();
        admin.cluster().shards().await.swap_remove(0)
    }
}

/// Of two servers that begin at once on a fresh ledger, the one that founds the cluster says that it is new.
async fn founded_by_one(config: &Config) {
    let said = Arc::<Mutex<Vec<String>>>::default();
    let options = || {
        let said = Arc::clone(&said);
        let say = Arc::new(move |text: &str| said.lock().unwrap().push(text.to_owned()));
        Options { say, ..Options::default() }
    };
    let engines = tokio::join!(
        Engine::open(config.clone(), options()),
        Engine::open(config.clone(), options()),
        Engine::open(config.clone(), options())
    );
    for engine in [engines.0, engines.1, engines.2] {
        engine.unwrap().shutdown().await;
    }
    let said = said.lock().unwrap().clone();
    assert!(said.len() == 1 && said[0].starts_with("new cluster c, its ledger in "), "{said:?}");
}

/// A server that runs tells of a ledger that was emptied as of that, and what to do: in its status, and in what is logged.
async fn emptied_under(engine: &Engine) {
    let mut status = engine.status().await;
    for _ in 0..LOOKS_MAX {
        if status.trouble.is_some()
            && status.events.iter().any(|event| event.name == "ledger_lost" && event.kind == Some("refused"))
        {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        status = engine.status().await;
    }
    let logged =
        status.events.iter().find(|event| event.name == "ledger_lost" && event.kind == Some("refused"));
    for said in [status.trouble, logged.map(|event| event.text.clone())] {
        let said = said.expect("it is told");
        assert!(said.contains("the ledger was emptied, or its tables were dropped"), "{said}");
        assert!(said.contains("`sequent recover --bump N`") && !said.contains("`create`"), "{said}");
    }
}

/// The ledger's tables are dropped, and no copy is left: an empty one takes the cluster up on an operator's word.
async fn ledger_lost(site: &Site, config: &Config, given: &mut BTreeSet<u64>) {
    let engine = open(config).await;
    given.extend(take(&engine, 10).await);
    site.postgres.sql("\\c seq\nDROP SCHEMA sequent_ledger CASCADE").await;
    emptied_under(&engine).await;
    engine.shutdown().await;
    let error = Engine::open(config.clone(), Options::default()).await.err().expect("it knows nothing");
    assert!(error.to_string().contains("sequent recover --bump N"), "{error}");
    let admin = Admin::open_after_loss(config, &Options::default(), &NamedLoss::of(1000)).await.unwrap();
    admin.recover(Loss::Bump(1000)).await.unwrap();
    admin.close().await;
    let engine = open(config).await;
    for _ in 0..10 {
        assert!(take(&engine, 10).await.into_iter().all(|number| given.insert(number)), "given twice");
    }
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_kinds_count_and_what_is_wrong_with_them_is_said_without_the_secret() {
    let site = Site::start().await;
    let good = format!("password_file = \"{}/password\"\n", site.folder.path().display());
    let mut given = BTreeSet::new();
    Box::pin(founded_by_one(&site.config(&good))).await;
    for _ in 0..2 {
        let engine = open(&site.config(&good)).await;
        for _ in 0..10 {
            assert!(take(&engine, 10).await.into_iter().all(|number| given.insert(number)), "given twice");
        }
        engine.shutdown().await;
    }
    assert!(given.iter().map(|number| number % 2).collect::<BTreeSet<_>>().len() == 2, "both slots gave");
    let schemas = "\\c seq
        SELECT count(*) FROM information_schema.schemata WHERE schema_name IN ('one', 'sequent_ledger')";
    let there = site.postgres.sql(schemas).await;
    assert_eq!(there.trim().lines().last(), Some("2"), "where they were told to be");
    ledger_lost(&site, &site.config(&good), &mut given).await;
    let report = site.slot_0(&good).await;
    assert_eq!((report.state.as_str(), report.store), ("open", "mysql-segment"), "{report:?}");
    for (more, part) in [
        (format!("{good}tls = \"verify\""), "TLS is demanded"),
        (good.replace("password\"\n", "wrong\""), "1045"),
        (good.replace("password\"\n", "absent\""), "password_file"),
    ] {
        let report = site.slot_0(&more).await;
        let printed = format!("{report:?}");
        assert_eq!(report.state, "refused", "{printed}");
        assert!(printed.contains(part) && !printed.contains("geheim"), "{part}: {printed}");
    }
}
