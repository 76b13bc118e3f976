//! Rolling restarts under load with stores untouched: they skip less than as many refills, for a server that drains uses up
//! what it holds, also where callers are in no hurry. Between them the ledger is asked by the clock, and never for a number.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use sequent_testkit::servers::MariaDb;
use tokio::task::JoinSet;

use crate::{
    bits::Bits,
    http::Http,
    load::until,
    server::Server,
    site::{maria, password_file},
};

/// Numbers of each request, and a caller's rest where its server is not there.
const COUNT: usize = 40;
const REST: Duration = Duration::from_millis(5);

/// How callers take, and what servers hold for them.
struct Pace {
    /// Of a caller, after each answer.
    rest: Duration,
    /// Numbers between two restarts.
    more: u64,
    reservoir: &'static str,
}

/// Without a pause: what a server holds is gone at once.
const HURRIED: Pace = Pace { rest: Duration::ZERO, more: 20_000, reservoir: "at_risk_max = 4096" };

/// A reserve of twice the time that balancers are given, as by default: callers who stay use it up all the same.
const CALM: Pace = Pace { rest: Duration::from_millis(40), more: 6_000, reservoir: "reserve_ms = 2000" };

const SETTINGS: &str = "
cluster = \"c\"
[ring]
shard_bits = 1
memory_bits = 0
# A busy machine is no slow store: a slot that left the ring for that would come back lifted to its front.
slow_after_ms = 4000
attempt_timeout_ms = 8000
[limits]
deadline_ms = 30000
[[sequence]]
name = \"order\"
";

/// Restarts, in turn over three servers: `SEQUENT_RESTARTS`, by default 5.
fn restarts() -> usize {
    let given = std::env::var("SEQUENT_RESTARTS").ok();
    given.map_or(5, |count| count.parse().expect("SEQUENT_RESTARTS is a number"))
}

/// A caller who stays with one address, whoever is there.
async fn call(api: SocketAddr, rest: Duration, bits: Arc<Bits>, stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::Relaxed) {
        if let Ok(mut http) = Http::connect(api).await {
            while let Ok(numbers) = http.next(COUNT).await {
                bits.add("a caller", numbers);
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                tokio::time::sleep(rest).await;
            }
        }
        tokio::time::sleep(REST).await;
    }
}

/// Between two times that a server sends the ledger a heartbeat.
const SHOWS_UP_EVERY: Duration = Duration::from_millis(1750);
/// Calls of the ledger in that time, and for a server that is new there.
const CALLS_EACH: u64 = 6;
const CALLS_FIRST: u64 = 20;
/// Statements of one call, at most, and of those that are nobody's call: a login, how the ledger's server is set.
const STATEMENTS_EACH: u64 = 12;
const STATEMENTS_FIRST: u64 = 100;

/// What servers took of their stores, and asked the ledger.
#[derive(Default)]
struct Taken {
    numbers: u64,
    refills: u64,
    calls: u64,
    starts: u64,
}

impl Taken {
    /// Adds a server that is about to be drained.
    async fn add(&mut self, server: &Server) {
        let look = server.look().await;
        self.numbers += look.sum("sequent_numbers_issued_total") + look.reserve;
        self.refills += look.at("sequent_refills_total{outcome=\"ok\"}");
        self.calls += look.sum("sequent_ledger_calls_total");
        self.starts += 1;
    }

    /// The ledger was asked by the clock, and not for numbers: as the servers say, and as its own server has counted.
    fn is_by_the_clock(&self, statements: u64, time: Duration) {
        let Self { numbers, refills, calls, starts } = self;
        println!(
            "{statements} statements of {calls} calls, for {numbers} numbers in {refills} refills, in {time:?}"
        );
        let turns = u64::try_from(time.as_millis() / SHOWS_UP_EVERY.as_millis()).unwrap() + 1;
        let allowed = 3 * turns * CALLS_EACH + starts * CALLS_FIRST;
        assert!(*calls <= allowed, "{calls} calls of the ledger in {time:?}, {allowed} are allowed");
        let allowed = calls * STATEMENTS_EACH + starts * STATEMENTS_FIRST;
        assert!(statements <= allowed, "{statements} statements of {calls} calls, {allowed} are allowed");
    }
}

