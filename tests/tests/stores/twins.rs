//! Ledgers that are not the newest, or not the only one, on real processes: a copy at work beside it over the same shards, and dense
//! numbers that only one who is gone was given. Whoever runs finds either, nothing comes twice, and a person's word mends it.

use std::{
    slice::from_ref,
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use sequent_testkit::servers::{Etcd, MariaDb};

use crate::{
    bits::Bits,
    dense::{asks, refuses},
    http::Http,
    load::{Load, until},
    server::Server,
    site::Plan,
};

const SETTINGS: &str = "
cluster = \"c\"
[ring]
shard_bits = 1
memory_bits = 0
rescue_after_max_s = 1
[reservoir]
at_risk_max = 512
[limits]
deadline_ms = 30000
[[sequence]]
name = \"order\"
[[sequence]]
name = \"invoice\"
placement = \"dense\"
";

/// More than anything here can have given.
const LOSS: &str = "10000000";

/// How often a copy is made, until one is at work before the original has written anything.
const COPIES_MAX: usize = 5;

/// Half of how far apart two runs of a ledger are at least: a mark that is so far above a version was left by others.
const FAR: u64 = 1 << 19;

/// Numbers of each stretch.
const STRETCH: u64 = 2_000;

/// Of a few callers each has been refused several times by then.
const REFUSALS: u64 = 20;

/// Two shards on one MariaDB.
struct Shards {
    db: MariaDb,
    plan: Plan,
}

impl Shards {
    async fn start() -> Self {
        let db = MariaDb::start().await;
        let plan = Plan::of(SETTINGS).shard(0, &db, "shard0").await.shard(1, &db, "shard1").await;
        Self { db, plan }
    }

    /// A server over them, by this ledger.
    fn server(&self, ledger: &Etcd) -> Server {
        let own = format!("[ledger]\noutage_s = 1\nstore = \"etcd\"\nurl = \"{}\"\n", ledger.url());
        Server::start(&[&self.plan.text[..], &own].concat())
    }

    /// The lowest of what the shards bear.
    async fn mark(&self) -> u64 {
        let held = |slot: usize| format!("SELECT mark FROM shard{slot}.sequent_shard");
        let marks = self.db.sql(&format!("{} UNION ALL {}", held(0), held(1))).await;
        marks.lines().map(|mark| mark.trim().parse::<u64>().unwrap()).min().unwrap()
    }
}

/// How far a ledger's version is, as it says itself.
async fn version(ledger: &Etcd) -> u64 {
    let said = ledger.ctl(&["get", "--print-value-only", "sequent/version"]).await;
    said.trim().parse().unwrap()
}

async fn is_behind(server: &Server) -> bool {
    server.look().await.sum("sequent_ledger_behind") == 1
}

/// In metric, log and status.
async fn told(server: &Server) {
    until("it is counted", async || is_behind(server).await).await;
    // Who refuses first may not have told yet.
    let line = "nothing is opened before `sequent recover`";
    until("the log has it", async || server.log().contains(line)).await;
    assert!(server.ask("/v1/status").await.contains("sequent recover --bump N"), "status says how");
}

/// So many more refusals of each.
async fn refusals(first: &Load, second: &Load) {
    let counted = || [first, second].map(|load| load.refused.load(Ordering::Relaxed));
    let before = counted();
    let more = || counted().iter().zip(before).all(|(now, before)| *now >= before + REFUSALS);
    until("callers are refused", async || more()).await;
}

/// A copy of the ledger, taken while nobody writes to it, and a server that was started on it and has nothing against it.
async fn beside(shards: &Shards, ledger: &Etcd, original: &Server) -> (Etcd, Server) {
    let copy = Etcd::start().await;
    for at in 0..COPIES_MAX {
        let taken = ledger.snapshot(&format!("copy-{at}")).await;
        copy.restore_snapshot(&taken).await;
        let mut server = shards.server(&copy);
        if !is_behind(&server).await || is_behind(original).await {
            return (copy, server);
        }
        println!("copy {at}: the original had left another mark before it was at work");
        server.drain();
    }
    panic!("each of {COPIES_MAX} copies was behind before it was at work");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ledger_and_its_copy_at_work_over_the_same_shards_stop_each_other_and_repeat_nothing() {
    let (shards, ledger) = tokio::join!(Shards::start(), Etcd::start());
    let (invoices, orders) = (Arc::<Bits>::default(), Arc::<Bits>::default());
    let mut original = shards.server(&ledger);
    let first = Load::of("invoice", from_ref(&original), &invoices);
    first.more(STRETCH).await;
    // Each write is marked: a copy from before one would be found behind as it starts.
    first.end().await;

    let (copy, mut twin) = beside(&shards, &ledger, &original).await;
    let first = Load::of("invoice", from_ref(&original), &invoices);
    let begun = Instant::now();
    let second = Load::on(from_ref(&twin), &orders);
    until("the original stops", async || is_behind(&original).await).await;
    println!("the original stopped {:?} after its copy was at work", begun.elapsed());
    // Whoever looks from now on finds that it objected.
    until("it has said so on both shards", async || shards.mark().await > version(&copy).await + FAR).await;
    let mut http = Http::connect(twin.http()).await.unwrap();
    refuses(&mut http).await;
    for (load, server) in [(&first, &original), (&second, &twin)] {
        told(server).await;
        until("callers are told", async || load.refusal().contains("RECOVERY_REQUIRED")).await;
    }
    println!("the copy stopped after {:?}, {} orders", begun.elapsed(), second.given());
    // What was on its way has arrived by then.
    refusals(&first, &second).await;
    let stopped = (first.given(), second.given());
    refusals(&first, &second).await;
    assert_eq!((first.given(), second.given()), stopped, "nothing leaves any more, by either");
    second.end().await;

    // One of the two is ended, and what it gave is named to the other.
    assert_eq!(twin.drain(), Some(0));
    original.operate(&["recover", "--bump", LOSS, "--yes"]).succeeded();
    until("the original hears of it", async || !is_behind(&original).await).await;
    first.more(STRETCH).await;
    let third = Load::on(from_ref(&original), &orders);
    third.more(STRETCH).await;
    for name in ["invoice", "order"] {
        twin.operate(&["next", name]).refused(3, &["RECOVERY_REQUIRED", "sequent recover"]);
    }
    third.end().await;
    first.end().await;
    assert_eq!(original.drain(), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_gave_nothing_itself_doubts_a_ledger_that_lost_what_another_gave() {
    let (shards, ledger) = tokio::join!(Shards::start(), Etcd::start());
    let [mut giver, mut bystander] = [shards.server(&ledger), shards.server(&ledger)];
    let (mut http, mut last) = (Http::connect(giver.http()).await.unwrap(), 0);
    asks(&mut http, 3, &mut last).await;
    let (marked, old) = (version(&ledger).await, ledger.snapshot("old").await);
    asks(&mut http, 20, &mut last).await;
    // Who gave them is gone, and their marks stay. The other has sent a heartbeat since the copy was made, too.
    let calls = async || bystander.look().await.sum("sequent_ledger_calls_total");
    let before = calls().await;
    until("the other has sent a heartbeat", async || calls().await > before + 1).await;
    giver.kill();
    println!("the ledger was at {marked} when it was copied, and is at {}", version(&ledger).await);
    ledger.restore_snapshot(&old).await;
    let mut http = Http::connect(bystander.http()).await.unwrap();
    refuses(&mut http).await;
    told(&bystander).await;
    bystander.operate(&["recover", "--bump", "100", "--yes"]).succeeded();
    until("it hears of it", async || !is_behind(&bystander).await).await;
    asks(&mut http, 3, &mut last).await;
    assert_eq!(bystander.drain(), Some(0));
}
