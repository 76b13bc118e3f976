//! A shard is killed under load, and comes back empty: a real Prometheus on two servers sees it at its next scrape, by the
//! shipped rules; a real Alertmanager hears of it by the shipped routes; no panel of any dashboard is empty.

mod load;
mod scene;
mod signs;
mod watch;

use std::time::Instant;

use crate::{dashboards, place::eventually, server::Server};
use scene::Scene;
use watch::Watch;

/// What stands in for series that there are not; a panel that shows nothing else is empty.
const NOTHING: &str = " or on() vector(0)";

/// The slot that dies.
const SLOT: u64 = 3;

/// How far the instant of a scrape and that of an event may be off, in seconds: Prometheus moves a sample by two
/// milliseconds at most so that they are evenly spaced, and an event's instant is cut to a whole one.
const OFF: f64 = 0.01;

/// The most scrapes until one shows it, of those that a server answered once the store was dead: one a second, so that fifteen
/// are one interval of the shipped configuration (see [`watch`]). Counted in answers, since a slow machine answers fewer.
const SCRAPES_MAX: usize = 15;

/// The overview's query of a panel, as the panel asks it.
fn overview(panel: &str) -> String {
    watch::chosen(&dashboards::query("Sequent: overview", panel))
}

/// What a server says to each scrape of the slot that dies: 1 while it takes numbers from it.
fn live(server: &Server) -> String {
    let instance = server.address("admin");
    format!("sequent_slot_state{{slot=\"{SLOT}\", state=\"live\", instance=\"{instance}\"}}")
}

/// The first scrape that was answered after a server put the slot out, and each until `end`, show that it is out: instants
/// are compared, of Prometheus' samples and of the server's own event, so that a slow machine changes nothing.
fn the_first_scrape_shows_it(watch: &Watch, server: &Server, (out, end): (f64, f64)) -> f64 {
    let of_it = |(at, _): &(f64, f64)| (out + OFF..end - OFF).contains(at);
    let samples: Vec<(f64, f64)> = watch.scraped(&live(server)).into_iter().filter(of_it).collect();
    let (first, _) = *samples.first().expect("a scrape while it was out");
    assert!(samples.iter().all(|(_, value)| *value == 0.0), "out since {out}: {samples:?}");
    // What the overview draws at that instant.
    let (states, instance) =
        (overview("Slots, as each server sees them"), server.address("admin").to_string());
    let of_slot =
        |slot: &str| watch.of(&states, &[("slot", slot), ("instance", instance.as_str())], Some(first));
    assert!(matches!(of_slot("3")[..], [code] if (1.0..=2.0).contains(&code)), "{:?}", of_slot("3"));
    assert_eq!(of_slot("0"), [0.0], "at {first}");
    assert_eq!(watch.of(&overview("Live slots, least"), &[], Some(first)), [3.0], "at {first}");
    first
}

/// From the death of its store until a scrape shows the slot out it takes no more than one shipped interval.
fn one_interval_shows_it(watch: &Watch, server: &Server, dead: f64) {
    let scraped = watch.scraped(&live(server));
    let mut since = scraped.iter().filter(|(at, _)| *at > dead + OFF);
    let at = since.position(|(_, value)| *value == 0.0).expect("a scrape that shows it out");
    println!("out at scrape {} of those since the store was dead", at + 1);
    assert!(at < SCRAPES_MAX, "dead since {dead}, shown by scrape {} of {scraped:?}", at + 1);
}

/// The first scrape after a server took it back shows it, and so does the panel; unless it was put out once more.
fn the_first_scrape_shows_it_back(watch: &Watch, server: &Server) {
    eventually("the first scrape after the rescue shows it", || {
        let (kind, back) = server.told(SLOT, &["evicted", "rescued"])?;
        let samples = watch.scraped(&live(server));
        let (_, value) = samples.into_iter().find(|(at, _)| *at > back + OFF)?;
        (kind == "rescued" && value > 0.5).then_some(())
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_shard_is_seen_told_and_forgotten_once_it_is_back() {
    let scene = Scene::start().await;
    let Scene { watch, hook, servers, .. } = &scene;
    let least = overview("Live slots, least");
    eventually("everything is well, and watched", || {
        let well = watch.value(&least) == Some(4.0) && watch.value("sum(up)") == Some(3.0);
        well.then_some(())
    });
    assert!(!hook.heard("infos", "SequentSlotOut", "firing"), "it fires while all is well");

    let (killed, since) = (Instant::now(), watch.clock());
    scene.redis.kill().await;
    let dead = watch.clock();
    let out = servers.each_ref().map(|server| {
        eventually("the server has put the slot out", || {
            server.told(SLOT, &["evicted"]).map(|(_, at)| at).filter(|at| *at + OFF > since)
        })
    });
    for (server, out) in servers.iter().zip(out) {
        eventually("a scrape after it", || {
            watch.scraped(&live(server)).iter().any(|(at, _)| *at > out.max(dead) + OFF).then_some(())
        });
        one_interval_shows_it(watch, server, dead);
    }
    println!("two servers had it out, and were scraped, after {:?}", killed.elapsed());
    eventually("SequentSlotOut is told", || hook.heard("infos", "SequentSlotOut", "firing").then_some(()));
    println!("told after {:?}", killed.elapsed());
    signs::are_seen(watch, &signs::DEAD, since);
    let waits = "count_over_time(ALERTS{alertname=\"SequentSlotOut\", alertstate=\"pending\"}[1h])";
    assert!(watch.values(waits).is_empty(), "an alert without `for` does not wait");

    let restarted = watch.clock();
    // It kept nothing on a disk: what comes back is empty.
    scene.redis.restart().await;
    for (server, out) in servers.iter().zip(out) {
        let first = the_first_scrape_shows_it(watch, server, (out, restarted));
        println!("out at {out}, shown by the scrape of {first}");
    }
    for server in servers {
        the_first_scrape_shows_it_back(watch, server);
    }
    eventually("SequentSlotOut is over", || {
        let over = watch.values("ALERTS{alertname=\"SequentSlotOut\"}").is_empty();
        (over && hook.heard("infos", "SequentSlotOut", "resolved")).then_some(())
    });
    eventually("a ticket that the store forgot", || {
        hook.heard("tickets", "SequentVolatileStoreForgot", "firing").then_some(())
    });
    assert!(!hook.heard("pages", "SequentStoreCameBackEmpty", "firing"), "a volatile store wakes nobody");
    assert!(!hook.heard("pages", "SequentGuardViolation", "firing"), "nor does the sum of it");
    signs::are_seen(watch, &signs::BACK, restarted);
    eventually("all slots are live again", || (watch.value(&least) == Some(4.0)).then_some(()));

    for query in dashboards::queries() {
        // Every series is there from the start, of servers and of programs that use the SDK.
        let expression = watch::chosen(&query.expression).replace(NOTHING, "");
        eventually(&format!("{}: {expression}", query.panel), || {
            watch.values(&expression).iter().any(|value| value.is_finite()).then_some(())
        });
    }
    assert_eq!(scene.load.faults(), Vec::<String>::new(), "no request failed");
}
