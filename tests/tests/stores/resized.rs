//! A ring of network stores grown under load: one of the old servers sleeps through it, and whoever does it is killed midway.
//! No number comes twice, and the old servers are refused with a clear error.

use std::{fmt::Write as _, fs, sync::Arc};

use sequent_testkit::servers::{MariaDb, Postgres, Redis};
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    bits::Bits,
    load::{Load, until},
    place::Place,
    server::Server,
    site::{maria, password_file, postgres, redis_users},
    volatile::FORGETFUL,
};

/// Little in memory, so that stores are asked all the time.
const SETTINGS: &str = "
cluster = \"c\"
[ring]
[reservoir]
at_risk_max = 512
[[sequence]]
name = \"order\"
";

/// Attempts of the old servers, which may fail, and of those who must not on a busy machine, nor while a row is locked.
const IMPATIENT: &str = "attempt_timeout_ms = 2000";
const PATIENT: &str = "attempt_timeout_ms = 10000\nslow_after_ms = 4000\n[limits]\ndeadline_ms = 30000";

/// Numbers of each stretch.
const STRETCH: u64 = 5_000;

/// What an old server says.
const REFUSAL: [&str; 2] = ["RECOVERY_REQUIRED", "layout changed: this server counts by the layout before"];

/// The stores of both layouts; the ledger is on the same MariaDB.
struct Stores {
    maria: MariaDb,
    postgres: Postgres,
    redis: Redis,
    folder: TempDir,
}

impl Stores {
    async fn start() -> Self {
        let (row, other, redis) =
            tokio::join!(MariaDb::start(), Postgres::start(), Redis::start_with(FORGETFUL));
        for (database, kind) in [("shard0", "mysql-row"), ("shard2", "mysql-row"), ("ledger", "ledger")] {
            maria(&row, database, kind).await;
        }
        tokio::join!(postgres(&other), redis_users(&redis, "c"));
        let folder = tempfile::tempdir().unwrap();
        password_file(folder.path(), "password");
        Self { maria: row, postgres: other, redis, folder }
    }

    /// A ring of 2^n.
    fn config(&self, n: u8) -> String {
        let secret = format!("password_file = \"{}/password\"\n", self.folder.path().display());
        let maria =
            |name: &str| format!("url = \"mysql://sequent@{}/{name}\"\n{secret}", self.maria.address());
        let (postgres, redis) = (self.postgres.address(), self.redis.address());
        let shards = [
            format!("store = \"mysql-row\"\n{}", maria("shard0")),
            format!("store = \"postgres-row\"\nurl = \"postgres://seq@{postgres}/seq\"\n{secret}"),
            format!("store = \"mysql-row\"\n{}", maria("shard2")),
            format!("store = \"redis\"\nurl = \"redis://sequent@{redis}/0\"\n{secret}"),
        ];
        let attempts = if n == 1 { IMPATIENT } else { PATIENT };
        let mut text =
            SETTINGS.replace("[ring]", &format!("[ring]\nmemory_bits = 0\nshard_bits = {n}\n{attempts}"));
        for (slot, shard) in shards.iter().take(1 << n).enumerate() {
            writeln!(text, "[[shard]]\nslot = {slot}\n{shard}").unwrap();
        }
        text + &format!("[ledger]\noutage_s = 1\nstore = \"mysql\"\n{}", maria("ledger"))
    }

    /// While somebody holds the row of slot 0's cell, so that nothing goes on that writes it.
    async fn while_locked(&self, deed: impl AsyncFnOnce()) {
        let lock = "BEGIN; SELECT v FROM shard0.sequent_cells WHERE k = 'order' FOR UPDATE; DO SLEEP(600)";
        let holder = "SELECT MAX(id) FROM information_schema.processlist WHERE info = 'DO SLEEP(600)'";
        let held = async {
            until("the row is locked", async || self.maria.sql(holder).await.trim() != "NULL").await;
            deed().await;
        };
        tokio::select! {
            done = self.maria.try_sql(lock) => panic!("the lock was let go: {done:?}"),
            () = held => {}
        }
        // Its client is gone, which it has not noticed.
        self.maria.sql(&format!("KILL {}", self.maria.sql(holder).await.trim())).await;
    }
}

/// `sequent resize`, of a directory of its own.
struct Operator(Place);

impl Operator {
    fn new(config: &str) -> Self {
        let place = Place::new();
        fs::write(place.path("next.toml"), config).unwrap();
        Self(place)
    }

    /// The plan, or with `--go` what was done.
    fn resize(&self, more: &[&str]) -> Value {
        let args = [&["resize", "--config", "next.toml", "--json"], more].concat();
        tokio::task::block_in_place(|| self.0.run(&args).succeeded().json())
    }

    /// Begins it, and is killed once the servers of the layout before are refused and the first cell is to be closed.
    fn begins_and_is_killed(&self) {
        tokio::task::block_in_place(|| {
            let running = self.0.start(&["resize", "--config", "next.toml", "--go"]);
            running.until("it is fenced", |running| running.err().contains("fenced: ").then_some(()));
            running.kill();
        });
    }
}

/// Waits until callers of an old server are refused, and told why.
async fn refused(load: &Load) {
    let mut said = String::new();
    until("an old server refuses its callers", async || {
        let refusal = load.refusal();
        if refusal != said {
            println!("an old server says {refusal}");
            said.clone_from(&refusal);
        }
        REFUSAL.iter().all(|words| refusal.contains(words))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ring_of_network_stores_grows_under_load_though_killed_midway_and_repeats_nothing() {
    let stores = Stores::start().await;
    let (bits, operator) = (Arc::<Bits>::default(), Operator::new(&stores.config(2)));
    let [awake, sleeper] = [Server::start(&stores.config(1)), Server::start(&stores.config(1))];
    let [old, slept] = [&awake, &sleeper].map(|server| Load::on(std::slice::from_ref(server), &bits));
    for load in [&old, &slept] {
        let given = load.given();
        until("each old server gives", async || load.given() > given + STRETCH).await;
    }
    let plan = operator.resize(&[]);
    assert_eq!((&plan["state"], &plan["added"]), (&"new".into(), &serde_json::json!([2, 3])), "{plan}");

    sleeper.signal("STOP");
    stores.while_locked(async || operator.begins_and_is_killed()).await;
    let plan = operator.resize(&[]);
    assert_eq!(plan["state"], "fenced", "killed midway: {plan}");
    refused(&old).await;
    let done = operator.resize(&["--go"]);
    assert_eq!(done["state"], "current", "{done}");

    let mut servers = [Server::start(&stores.config(2)), Server::start(&stores.config(2))];
    let new = Load::on(&servers, &bits);
    for slot in 0..4 {
        new.gives(&servers, slot, 0, "the ring has grown").await;
    }
    sleeper.signal("CONT");
    refused(&slept).await;
    new.more(STRETCH).await;
    new.nobody_failed(0, "the old ones are back");
    println!(
        "of the old servers: {} of the one that was awake, {} of the one that slept",
        old.given(),
        slept.given()
    );
    for load in [old, slept, new] {
        load.end().await;
    }
    for server in &mut servers {
        assert_eq!(server.drain(), Some(0));
    }
}