/// How many statements the ledger's server was given so far.
async fn statements(ledger: &MariaDb) -> u64 {
    let said = ledger.sql("SHOW GLOBAL STATUS LIKE 'Questions'").await;
    said.split_whitespace().next_back().unwrap().parse().unwrap()
}

async fn restart(server: &mut Server, taken: &mut Taken) {
    taken.add(server).await;
    assert_eq!(server.drain(), Some(0));
    server.restart();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn restarts_in_turn_skip_fewer_numbers_than_as_many_refills() {
    restarts_skip_little(HURRIED).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn so_they_do_where_callers_are_in_no_hurry() {
    restarts_skip_little(CALM).await;
}

async fn restarts_skip_little(pace: Pace) {
    let ledger = MariaDb::start().await;
    maria(&ledger, "ledger", "ledger").await;
    let folder = tempfile::tempdir().unwrap();
    let secret = password_file(folder.path(), "password").display().to_string();
    let slot = |slot: usize| {
        let file = folder.path().join(format!("shard-{slot}.db"));
        format!("[[shard]]\nslot = {slot}\nstore = \"sqlite\"\npath = \"{}\"\n", file.display())
    };
    let url = format!("mysql://sequent@{}/ledger", ledger.address());
    let own = format!("[ledger]\nstore = \"mysql\"\nurl = \"{url}\"\npassword_file = \"{secret}\"\n");
    let reservoir = format!("[reservoir]\n{}\n", pace.reservoir);
    let config = [SETTINGS, &slot(0), &slot(1), &own, &reservoir].concat();
    let (begun, asked) = (Instant::now(), statements(&ledger).await);
    let mut servers = [(); 3].map(|()| Server::start(&config));
    let (mut taken, bits, stop) = (Taken::default(), Arc::<Bits>::default(), Arc::<AtomicBool>::default());
    for server in &mut servers {
        server.drain_delay_s = 1;
        restart(server, &mut taken).await;
    }
    // Each holds what it took before the callers come.
    for server in &servers {
        let mut http = Http::connect(server.http()).await.unwrap();
        for _ in 0..5 {
            bits.add("who begins", http.next(COUNT).await.unwrap());
        }
    }
    let mut callers = JoinSet::new();
    for server in &servers {
        callers.spawn(call(server.http(), pace.rest, Arc::clone(&bits), Arc::clone(&stop)));
    }
    let more = async || {
        let goal = bits.count() + pace.more;
        until("more numbers", async || bits.count() >= goal).await;
    };
    for turn in 0..restarts() {
        more().await;
        restart(&mut servers[turn % 3], &mut taken).await;
    }
    more().await;
    // Also what the last ones hold is used up first.
    for server in &mut servers {
        taken.add(server).await;
        assert_eq!(server.drain(), Some(0));
    }
    taken.is_by_the_clock(statements(&ledger).await - asked, begun.elapsed());
    stop.store(true, Ordering::Relaxed);
    callers.join_all().await;
    let seen = ledger.sql("SELECT seen FROM ledger.sequent_counters WHERE k = 'order'").await;
    let counted: u64 = seen.lines().map(|seen| seen.trim().parse::<u64>().unwrap()).sum();
    let (given, refill) = (bits.count(), taken.numbers / taken.refills);
    let (skipped, allowed) = (counted - given, restarts() as u64 * refill);
    println!(
        "{given} numbers given, {skipped} skipped; {} refills of {refill} numbers: {allowed} allowed",
        taken.refills
    );
    assert!(skipped < allowed, "{skipped} numbers skipped, as many refills are {allowed}");
}
