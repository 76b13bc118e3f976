//! What all servers together may skip of a bounded sequence: the sum is true, and judges what is being defined alone.

use sequent_core::SequenceName;
use sequent_engine::{Body, Engine, Options};

use super::{Place, take};

fn bounded(servers: u64, more: &str) -> String {
    format!(
        "auto_create = [\"*\"]\n[reservoir]\nservers = {servers}\n[[sequence]]\nname = \"order\"\nend = 1000000\n\
         placement = \"spread\"\n{more}"
    )
}

#[tokio::test]
async fn spread_is_refused_with_the_sum_of_all_servers() {
    let mut place = Place::with(&bounded(5, ""));
    let error = place.open().await.err().unwrap();
    let sum = "end is 1000000: spread could skip 11000 of 1000000 numbers (reserve 1000 and lease 1000 for each of 5 servers, \
               ceilings 1000), and at most 1 % is allowed: placement dense, a higher end, fewer servers, or a lower \
               reservoir.at_risk_max and limits.lease_max_count";
    assert!(error.to_string().contains(sum) && error.exit_code() == 3, "{error}");
    place.say(&bounded(5, "[limits]\nlease_max_count = 500\n"));
    assert_eq!(place.take("order", 1).await, [1], "8500 of them are few enough");
}

#[tokio::test]
async fn a_sequence_in_force_stays_spread_however_many_servers_there_are_later() {
    let mut place = Place::with(&bounded(4, ""));
    assert_eq!(place.take("order", 2).await, [1, 2]);
    place.say(&bounded(10, ""));
    assert_eq!(place.take("order", 1).await, [3], "the same file on one of ten servers");
    place.say(&bounded(4, ""));
    let engine = place.open().await.unwrap();
    place.say(&bounded(10, ""));
    engine.reload(&place.config()).await.unwrap();
    assert_eq!(take(&engine, "order", 1).await.unwrap(), [4]);
    let body = |end| Body::check(Some("spread"), 1, 1, Some(end), None, None).unwrap();
    let name: SequenceName = "order".parse().unwrap();
    let again = engine.define(&name, None, body(1_000_000)).await.unwrap();
    assert_eq!((again.version, again.already, again.capacity.servers), (1, true, 10));
    let told = "it stays in force, though today spread could skip 21000 of 1000000 numbers";
    assert!(again.warnings[0].starts_with(told), "{:?}", again.warnings);
    let error = engine.define(&name, None, body(2_000_000)).await.unwrap_err();
    assert!(error.to_string().contains("could skip 42000 of 2000000"), "a next version is new: {error}");
    assert_eq!(take(&engine, "order", 1).await.unwrap(), [5]);
    engine.shutdown().await;
}

#[tokio::test]
async fn servers_hold_no_more_than_the_sum_says() {
    let config = "[ring]\nmemory_bits = 3\n[reservoir]\nservers = 2\n[limits]\nexhaust_least_s = 0\n[[sequence]]\nname = \"order\"\nend = 1500999\n\
                  placement = \"spread\"\n";
    let place = Place::with(config);
    let servers = [open(&place).await, open(&place).await];
    let name: SequenceName = "order".parse().unwrap();
    let body = Body::check(Some("spread"), 1, 1, Some(1_500_999), None, None).unwrap();
    let sum = servers[0].define(&name, None, body).await.unwrap().capacity;
    assert_eq!((sum.reserve, sum.lease, sum.ceilings, sum.servers), (1507, 1500, 1472, 2));
    let deadline = servers[0].clock().now() + std::time::Duration::from_secs(60);
    for engine in &servers {
        let lease = engine.lease(&name, 1_000_000, deadline).await.unwrap();
        assert!(lease.numbers.count() <= sum.lease, "{} numbers in a lease", lease.numbers.count());
    }
    // Demand that wants far more ahead than may be at risk.
    for _ in 0..20 {
        for engine in &servers {
            take(engine, "order", 10_000).await.unwrap();
            let ready = engine.reservoir(&name).await.unwrap().reservoir().stats().reserve;
            assert!(ready <= sum.reserve, "{ready} ready");
        }
        let shown = servers[0].cluster().show(&name).await.unwrap();
        let ahead: u64 = shown.counters.iter().map(|slot| slot.ceiling - slot.seen).sum();
        assert!(ahead * 8 <= sum.ceilings, "{ahead} raw ids ahead: {shown:?}");
    }
    for engine in servers {
        engine.shutdown().await;
    }
}

async fn open(place: &Place) -> Engine {
    Engine::open(place.config(), Options::default()).await.unwrap()
}
