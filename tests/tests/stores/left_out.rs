//! A slot that counts by `AUTO_INCREMENT` can't hold keys with a period: it is left out for them, and the others serve them.

use std::sync::Arc;

use sequent_testkit::servers::MariaDb;

use crate::{
    bits::Bits,
    load::{Load, until},
    place::Place,
    server::Server,
    site::Plan,
};

const SETTINGS: &str = "
cluster = \"c\"
[ring]
shard_bits = 1
memory_bits = 0
attempt_timeout_ms = 4000
slow_after_ms = 2000
rescue_after_max_s = 1
[reservoir]
at_risk_max = 64
[limits]
deadline_ms = 3000
[[sequence]]
name = \"order\"
[[sequence]]
name = \"doc\"
template = \"@{date,yyyy}@{seq,w=9}\"
";

/// The keys of a database's cells.
async fn keys(db: &MariaDb, database: &str) -> Vec<String> {
    let said = db.sql(&format!("SELECT CAST(k AS CHAR) FROM {database}.sequent_cells ORDER BY k")).await;
    said.lines().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sequence_with_dates_is_served_by_the_slots_that_can_hold_it() {
    let (codes, rows) = tokio::join!(MariaDb::start(), MariaDb::start());
    let plan = Plan::of(SETTINGS).ledger(&codes, "ledger").await;
    let plan = plan.codes(0, &codes, "shard0", "").await.shard(1, &rows, "shard1").await;
    let mut servers = [Server::start(&plan.text), Server::start(&plan.text)];
    for server in &servers {
        let log = server.log();
        let told = log.lines().find(|line| line.contains("these slots don't serve the sequence"));
        assert!(told.is_some_and(|line| line.contains("doc") && line.contains("period")), "{log}");
    }
    let (without, dated) = (Arc::<Bits>::default(), Arc::<Bits>::default());
    let callers = [Load::of("order", &servers, &without), Load::of("doc", &servers, &dated)];
    for load in &callers {
        load.more(2_000).await;
        load.nobody_failed(0, "the start");
    }
    assert_eq!(keys(&codes, "shard0").await, ["order"]);
    let held = keys(&rows, "shard1").await;
    assert!(held.len() >= 2 && held[0].starts_with("doc|") && held.contains(&"order".to_owned()), "{held:?}");

    // A key is moved in all slots of the layout.
    servers[0].operate(&["advance", "doc", "100000"]).succeeded();
    callers[1].more(500).await;

    // Only the slot that is left serves it: without that nobody does, and the others don't mind.
    rows.kill().await;
    until("dates are refused", async || callers[1].refusal().contains("slot 1")).await;
    let refused = callers[0].refused.load(std::sync::atomic::Ordering::Relaxed);
    callers[0].more(500).await;
    callers[0].nobody_failed(refused, "the outage");
    assert!(!callers[1].refusal().contains("slot 0"), "{}", callers[1].refusal());
    rows.restart().await;
    callers[1].more(500).await;
    for load in callers {
        load.end().await;
    }

    // A resize closes what there is, and the slot stays left out.
    for server in &mut servers {
        assert_eq!(server.drain(), Some(0));
    }
    let plan = plan.shard(2, &rows, "shard2").await.shard(3, &rows, "shard3").await;
    let wider = plan.text.replace("shard_bits = 1", "shard_bits = 2");
    let operator = Place::new();
    std::fs::write(operator.path("next.toml"), &wider).unwrap();
    let resize = ["resize", "--config", "next.toml", "--json", "--go"];
    tokio::task::block_in_place(|| operator.run(&resize).succeeded());
    let servers = [Server::start(&wider)];
    for (name, bits) in [("order", &without), ("doc", &dated)] {
        let load = Load::of(name, &servers, bits);
        load.more(2_000).await;
        load.nobody_failed(0, "the resize");
        load.end().await;
    }
    assert_eq!(keys(&codes, "shard0").await, ["order", "order|~2"]);
}
