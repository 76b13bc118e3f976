//! The ledger killed under load, and put back to an older copy: what goes on, what stops, and that nothing repeats.

use std::time::{Duration, Instant};

use sequent_core::{Clock, SystemClock};
use sequent_engine::Timestamp;
use sequent_testkit::proxy::Mode;

use crate::{
    fault::Fault,
    harness::{Harness, PATIENCE, until},
    http::Http,
    journal::Journal,
    load::Load,
    scale::Scale,
    stalls::Stalls,
};

/// Little room below the ceilings, so that it is soon used up.
const SETTINGS: &str = "
[ring]
shard_bits = 2
memory_bits = 0
[reservoir]
at_risk_max = 512
[limits]
lease_max_count = 200
[[sequence]]
name = \"order\"
";

/// Numbers while all is well.
const CALM: u64 = 20_000;

/// How soon servers have heard that the ledger is back, or went back: they ask each quarter of a second while it is away.
const HEARD_WITHIN: Duration = Duration::from_secs(5);

/// How long an error may take that nothing needs to be asked for.
const AT_ONCE: Duration = Duration::from_millis(500);

/// More raw ids than any counter can have given after the copy.
const LOSS: &str = "10000000";

/// Ceilings are ahead by this much: the load has gone on for long enough that servers know how fast it is.
async fn has_room(harness: &Harness, seconds: u64) {
    let heard = harness.both(PATIENCE, |look| look.sum("sequent_outage_left_seconds") >= seconds).await;
    assert!(heard.is_some(), "sequent_outage_left_seconds is {seconds} or more on both servers");
}

