//! A slot drained under load while its store answers late: what was under way is awaited and given, nothing is burnt, and the
//! store can then be taken away. And a second ledger over the same shards, refused beside servers that run.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use sequent_testkit::{
    proxy::{Mode, Proxy},
    servers::MariaDb,
};

use crate::{
    bits::Bits,
    load::{Load, until},
    server::Server,
    site::{Plan, maria},
};

/// Every answer of a slow store comes after its refill has gone on, none is given up, and nobody is out for it.
const SETTINGS: &str = "
cluster = \"c\"
[ring]
shard_bits = 1
memory_bits = 0
attempt_timeout_ms = 8000
slow_after_ms = 300
slow_limit = 1000
rescue_after_max_s = 1
[reservoir]
at_risk_max = 512
[limits]
deadline_ms = 30000
[[sequence]]
name = \"order\"
";

/// Nor is anybody for slow logins, by the last slot of the plan.
const PATIENT: &str = "connect_timeout_ms = 8000\n";

/// How late the answers of a slow store are: each server waits for one nearly all the time.
const LATE: Duration = Duration::from_millis(500);

/// More than both servers can have ready: each has asked both slots meanwhile.
const SPENT: u64 = 5_000;

/// Two servers over two slots of one MariaDB, one of them behind a wire; the ledger is there, too.
struct Site {
    // First: the servers go before their stores.
    servers: [Server; 2],
    wire: Proxy,
    db: MariaDb,
    _plan: Plan,
}

impl Site {
    async fn start() -> Self {
        let db = MariaDb::start().await;
        let wire = Proxy::to(db.address()).await;
        for (database, kind) in [("shard1", "mysql-row"), ("ledger2", "ledger")] {
            maria(&db, database, kind).await;
        }
        let plan = Plan::of(SETTINGS).ledger(&db, "ledger").await.shard(0, &db, "shard0").await;
        let plan = plan.shard_at(1, wire.address(), "shard1");
        let config = plan.text.clone() + PATIENT;
        let servers = [Server::start(&config), Server::start(&config)];
        Self { servers, wire, db, _plan: plan }
    }

    /// Waits until both servers show the drained slot so.
    async fn both_show(&self, state: &str) {
        until(&format!("slot 1 is {state}"), async || {
            let (one, other) = tokio::join!(self.servers[0].look(), self.servers[1].look());
            [one, other].iter().all(|look| look.states[&1] == state)
        })
        .await;
    }

    /// The sum of a metric over both servers.
    async fn sum(&self, metric: &str) -> u64 {
        let (one, other) = tokio::join!(self.servers[0].look(), self.servers[1].look());
        one.sum(metric) + other.sum(metric)
    }

    /// The same of its series of slot 1.
    async fn sum_of_slot(&self, metric: &str) -> u64 {
        let series = format!("{metric}{{slot=\"1\"}}");
        let (one, other) = tokio::join!(self.servers[0].look(), self.servers[1].look());
        one.at(&series) + other.at(&series)
    }

    async fn value(&self) -> u64 {
        let sql = "SELECT v FROM shard1.sequent_cells WHERE k = 'order'";
        self.db.sql(sql).await.trim().parse().unwrap()
    }

    /// A fresh ledger, as if the one that is there were another cluster's: neither a server nor a command gets anything.
    fn another_ledger_is_refused(&self) {
        let other = format!("ledger.url=mysql://sequent@{}/ledger2", self.db.address());
        for command in [&["next", "order"][..], &["serve", "--set", "listen.http=127.0.0.1:0"]] {
            let refused = self.servers[0].operate(&[command, &["--set", &other]].concat());
            refused.refused(3, &["another ledger"]);
        }
    }
}

/// Numbers of slot 1 that callers were given, in a ring of two.
fn of_slot_1(load: &Load) -> u64 {
    load.of_slot(1) + load.of_slot(3)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_drained_under_load_loses_no_block_that_was_under_way() {
    let mut site = Site::start().await;
    let load = Load::on(&site.servers, &Arc::<Bits>::default());
    load.more(SPENT).await;
    // Who begins a counter may end another server's epoch of it: nobody does any more once all have taken of it often.
    until("both servers use the slot", async || {
        let (one, other) = tokio::join!(site.servers[0].look(), site.servers[1].look());
        [one, other].iter().all(|look| look.at("sequent_slot_takes_total{slot=\"1\",outcome=\"ok\"}") >= 5)
    })
    .await;
    let (burnt, refused) =
        (site.sum("sequent_numbers_burnt_total").await, load.refused.load(Ordering::Relaxed));
    site.wire.set(Mode::Latency { there: Duration::ZERO, back: LATE }).await;
    // What each server asks of it is late from now on, and it serves with the other one.
    load.more(SPENT).await;
    let late = site.sum_of_slot("sequent_slot_slow_events_total").await;
    until("answers are late", async || site.sum_of_slot("sequent_slot_slow_events_total").await > late + 1)
        .await;
    site.servers[0].operate(&["drain", "1", "--why", "its store moves"]).succeeded();
    site.both_show("drained").await;
    site.wire.set(Mode::Refuse).await;
    load.more(2 * SPENT).await;
    load.nobody_failed(refused, "the drain");
    site.another_ledger_is_refused();
    let (value, skipped) = (site.value().await, site.sum_of_slot("sequent_raw_ids_skipped_total").await);
    // Servers that begin a counter at the same moment may end each other's first epochs.
    until("all that the store gave is given", async || of_slot_1(&load) + skipped + burnt >= value).await;
    let (given, log) = (of_slot_1(&load), site.servers[0].log());
    println!("slot 1 is at {value}, {skipped} skipped as epochs began, {given} given, {burnt} burnt before");
    assert_eq!(site.sum("sequent_numbers_burnt_total").await, burnt, "nothing was burnt by the drain: {log}");
    site.wire.set(Mode::Pass).await;
    site.servers[0].operate(&["rescue", "1", "--why", "it is there"]).succeeded();
    site.both_show("live").await;
    until("it gives again", async || of_slot_1(&load) > given + SPENT).await;
    load.nobody_failed(refused, "the rescue");
    load.end().await;
    for server in &mut site.servers {
        assert_eq!(server.drain(), Some(0));
    }
}
