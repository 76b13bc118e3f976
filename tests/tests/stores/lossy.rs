//! A MariaDB that loses commits, killed under load: `doctor` says what it is, and no number comes twice all the same.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
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
/// More numbers of a slot than a server may hold ready in all.
const MORE: usize = 600;
/// How often it is looked whether they were given: two minutes at least.
const LOOKS_MAX: usize = 6_000;
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Between two requests of a caller: the servers need the machine as well.
const REST: Duration = Duration::from_millis(2);
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

/// What was given so far: by whomever, and by each of the two servers of each slot.
#[derive(Default)]
struct Given {
    numbers: Mutex<BTreeSet<u64>>,
    of: [[AtomicUsize; 2]; 2],
    stop: AtomicBool,
}

impl Given {
    fn add(&self, server: usize, numbers: Vec<u64>) {
        let mut held = self.numbers.lock().unwrap();
        for number in numbers {
            assert!(held.insert(number), "{number} was given twice");
            // In a ring of two with one number an id.
            let slot = usize::try_from((number + 1) & 1).unwrap();
            self.of[server][slot].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many numbers of a slot each server has given.
    fn of(&self, slot: usize) -> [usize; 2] {
        [0, 1].map(|server| self.of[server][slot].load(Ordering::Relaxed))
    }
}

/// Until every server has a slot in use, and has given more of it than it can have held ready.
async fn more(engines: &[Engine], given: &Given, slot: usize) {
    let before = given.of(slot);
    for _ in 0..LOOKS_MAX {
        let is_live = engines.iter().all(|engine| engine.slots()[slot].state == "live");
        if is_live && given.of(slot).iter().zip(before).all(|(now, before)| *now > before + MORE) {
            return;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    panic!("slot {slot} does not give: {:?}", engines.iter().map(Engine::slots).collect::<Vec<_>>());
}

fn load(server: usize, engine: &Engine, given: &Arc<Given>) -> tokio::task::JoinHandle<()> {
    let (engine, given) = (engine.clone(), Arc::clone(given));
    tokio::spawn(async move {
        while !given.stop.load(Ordering::Relaxed) {
            given.add(server, take(&engine, COUNT).await);
            tokio::time::sleep(REST).await;
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mariadb_that_loses_commits_is_called_lossy_and_repeats_nothing_after_a_kill() {
    let ring = Lossy::start().await;
    let engines = [open(&ring.config).await, open(&ring.config).await];
    let given = Arc::<Given>::default();
    let callers = [0, 1].map(|server| load(server, &engines[server], &given));
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