async fn ledger_is_away(harness: &Harness, away: u64) {
    let heard = harness.both(PATIENCE, |look| look.sum("sequent_ledger_away") == away).await;
    assert!(heard.is_some(), "sequent_ledger_away is {away} on both servers");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_ledger_numbers_go_on_below_the_ceilings_that_it_knew() {
    let mut harness = Harness::start_under(SETTINGS, 600).await;
    let stalls = Stalls::watch();
    let failed_before = harness.looks().await.map(|look| look.failed_requests());
    let mut load = Load::start(&harness, false);
    load.more(CALM).await;
    let calm = load.journal.turn();
    println!("calm: {}", calm.shown());
    has_room(&harness, 600).await;
    let struck = Instant::now();
    Fault::Killed.strike(&harness.ring.ledger).await;
    ledger_is_away(&harness, 1).await;
    let long_enough = Scale::from_environment().without_ledger();
    tokio::time::sleep(long_enough.saturating_sub(struck.elapsed())).await;
    load.more(CALM).await;
    println!("{:?} without the ledger", struck.elapsed());
    let away = load.journal.turn();
    let highest = harness.journal.highest();
    // It is there, and no server reaches it yet: what it knew when it went is what it knows.
    harness.ring.ledger.wire.set(Mode::Refuse).await;
    Fault::Killed.end(&harness.ring.ledger, None).await;
    is_witnessed(&harness, highest).await;
    harness.ring.ledger.wire.set(Mode::Pass).await;
    ledger_is_away(&harness, 0).await;
    load.more(CALM).await;
    load.stop();
    let back = load.journal.turn();
    // Nor at an API, of which the SDK may not have told, since it asked again.
    assert_eq!(harness.looks().await.map(|look| look.failed_requests()), failed_before);
    println!("{} numbers, none twice", load.journal.bits.count());
    for (when, phase) in [("without the ledger", away), ("since it is back", back)] {
        println!("{when}: {}", phase.shown());
        let faults = phase.faults(&calm.normal(), &stalls);
        assert!(
            faults.is_empty(),
            "{when}: {faults:#?} {} {}",
            harness.servers[0].log(),
            harness.servers[1].log()
        );
    }
    for server in &mut harness.servers {
        assert_eq!(server.drain(), Some(0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_used_up_its_room_says_so_at_once_and_comes_back_by_itself() {
    let mut harness = Harness::start_under(SETTINGS, 1).await;
    let stalls = Stalls::watch();
    let mut load = Load::start(&harness, false);
    load.more(CALM).await;
    let given = harness.journal.bits.count();
    Fault::Killed.strike(&harness.ring.ledger).await;
    ledger_is_away(&harness, 1).await;
    for server in &harness.servers {
        let api = Api { address: server.http(), journal: &harness.journal, stalls: &stalls };
        let used_up = until(PATIENCE, async || api.refusal().await.is_some()).await;
        assert!(used_up, "once its ceilings are used up, a server says that it needs the ledger");
        for _ in 0..50 {
            api.refusal().await.expect("it can't be served");
        }
    }
    let (served, highest) = (harness.journal.bits.count() - given, harness.journal.highest());
    // It is there, and no server reaches it yet: what it knew when it went is what it knows.
    harness.ring.ledger.wire.set(Mode::Refuse).await;
    Fault::Killed.end(&harness.ring.ledger, None).await;
    is_witnessed(&harness, highest).await;
    let struck = Instant::now();
    harness.ring.ledger.wire.set(Mode::Pass).await;
    for server in &harness.servers {
        let api = Api { address: server.http(), journal: &harness.journal, stalls: &stalls };
        let back = until(PATIENCE, async || api.refusal().await.is_none()).await;
        let stall = stalls.within(struck, Instant::now());
        assert!(back && struck.elapsed() < HEARD_WITHIN + stall, "serves again after {:?}", struck.elapsed());
    }
    load.journal.turn();
    load.more(CALM).await;
    load.stop();
    let after = load.journal.turn();
    println!("{}; {served} numbers before the refusal", after.shown());
    println!("{} numbers, none twice", load.journal.bits.count());
    for server in &mut harness.servers {
        assert_eq!(server.drain(), Some(0));
    }
}

/// All that was given of each slot is below a ceiling that the ledger was told of before it went.
async fn is_witnessed(harness: &Harness, highest: [u64; 4]) {
    let sql = "SELECT slot, ceiling FROM sequent_test.sequent_counters WHERE k = 'order' ORDER BY slot";
    let rows = harness.ring.ledger.db.sql(sql).await;
    let of = |row: &str| row.split_whitespace().map(|word| word.parse().unwrap()).collect::<Vec<u64>>();
    let rows: Vec<Vec<u64>> = rows.lines().map(of).collect();
    assert_eq!(rows.len(), 4, "{rows:?}");
    for row in rows {
        let [slot, ceiling] = row[..] else { panic!("{row:?}") };
        let highest = highest[usize::try_from(slot).unwrap()];
        // Four slots, one number an id: the number tells the raw id.
        assert!((highest + 3) >> 2 <= ceiling, "slot {slot} gave {highest}, its ceiling is {ceiling}");
    }
}

/// Where numbers are asked for while the ledger is away.
struct Api<'a> {
    address: std::net::SocketAddr,
    journal: &'a Journal,
    stalls: &'a Stalls,
}

impl Api<'_> {
    /// What it says of one number, if not the number, which is noted: that the ledger is needed, and away; and it says so at once.
    async fn refusal(&self) -> Option<String> {
        let mut http = Http::connect(self.address).await.unwrap();
        let begun = Instant::now();
        let error = match http.next(1).await {
            Ok(numbers) => {
                self.journal.note("api", begun, Ok(numbers));
                return None;
            }
            Err(error) => error,
        };
        let (took, stall) = (begun.elapsed(), self.stalls.within(begun, Instant::now()));
        assert!(error.starts_with("503 ") && error.contains("LEDGER_UNAVAILABLE"), "{error}");
        assert!(took <= AT_ONCE + stall, "took {took:?}: {error}");
        Some(error)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ledger_put_back_to_an_older_copy_is_told_and_repeats_nothing() {
    let mut harness = Harness::start_under(SETTINGS, 60).await;
    let old = harness.ring.ledger.db.copy().await;
    let copied = version(&harness).await;
    let mut load = Load::start(&harness, false);
    load.more(CALM).await;
    // Otherwise the copy would lack nothing.
    assert!(until(PATIENCE, async || version(&harness).await > copied).await, "the ledger was written to");
    has_room(&harness, 60).await;
    Fault::Restored.strike(&harness.ring.ledger).await;
    load.more(CALM / 4).await;
    Fault::Restored.end(&harness.ring.ledger, Some(&old)).await;
    let told = harness.both(PATIENCE, |look| look.sum("sequent_ledger_behind") == 1).await;
    println!("both servers know of it after {:?}", told.expect("both servers notice"));
    for server in &harness.servers {
        let error = Http::connect(server.http()).await.unwrap().next(1).await.unwrap_err();
        assert!(
            error.contains("RECOVERY_REQUIRED") && error.contains("`sequent shards` says how"),
            "{error}"
        );
        assert!(server.log().contains("nothing is opened before `sequent recover`"), "{}", server.log());
    }
    harness.servers[0].operate(&["recover", "--bump", LOSS, "--yes"]).succeeded();
    let recovered = harness.both(PATIENCE, |look| look.sum("sequent_ledger_behind") == 0).await;
    assert!(
        recovered.is_some(),
        "both servers hear that the loss was named: {} {}",
        harness.servers[0].log(),
        harness.servers[1].log()
    );
    load.more(CALM).await;
    load.stop();
    for server in &mut harness.servers {
        assert_eq!(server.drain(), Some(0));
    }
    put_back_while_nobody_runs(&harness, &load).await;
}

/// How often the ledger was written to, as it says itself.
async fn version(harness: &Harness) -> u64 {
    let said = harness.ring.ledger.db.sql("SELECT version FROM sequent_test.sequent_meta").await;
    said.trim().parse().unwrap()
}

/// The same copy again, with every server stopped; what was lost since is worked out from when it was made.
async fn put_back_while_nobody_runs(harness: &Harness, load: &Load) {
    let since = Timestamp::from_millisecond(i64::try_from(SystemClock.wall_ms()).unwrap()).unwrap();
    let old = {
        let copy = harness.ring.ledger.db.copy().await;
        let more = harness.servers[0].operate(&["next", "order", "-n", "500"]).succeeded().numbers();
        load.journal.bits.add("between", more);
        copy
    };
    harness.ring.ledger.db.stop().await;
    harness.ring.ledger.db.restore_from(&old).await;
    for server in &harness.servers {
        let refused = server.operate(&["next", "order", "-n", "5"]);
        refused.refused(3, &["RECOVERY_REQUIRED", "sequent recover"]);
    }
    let since = since.to_string();
    let copy = ["recover", "--since", &since, "--at-most-per-second", "200000"];
    let worked_out = harness.servers[1].operate(&copy);
    assert_eq!(worked_out.code, Some(3), "{worked_out:?}");
    println!("{}", worked_out.out);
    for server in &harness.servers {
        server.operate(&["next", "order"]).refused(3, &["RECOVERY_REQUIRED"]);
    }
    harness.servers[1].operate(&[&copy[..], &["--yes"]].concat()).succeeded();
    for server in &harness.servers {
        let numbers = server.operate(&["next", "order", "-n", "500"]).succeeded().numbers();
        load.journal.bits.add("after the second recovery", numbers);
    }
    println!("{} numbers, none twice", load.journal.bits.count());
}
