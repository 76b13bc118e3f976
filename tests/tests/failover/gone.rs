//! Three of four stores gone, and all of them: what is ready is served, then a clear error at once; service returns by itself.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use hyper::Method;
use tokio::task::JoinSet;

use crate::{
    fault::Fault,
    faults::RESCUED_WITHIN,
    harness::{Harness, PATIENCE, SETTINGS, until},
    http::{Answer, Http},
    journal::{ATTEMPT, Journal},
    load::Load,
    stalls::Stalls,
};

/// How long an error may take while all stores are known to be away: well below an attempt, for nobody waits for the dead.
const AT_ONCE: Duration = Duration::from_millis(500);

/// How long it may take while nobody knows yet: an attempt, after those that were asked first were given up as slow.
const FIRST: Duration = Duration::from_millis(1200);

/// For how long errors are looked at: long enough that stores are tried again and again meanwhile.
const LOOKED_AT: Duration = Duration::from_secs(6);

/// Callers at once.
const CROWD: usize = 16;

/// How all four go away together: dead ones, silent ones.
const WAYS: [[Fault; 4]; 2] = [[Fault::Killed; 4], [Fault::Hung, Fault::CutOff, Fault::Hung, Fault::CutOff]];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_one_is_up_nobody_fails_and_with_none_the_error_comes_at_once() {
    let mut harness = Harness::start(SETTINGS).await;
    let stalls = Stalls::watch();
    three_of_four(&harness).await;
    for way in WAYS {
        all_four(&harness, way, &stalls).await;
    }
    println!("{} numbers, none twice", harness.journal.bits.count());
    for server in &mut harness.servers {
        assert_eq!(server.drain(), Some(0));
    }
}

/// One after the other goes, each in another way; the one that stays serves everybody.
async fn three_of_four(harness: &Harness) {
    let mut load = Load::start(harness, false);
    load.more(10_000).await;
    let calm = load.journal.turn();
    println!("calm: {}", calm.shown());
    for (slot, fault) in [(0, Fault::Killed), (1, Fault::Hung), (2, Fault::CutOff)] {
        fault.strike(&harness.ring.slots[slot]).await;
        load.more(2000).await;
    }
    let out = harness.both(PATIENCE, |look| (0..3).all(|slot| !look.is_live(slot))).await;
    out.expect("three slots are found to be away");
    load.more(20_000).await;
    for (slot, fault) in [(0, Fault::Killed), (1, Fault::Hung), (2, Fault::CutOff)] {
        fault.end(&harness.ring.slots[slot], None).await;
    }
    harness.all_live().await;
    load.stop();
    let phase = load.journal.turn();
    println!("three of four gone: {}", phase.shown());
    // Two that hang at once cost a refill, and what it waits for, more than one does; they cost no request.
    let failures = phase.failures();
    assert!(failures.is_empty(), "{failures:#?}");
    println!("{} numbers, none twice", load.journal.bits.count());
}

async fn all_four(harness: &Harness, way: [Fault; 4], stalls: &Stalls) {
    harness.all_live().await;
    let ready = harness.looks().await.map(|look| look.reserve);
    for (store, fault) in harness.ring.slots.iter().zip(way) {
        fault.strike(store).await;
    }
    for (server, ready) in harness.servers.iter().zip(ready) {
        let served = serve_what_is_ready(server.http(), &harness.journal, stalls).await;
        println!("{way:?}: {served} numbers were served of {ready} that were ready");
        assert!(served > 0 && served >= ready / 2, "{served} of {ready}");
    }
    find_out(harness, stalls).await;
    let [first, second] = &harness.servers;
    tokio::join!(
        errors_come_at_once(first.http(), way, stalls),
        errors_come_at_once(second.http(), way, stalls)
    );
    let begun = Instant::now();
    way[3].end(&harness.ring.slots[3], None).await;
    for server in &harness.servers {
        let back = until(PATIENCE, async || {
            let (answer, _) = ask(server.http()).await;
            harness.journal.bits.add("back", answer.numbers().unwrap_or_default());
            answer.status == 200
        });
        let back = back.await;
        let (took, stall) = (begun.elapsed(), stalls.within(begun, Instant::now()));
        println!("{way:?}: served again after {took:?}");
        assert!(back && took <= RESCUED_WITHIN + stall, "service returned after {took:?}, stalled {stall:?}");
    }
    for (store, fault) in harness.ring.slots.iter().zip(way).take(3) {
        fault.end(store, None).await;
    }
    harness.all_live().await;
}

