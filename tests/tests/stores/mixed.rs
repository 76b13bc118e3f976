//! The example of a mixed ring, as it is deployed: two servers over it, one of its databases killed and back again.

use std::{collections::BTreeSet, path::Path, time::Duration};

use sequent_admin::Admin;
use sequent_engine::{
    Engine, Options,
    config::{Config, Sources},
};
use sequent_testkit::servers::{MariaDb, Postgres};
use tempfile::TempDir;

use crate::site::{PASSWORD, maria, open, password_file, postgres, take};

/// Requests of each server in one stretch, and numbers of each.
const REQUESTS: usize = 40;
const COUNT: u64 = 25;

/// How often it is looked whether a slot is back: half a minute at least.
const LOOKS_MAX: usize = 600;

/// After how many stretches a slot that is back has given a number.
const STRETCHES_MAX: usize = 60;

/// The servers that the example needs.
struct Ring {
    row: MariaDb,
    codes: MariaDb,
    postgres: Postgres,
    ledger: MariaDb,
    folder: TempDir,
}

impl Ring {
    async fn start() -> Self {
        let (row, codes, ledger, server) =
            tokio::join!(MariaDb::start(), MariaDb::start(), MariaDb::start(), Postgres::start());
        maria(&row, "shard0", "mysql-row").await;
        maria(&codes, "shard1", "mysql-auto-increment").await;
        postgres(&server).await;
        maria(&ledger, "ledger", "ledger").await;
        let folder = tempfile::tempdir().unwrap();
        for name in ["shard0", "shard1", "shard2", "ledger"] {
            password_file(folder.path(), name);
        }
        Self { row, codes, postgres: server, ledger, folder }
    }

    /// The example itself; what a busy machine makes slow is no failure here.
    fn config(&self) -> Config {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/mixed-ring.toml");
        let mut sources = Sources::embedded(self.folder.path().join("data")).file(file);
        for (name, value) in [
            ("DB0_ADDRESS", self.row.address().to_string()),
            ("DB1_ADDRESS", self.codes.address().to_string()),
            ("DB2_ADDRESS", self.postgres.address().to_string()),
            ("LEDGER_ADDRESS", self.ledger.address().to_string()),
            ("SECRETS", self.folder.path().display().to_string()),
        ] {
            sources.environment.insert(name.to_owned(), value);
        }
        let patient = [
            ("ring.attempt_timeout_ms", "8000"),
            ("ring.slow_after_ms", "4000"),
            ("ring.rescue_after_max_s", "2"),
            ("limits.deadline_ms", "30000"),
            // Small, so that the stores are asked again and again.
            ("reservoir.at_risk_max", "512"),
            // A slot that was killed begins again above its ceiling, and the others come up to that first: ten minutes of
            // whatever this machine is able to give would be a long way.
            ("ledger.outage_s", "1"),
        ];
        patient.iter().fold(sources, |sources, (key, value)| sources.flag(key, value)).load()
    }
}

trait Load {
    fn load(self) -> Config;
}

impl Load for Sources {
    fn load(self) -> Config {
        Config::load(&self).unwrap()
    }
}

/// The slot that a number tells, in a ring of four with 64 numbers an id.
fn slot(number: u64) -> u64 {
    ((number - 1 + 256) >> 6) & 3
}

/// Both servers at once; none of the numbers may have been given before.
async fn stretch(engines: &[Engine; 2], given: &mut BTreeSet<u64>) -> BTreeSet<u64> {
    let mut slots = BTreeSet::new();
    for _ in 0..REQUESTS {
        let (one, other) = tokio::join!(take(&engines[0], COUNT), take(&engines[1], COUNT));
        for number in one.into_iter().chain(other) {
            assert!(given.insert(number), "{number} was given twice");
            slots.insert(slot(number));
        }
    }
    slots
}

fn state(engine: &Engine, slot: usize) -> &'static str {
    engine.slots()[slot].state
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mixed_ring_repeats_nothing_and_fails_nobody_while_a_server_dies_and_returns() {
    let ring = Ring::start().await;
    let config = ring.config();
    let engines = [open(&config).await, open(&config).await];
    let mut given = BTreeSet::new();
    assert_eq!(stretch(&engines, &mut given).await, BTreeSet::from([0, 1, 2, 3]), "every slot gives");
    ring.row.kill().await;
    // What they hold ready comes first: a server that is not asked is not missed.
    stretch(&engines, &mut given).await;
    let mut stretches = 0;
    while engines.iter().all(|engine| state(engine, 0) == "live") {
        stretches += 1;
        assert!(stretches < STRETCHES_MAX, "nobody noticed: {:?}", engines[0].slots());
        stretch(&engines, &mut given).await;
    }
    ring.row.restart().await;
    for _ in 0..LOOKS_MAX {
        if engines.iter().all(|engine| state(engine, 0) == "live") {
            break;
        }
        let numbers = [take(&engines[0], 1).await, take(&engines[1], 1).await].concat();
        assert!(numbers.into_iter().all(|number| given.insert(number)), "given twice");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(engines.iter().all(|engine| state(engine, 0) == "live"), "rescued: {:?}", engines[0].slots());
    // It was lifted to the front of the ring: the others come up to it first.
    let mut stretches = 0;
    while !stretch(&engines, &mut given).await.contains(&0) {
        stretches += 1;
        assert!(stretches < STRETCHES_MAX, "it gives again: {:?}", engines[0].slots());
    }
    println!("{stretches} stretches until the slot that was back gave a number");
    assert!(given.len() >= 3 * 2 * REQUESTS * usize::try_from(COUNT).unwrap());
    shown(&config).await;
    let newest = ring.codes.sql("SELECT MAX(id) > 0 FROM shard1.order_code_1").await;
    assert_eq!(newest.trim(), "1", "each kind counts in its own way");
    for engine in engines {
        engine.shutdown().await;
    }
}

/// What `sequent shards` and `config show` have of it.
async fn shown(config: &Config) {
    let admin = Admin::open(config, &Options::default()).await.unwrap();
    let reports = admin.cluster().shards().await;
    let kinds: Vec<&str> = reports.iter().map(|report| report.store).collect();
    assert_eq!(kinds, ["mysql-row", "mysql-auto-increment", "postgres-row", "sqlite"]);
    for report in &reports {
        assert_eq!(report.state, "open", "{report:?}");
        let found = report.found.as_ref().unwrap();
        assert_eq!(found.durability, "durable", "{report:?}");
        assert!(!found.settings.is_empty(), "{report:?}");
    }
    let printed = format!("{reports:?} {config:?} {:?}", config.shown());
    assert!(printed.contains("mysql://sequent@127.0.0.1:") && !printed.contains(PASSWORD), "{printed}");
}
