//! A shard is killed under load, and comes back empty: a real Prometheus sees it by the shipped rules, a real Alertmanager
//! hears of it by the shipped routes, no panel of any dashboard is empty.

mod load;
mod scene;
mod watch;

use std::time::Instant;

use crate::{dashboards, place::eventually};
use scene::Scene;

/// What the overview and its sisters show of a slot that is out, as (expression, value while it is out).
const SEEN: [(&str, f64); 2] = [
    ("min(instance:sequent_slots_live:count)", 3.0),
    ("max(sequent_slot_state{slot=\"3\", state=~\"evicted|probation\"})", 1.0),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_shard_is_seen_told_and_forgotten_once_it_is_back() {
    let scene = Scene::start().await;
    eventually("everything is well, and watched", || {
        let well = scene.watch.value(SEEN[0].0) == Some(4.0) && scene.watch.value("sum(up)") == Some(2.0);
        well.then_some(())
    });
    assert!(!scene.hook.heard("infos", "SequentSlotOut", "firing"), "it fires while all is well");

    scene.redis.kill().await;
    let killed = Instant::now();
    for (expression, value) in SEEN {
        eventually(expression, || (scene.watch.value(expression) == Some(value)).then_some(()));
    }
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
    eventually("all slots are live again", || (scene.watch.value(SEEN[0].0) == Some(4.0)).then_some(()));

    for query in dashboards::queries() {
        let expression = watch::chosen(&query.expression);
        eventually(&format!("{}: {expression}", query.panel), || {
            scene.watch.values(&expression).iter().any(|value| value.is_finite()).then_some(())
        });
    }
    assert_eq!(scene.load.faults(), Vec::<String>::new(), "no request failed");
}
