//! A setting of a real store that is changed while a cluster works on it.
#![cfg(feature = "servers")]
#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::time::Duration;

use sequent_engine::{
    Engine, NextRequest, Options,
    config::{Config, Sources},
};
use sequent_testkit::servers::MariaDb;

/// Settings are read every ten seconds; a busy machine takes its time.
const TRIES_MAX: u32 = 600;

fn config(server: &MariaDb, folder: &std::path::Path) -> Config {
    std::fs::write(folder.join("password"), "geheim\n").unwrap();
    let text = format!(
        "cluster = \"c\"\nauto_create = [\"*\"]\n[ring]\nshard_bits = 1\n[ledger]\nsingle_server = true\n\
         [[shard]]\nslot = 0\nstore = \"mysql-row\"\nurl = \"mysql://sequent@{}/shard0\"\npassword_file = \"{}/password\"\n\
         [[shard]]\nslot = 1\nstore = \"sqlite\"\npath = \"one.db\"\n",
        server.address(),
        folder.display()
    );
    let file = folder.join("sequent.toml");
    std::fs::write(&file, text).unwrap();
    // A test's machine may be busy: what is tested is not how fast it answers.
    let sources = Sources::embedded(folder.join("data")).file(file);
    let sources = sources.flag("ring.attempt_timeout_ms", "8000").flag("ring.slow_after_ms", "4000");
    Config::load(&sources.flag("limits.deadline_ms", "30000")).unwrap()
}

/// What the engine tells of slot 0's settings, the newest first: severities and sentences.
async fn told(engine: &Engine) -> Vec<(&'static str, String)> {
    let changes = engine.status().await.events.into_iter().filter(|event| event.name == "durability_changed");
    changes.map(|event| (event.severity, event.text)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mariadb_that_is_set_to_lose_commits_while_it_runs_is_told() {
    let (server, folder) = (MariaDb::start().await, tempfile::tempdir().unwrap());
    server
        .sql(
            "CREATE DATABASE shard0; CREATE USER 'sequent'@'%' IDENTIFIED BY 'geheim'; \
             GRANT ALL ON shard0.* TO 'sequent'@'%'; GRANT REPLICATION CLIENT ON *.* TO 'sequent'@'%'",
        )
        .await;
    let engine = Engine::open(config(&server, folder.path()), Options::default()).await.unwrap();
    engine.next(&NextRequest::new("order").unwrap().count(100)).await.unwrap();
    assert_eq!(told(&engine).await, []);
    server.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 0").await;
    let fell = ("error", "store's settings were changed: it was durable, and is lossy now".to_owned());
    let mut tries = 0;
    while told(&engine).await != [fell.clone()] {
        tries += 1;
        assert!(tries < TRIES_MAX, "nobody noticed");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    engine.next(&NextRequest::new("order").unwrap().count(100)).await.unwrap();
    engine.shutdown().await;
}