/// Takes one number after the other until there is none; how many there were.
async fn serve_what_is_ready(api: SocketAddr, journal: &Journal, stalls: &Stalls) -> u64 {
    let mut served = 0;
    loop {
        let (answer, took) = ask_within(api, FIRST, stalls).await;
        if answer.status != 200 {
            println!("the first error, after {took:?}: {}", answer.body);
            return served;
        }
        journal.bits.add("ready", answer.numbers().unwrap());
        served += 1;
    }
}

/// Asks until both servers know of all slots that they are away; meanwhile nobody waits longer than for an attempt.
async fn find_out(harness: &Harness, stalls: &Stalls) {
    let begun = Instant::now();
    let known = until(PATIENCE, async || {
        for server in &harness.servers {
            let (answer, _) = ask_within(server.http(), FIRST, stalls).await;
            assert_eq!(answer.status, 503, "{answer:?}");
        }
        harness.looks().await.iter().all(|look| (0..4).all(|slot| !look.is_live(slot)))
    });
    assert!(known.await, "all slots are found to be away");
    println!("found out after {:?}", begun.elapsed());
}

/// Many callers at once, for a while: each gets an error soon, and it names every slot.
async fn errors_come_at_once(api: SocketAddr, way: [Fault; 4], stalls: &Stalls) {
    let begun = Instant::now();
    let (mut longest, mut count) = (Duration::ZERO, 0);
    while begun.elapsed() < LOOKED_AT {
        let mut crowd = JoinSet::new();
        for _ in 0..CROWD {
            crowd.spawn(async move {
                let begun = Instant::now();
                (ask(api).await, begun, Instant::now())
            });
        }
        for ((answer, _), begun, ended) in crowd.join_all().await {
            let (took, stall) = (ended - begun, stalls.within(begun, ended));
            assert!(took <= AT_ONCE + stall, "an error took {took:?}, stalled {stall:?}: {answer:?}");
            names_each_slot(&answer);
            longest = longest.max(took);
            count += 1;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!("{way:?}: {count} errors, the longest took {longest:?}");
}

/// The problem document says of each slot why it does not serve.
fn names_each_slot(answer: &Answer) {
    let said = answer.json();
    assert_eq!((answer.status, said["reason"].as_str()), (503, Some("NO_SHARD_AVAILABLE")), "{answer:?}");
    let slots: Vec<&str> =
        said["slots"].as_array().into_iter().flatten().filter_map(|slot| slot["slot"].as_str()).collect();
    assert_eq!(slots, ["0", "1", "2", "3"], "{answer:?}");
    let causes = said["slots"].as_array().unwrap().iter().map(|slot| slot["kind"].as_str().unwrap());
    for cause in causes {
        assert!(["unavailable", "timeout"].contains(&cause), "{answer:?}");
    }
}

async fn ask_within(api: SocketAddr, bound: Duration, stalls: &Stalls) -> (Answer, Duration) {
    let begun = Instant::now();
    let (answer, took) = ask(api).await;
    let stall = stalls.within(begun, Instant::now());
    assert!(took <= bound + ATTEMPT / 10 + stall, "took {took:?}, stalled {stall:?}: {answer:?}");
    (answer, took)
}

/// One number, asked for on a connection of its own.
async fn ask(api: SocketAddr) -> (Answer, Duration) {
    let mut http = Http::connect(api).await.unwrap();
    let begun = Instant::now();
    let answer = http.ask(Method::POST, "/v1/sequences/order/next").await.unwrap();
    (answer, begun.elapsed())
}
