//! Definitions of several processes over one ledger.

use super::*;
use sequent_backend::memory::MemoryLedger;
use sequent_testkit::{PausedClock, SeededEntropy};

fn part(version: u32, start: u64) -> SequencePart {
    let body = Body::check(None, start, 1, None, None).unwrap();
    SequencePart { name: "order".parse().unwrap(), version, body }
}

async fn catalog_over(ledger: &Arc<MemoryLedger>) -> Catalog {
    let ground = Ground {
        ledger: Arc::clone(ledger) as Arc<dyn Ledger>,
        limit: Duration::from_secs(1),
        layout: Layout::new(2, 0).unwrap(),
        at_risk_max: 1000,
        auto_create: GlobSet::empty(),
    };
    Catalog::open(ground, &[]).await.unwrap()
}

fn ledger() -> Arc<MemoryLedger> {
    Arc::new(MemoryLedger::new(Arc::new(PausedClock::new()), &SeededEntropy::new(1)))
}

#[tokio::test(start_paused = true)]
async fn a_definition_is_judged_again_when_another_came_first() {
    let ledger = ledger();
    let (one, other) = (catalog_over(&ledger).await, catalog_over(&ledger).await);
    assert_eq!(one.bring(&part(1, 1000)).await.unwrap(), None);
    let refusal = other.bring(&part(2, 1)).await.unwrap().expect("start changed behind its back");
    assert!(refusal.contains("changes start or step"), "{refusal}");
    assert_eq!(other.bring(&part(2, 1000)).await.unwrap(), None, "the same start may follow");
}

#[tokio::test(start_paused = true)]
async fn what_nobody_can_read_is_not_followed() {
    let ledger = ledger();
    let name: SequenceName = "order".parse().unwrap();
    let unreadable = Definition { name, version: 1, body: "{}".to_owned() };
    let ledger_dyn: &dyn Ledger = &*ledger;
    ledger_dyn.define(&unreadable, None).await.unwrap();
    let refusal = catalog_over(&ledger).await.bring(&part(2, 1)).await.unwrap().expect("unreadable");
    assert!(refusal.contains("can't be read"), "{refusal}");
}

#[tokio::test(start_paused = true)]
async fn what_a_first_use_defined_is_known_before_it_is_read_back_and_after() {
    let ledger = ledger();
    let catalog = catalog_over(&ledger).await;
    let any = globset::GlobSetBuilder::new().add(globset::Glob::new("a*").unwrap()).build().unwrap();
    catalog.reload(&[], &any).await.unwrap();
    let (name, unknown): (SequenceName, SequenceName) = ("apple".parse().unwrap(), "pear".parse().unwrap());
    assert_eq!(catalog.find_or_create(&name).await.unwrap().version, 1);
    assert!(catalog.find_or_create(&unknown).await.is_err());
    for _ in 0..2 {
        assert_eq!(catalog.find(&name).unwrap().version, 1);
        assert!(catalog.refresh().await.unwrap().is_empty(), "it did not change");
        assert!(catalog.fresh.read().unwrap().is_empty(), "it is in the snapshot");
    }
}

#[tokio::test(start_paused = true)]
async fn many_who_ask_for_what_is_not_there_cause_one_reading() {
    let ledger = ledger();
    let catalog = Arc::new(catalog_over(&ledger).await);
    let before = catalog.begun.load(Ordering::Relaxed);
    let held = catalog.reading.lock().await;
    let mut asks = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let catalog = Arc::clone(&catalog);
        asks.spawn(async move { catalog.find_or_create(&"pear".parse().unwrap()).await.is_err() });
    }
    tokio::task::yield_now().await;
    drop(held);
    assert_eq!(asks.join_all().await, [true; 50]);
    assert_eq!(catalog.begun.load(Ordering::Relaxed) - before, 1);
}

#[tokio::test(start_paused = true)]
async fn a_reload_brings_all_or_nothing() {
    let ledger = ledger();
    let catalog = catalog_over(&ledger).await;
    catalog.reload(&[part(1, 1000)], &GlobSet::empty()).await.unwrap();
    let name: SequenceName = "order".parse().unwrap();
    let mut other = part(1, 5);
    other.name = "other".parse().unwrap();
    let refusal = catalog.reload(&[other, part(2, 1)], &GlobSet::empty()).await.unwrap_err();
    assert!(refusal.to_string().contains("changes start or step"), "{refusal}");
    assert!(catalog.find(&"other".parse().unwrap()).is_none());
    let mut higher = part(2, 1000);
    higher.body = Body::check(None, 1000, 1, Some(9_000_000), None).unwrap();
    let changed = catalog.reload(&[higher], &GlobSet::empty()).await.unwrap();
    assert_eq!(changed, std::slice::from_ref(&name));
    assert_eq!(catalog.find(&name).unwrap().version, 2);
}
