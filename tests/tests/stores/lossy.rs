//! MariaDB that loses commits, killed under load: `sequent doctor` says what it is, and two real servers repeat nothing all
//! the same.

use std::sync::Arc;

use sequent_testkit::servers::MariaDb;
use serde_json::Value;

use crate::{bits::Bits, load::Load, server::Server, site::Plan, tale::INSTANCE_CHANGED};

/// What a busy machine makes slow is no failure here.
const SETTINGS: &str = "
cluster = \"c\"
[ring]
shard_bits = 2
memory_bits = 0
attempt_timeout_ms = 8000
slow_after_ms = 4000
rescue_after_max_s = 1
[reservoir]
at_risk_max = 512
[limits]
deadline_ms = 30000
[[sequence]]
name = \"order\"
";

/// What is set, by slot: written but once a second, and written at once but not brought to the disk.
const FLUSH: [&str; 2] = ["0", "2"];

/// How often servers are killed at most, until the first has lost something.
const KILLS_MAX: usize = 5;

/// Two servers over two MariaDB shards that lose commits, and a ledger that does not.
struct Site {
    // First: the servers go before their stores.
    servers: [Server; 2],
    shards: [MariaDb; 2],
    _ledger: MariaDb,
    _plan: Plan,
}

impl Site {
    async fn start() -> Self {
        let [zero, two] = FLUSH.map(|value| async move {
            MariaDb::start_with(&[("innodb-flush-log-at-trx-commit", value)]).await
        });
        let (zero, two, ledger) = tokio::join!(zero, two, MariaDb::start());
        let shards = [zero, two];
        let mut plan = Plan::of(SETTINGS).ledger(&ledger, "ledger").await;
        for (slot, shard) in shards.iter().enumerate() {
            plan = plan.shard(slot, shard, &format!("shard{slot}")).await;
        }
        let servers = [Server::start(&plan.text), Server::start(&plan.text)];
        Self { servers, shards, _ledger: ledger, _plan: plan }
    }

    /// Killed under load and back: both servers tell of another run, nobody fails, and it gives again.
    async fn killed(&self, load: &Load, slot: usize) {
        let told = INSTANCE_CHANGED.of(&self.servers, slot).await;
        self.shards[slot].kill().await;
        self.shards[slot].restart().await;
        let given = load.of_slot(slot);
        told.is_told(&self.servers, "a kill").await;
        load.gives(&self.servers, slot, given, "a kill").await;
        load.nobody_failed(0, "a kill");
    }

    /// How often slot 0 was found to be lower than what was taken of it.
    async fn losses(&self) -> u64 {
        let (one, other) = tokio::join!(self.servers[0].look(), self.servers[1].look());
        let series = "sequent_regressions_total{slot=\"0\"}";
        one.at(series) + other.at(series)
    }

    /// What `sequent doctor` says, without an error.
    fn examined(&self) -> Value {
        self.servers[0].operate(&["doctor", "--json"]).succeeded().json()
    }
}

/// The class of a place, and the findings about it.
fn of_place(checkup: &Value, place: &str) -> (String, Vec<String>) {
    let at = |list: &str| {
        let list = checkup[list].as_array().unwrap_or_else(|| panic!("{checkup}")).iter();
        list.filter(|item| item["place"] == place).cloned().collect::<Vec<_>>()
    };
    let found = |finding: &Value| format!("{} {}", finding["severity"], finding["found"]).replace('"', "");
    let class = at("places")[0]["durability"].as_str().unwrap_or_default().to_owned();
    (class, at("findings").iter().map(found).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mariadb_that_loses_commits_is_called_lossy_and_repeats_nothing_after_a_kill() {
    let mut site = Site::start().await;
    let load = Load::on(&site.servers, &Arc::<Bits>::default());
    for slot in [0, 1] {
        load.gives(&site.servers, slot, 0, "the start").await;
    }
    let checkup = site.examined();
    for (slot, flush) in FLUSH.iter().enumerate() {
        let (class, found) = of_place(&checkup, &format!("slot {slot}"));
        let text = format!("warning innodb_flush_log_at_trx_commit is {flush}, expected 1");
        assert!(class == "lossy" && found.contains(&text), "{slot}: {class} {found:?}");
    }
    assert_eq!(of_place(&checkup, "ledger"), ("durable".to_owned(), vec![]));
    let mut kills = 0;
    while site.losses().await == 0 {
        kills += 1;
        assert!(kills <= KILLS_MAX, "no kill lost a commit: nothing was proven");
        for slot in [1, 0] {
            site.killed(&load, slot).await;
        }
    }
    println!("{kills} kills of each, until commits were lost");
    load.end().await;
    for server in &mut site.servers {
        assert_eq!(server.drain(), Some(0));
    }
    // Whoever only looks leaves no name for a run that nobody has spoken with.
    site.shards[0].restart().await;
    site.examined();
    assert_eq!(site.shards[0].sql("SELECT COUNT(*) FROM shard0.sequent_boot").await.trim(), "0");
}
