//! A shard is killed under load, and comes back empty: a real Prometheus sees it by the shipped rules, a real Alertmanager
//! hears of it by the shipped routes, no panel of any dashboard is empty.

mod load;
mod scene;
mod watch;

use std::time::Instant;

use crate::{dashboards, place::eventually};
use scene::Scene;

/// What stands in for series that there are not; a panel that shows nothing else is empty.
const NOTHING: &str = " or on() vector(0)";

/// A series of the slot that dies: 0 once its server has it out.
const LIVE: &str = "sequent_slot_state{slot=\"3\",state=\"live\"}";

/// A query of the overview, as the panel asks it.
fn overview(panel: &str) -> String {
    watch::chosen(&dashboards::query("Sequent: overview", panel))
}

/// While the store is dead: the overview's own queries, by what they answer. The first scrape after the server has put the
/// slot out shows it, however slow the machine: the instants are Prometheus' own.
fn the_overview_shows_it(scene: &Scene) {
    eventually("the server has put the slot out", || {
        scene.server.metrics().contains(&format!("{LIVE} 0")).then_some(())
    });
    // A scrape's instant may be shifted by two milliseconds.
    let known = scene.watch.clock() + 0.01;
    let scrape = scene.watch.scraped_after(LIVE, known);
    let states = overview("Slots, as each server sees them");
    let of_slot = |slot| scene.watch.of(&states, ("slot", slot), Some(scrape));
    // Probation or evicted, of panels.py; and the others live.
    assert!(
        matches!(of_slot("3")[..], [code] if (1.0..=2.0).contains(&code)),
        "{:?} at {scrape}",
        of_slot("3")
    );
    assert_eq!(of_slot("0"), [0.0], "at {scrape}");
    let (live, alerts) = (overview("Live slots, least"), overview("Alerts that fire"));
    eventually(&live, || (scene.watch.value(&live) == Some(3.0)).then_some(()));
    eventually(&alerts, || {
        let firing = scene.watch.of(&alerts, ("alertname", "SequentSlotOut"), None);
        (firing == [1.0]).then_some(())
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_shard_is_seen_told_and_forgotten_once_it_is_back() {
    let scene = Scene::start().await;
    let live = overview("Live slots, least");
    eventually("everything is well, and watched", || {
        let well = scene.watch.value(&live) == Some(4.0) && scene.watch.value("sum(up)") == Some(2.0);
        well.then_some(())
    });
    assert!(!scene.hook.heard("infos", "SequentSlotOut", "firing"), "it fires while all is well");

    scene.redis.kill().await;
    let killed = Instant::now();
    the_overview_shows_it(&scene);
    let shown = killed.elapsed();
    eventually("SequentSlotOut is told", || {
        scene.hook.heard("infos", "SequentSlotOut", "firing").then_some(())
    });
    println!("shown after {shown:?}, told after {:?}", killed.elapsed());

    // It kept nothing on a disk: what comes back is empty.
    scene.redis.restart().await;
    eventually("SequentSlotOut is over", || {
        scene.hook.heard("infos", "SequentSlotOut", "resolved").then_some(())
    });
    eventually("a page that the store forgot", || {
        let pages = ["SequentStoreCameBackEmpty", "SequentCounterRegressed"];
        pages.iter().any(|alert| scene.hook.heard("pages", alert, "firing")).then_some(())
    });
    eventually("all slots are live again", || (scene.watch.value(&live) == Some(4.0)).then_some(()));

    for query in dashboards::queries() {
        let mut expression = watch::chosen(&query.expression);
        // A server has each of its series from the start; a program that uses the SDK only those of what has happened.
        if !query.panel.starts_with("Sequent: SDK") {
            expression = expression.replace(NOTHING, "");
        }
        eventually(&format!("{}: {expression}", query.panel), || {
            scene.watch.values(&expression).iter().any(|value| value.is_finite()).then_some(())
        });
    }
    assert_eq!(scene.load.faults(), Vec::<String>::new(), "no request failed");
}
