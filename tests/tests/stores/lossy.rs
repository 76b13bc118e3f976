//! A MariaDB that loses commits, killed under load: `doctor` says what it is, and no number comes twice all the same.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sequent_engine::{Engine, config::Config, doctor::Site};
use sequent_testkit::servers::MariaDb;
use tempfile::TempDir;

use crate::{
    doctor::{class, config, examine, found},
    site::{maria, open, password_file, take},
};

/// Numbers of each request.
const COUNT: u64 = 25;
/// How many numbers are given between two kills.
const MORE: usize = 2_000;
/// How often it is looked whether they were given: two minutes at least.
const LOOKS_MAX: usize = 6_000;
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How often a server is killed at most, until it has lost something.
const KILLS_MAX: usize = 5;

/// Two MariaDB shards that lose commits, by `innodb_flush_log_at_trx_commit`, and a ledger that does not.
struct Lossy {
    shards: [MariaDb; 2],
    _ledger: MariaDb,
    _folder: TempDir,
    config: Config,
}

impl Lossy {
    async fn start() -> Self {
        let flush = |value| MariaDb::start_with(value);
        let (zero, two, ledger) = tokio::join!(
            flush(&[("innodb-flush-log-at-trx-commit", "0")]),
            flush(&[("innodb-flush-log-at-trx-commit", "2")]),
            MariaDb::start(),
        );
        maria(&zero, "shard0", "mysql-row").await;
        maria(&two, "shard1", "mysql-row").await;
        maria(&ledger, "ledger", "ledger").await;
        let folder = tempfile::tempdir().unwrap();
        let secret = password_file(folder.path(), "password");
        let place = |store: &str, server: &MariaDb, database: &str| {
            let url = format!("mysql://sequent@{}/{database}", server.address());
            format!("store = \"{store}\"\nurl = \"{url}\"\npassword_file = \"{}\"", secret.display())
        };
        let shards = [place("mysql-row", &zero, "shard0"), place("mysql-row", &two, "shard1")];
        let config = config(folder.path(), 1, &shards, &place("mysql", &ledger, "ledger"));
        Self { shards: [zero, two], _ledger: ledger, _folder: folder, config }
    }

    async fn value(&self, slot: usize) -> u64 {
        let sql = format!("SELECT v FROM shard{slot}.sequent_cells WHERE k = 'order'");
        self.shards[slot].sql(&sql).await.trim().parse().unwrap()
    }
}

/// What was given so far.
#[derive(Default)]
struct Given {
    numbers: Mutex<BTreeSet<u64>>,
    stop: AtomicBool,
}

impl Given {
    fn add(&self, numbers: Vec<u64>) {
        let mut held = self.numbers.lock().unwrap();
        for number in numbers {
            assert!(held.insert(number), "{number} was given twice");
        }
    }

    /// The highest raw id of a slot, in a ring of two with one number an id.
    fn highest(&self, slot: usize) -> u64 {
        let held = self.numbers.lock().unwrap();
        held.iter()
            .rev()
            .map(|number| number + 1)
            .find(|encoded| encoded & 1 == slot as u64)
            .map_or(0, |encoded| encoded >> 1)
    }

    fn len(&self) -> usize {
        self.numbers.lock().unwrap().len()
    }
}

/// Until every engine has a slot in use, it has given more, and so many were given in all.
async fn more(engines: &[Engine], given: &Given, slot: usize) {
    let (highest, len) = (given.highest(slot), given.len());
    for _ in 0..LOOKS_MAX {
        let is_live = engines.iter().all(|engine| engine.slots()[slot].state == "live");
        if is_live && given.highest(slot) > highest && given.len() >= len + MORE {
            return;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    panic!("slot {slot} does not give: {:?}", engines.iter().map(Engine::slots).collect::<Vec<_>>());
}

fn load(engine: &Engine, given: &Arc<Given>) -> tokio::task::JoinHandle<()> {
    let (engine, given) = (engine.clone(), Arc::clone(given));
    tokio::spawn(async move {
        while !given.stop.load(Ordering::Relaxed) {
            given.add(take(&engine, COUNT).await);
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mariadb_that_loses_commits_is_called_lossy_and_repeats_nothing_after_a_kill() {
    let ring = Lossy::start().await;
    let engines = [open(&ring.config).await, open(&ring.config).await];
    let given = Arc::<Given>::default();
    let callers = engines.each_ref().map(|engine| load(engine, &given));
    more(&engines, &given, 0).await;
    let checkup = examine(&ring.config).await;
    assert_eq!((checkup.errors, checkup.unreached.len()), (0, 0), "{checkup:#?}");
    for (slot, flush) in [(0, "0"), (1, "2")] {
        assert_eq!(class(&checkup, Site::Slot(slot)), "lossy");
        let text = format!("warning innodb_flush_log_at_trx_commit is {flush}, expected 1");
        assert!(found(&checkup, Site::Slot(slot)).contains(&text), "{checkup:#?}");
    }
    assert_eq!((class(&checkup, Site::Ledger), found(&checkup, Site::Ledger)), ("durable", vec![]));
    let mut lost = 0;
    for kill in 0..KILLS_MAX {
        for slot in [1, 0] {
            more(&engines, &given, slot).await;
            let before = ring.value(slot).await;
            ring.shards[slot].kill().await;
            ring.shards[slot].restart().await;
            let after = ring.value(slot).await;
            println!("kill {kill} of slot {slot}: its value was {before} at least, and is {after}");
            lost = lost.max(before.saturating_sub(after));
            more(&engines, &given, slot).await;
        }
        if lost > 0 {
            break;
        }
    }
    assert!(lost > 0, "no kill of {KILLS_MAX} lost a commit: nothing was proven");
    given.stop.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.unwrap();
    }
    for engine in engines {
        engine.shutdown().await;
    }
    // Whoever only looks leaves no name for a run that nobody has spoken with.
    ring.shards[0].restart().await;
    let checkup = examine(&ring.config).await;
    assert_eq!(checkup.errors, 0, "{checkup:#?}");
    assert_eq!(ring.shards[0].sql("SELECT COUNT(*) FROM shard0.sequent_boot").await.trim(), "0");
}
