//! Servers that die, recover and are put back: each time another instance speaks, and no id is given twice.

use std::collections::BTreeSet;

use sequent_core::{Block, DurabilityClass, ErrorKind, InstanceId, Store, ledger::Identity};

use crate::support::{Counting, Site, epoch, failed, key};

/// Every id that was given, each once.
#[derive(Default)]
struct Given(BTreeSet<u64>);

impl Given {
    fn add(&mut self, block: Block) {
        for id in block.first()..=block.last() {
            assert!(self.0.insert(id), "{id} was given twice");
        }
    }

    fn highest(&self) -> u64 {
        self.0.last().copied().unwrap_or(0)
    }
}

/// What the guard does once an epoch is lost, with all ids that were given as the ledger's ceiling. Returns who speaks.
async fn begin_anew(counting: &mut Counting, given: &Given) -> InstanceId {
    let before = counting.under.clone();
    // A server that has just come back may end the connections of before one by one.
    let mut looked = counting.store.inspect().await;
    for _ in 0..8 {
        if looked.is_ok() {
            break;
        }
        looked = counting.store.inspect().await;
    }
    counting.under = looked.unwrap().instance;
    assert_ne!(counting.under, before, "it speaks as before");
    let next = epoch(1);
    let value = counting.store.close(counting.cell(), epoch(2)).await.unwrap();
    counting.store.close(counting.cell(), next).await.unwrap();
    counting.store.install(counting.cell(), next, value.max(given.highest())).await.unwrap();
    counting.under.clone()
}

/// A verb under the old instance fails, and touches nothing.
async fn refused_under(counting: &Counting, old: &InstanceId) {
    let order = key("order");
    let cell = sequent_core::Cell { key: &order, under: old };
    for _ in 0..2 {
        let error = counting.store.take(cell, epoch(1), 1).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InstanceChanged | ErrorKind::Unavailable), "{error}");
    }
}

#[tokio::test]
async fn a_server_killed_again_and_again_forgets_nothing() {
    let site = Site::new().await;
    let (mut counting, mut given, mut spoke) =
        (Counting::begin(site.store(), 0).await, Given::default(), BTreeSet::new());
    spoke.insert(counting.under.clone());
    for round in 0..5 {
        for _ in 0..20 {
            given.add(counting.take(1 + round).await.unwrap());
        }
        let old = counting.under.clone();
        site.server.kill().await;
        assert!(counting.take(1).await.is_err());
        site.server.restart().await;
        refused_under(&counting, &old).await;
        let under = begin_anew(&mut counting, &given).await;
        assert!(spoke.insert(under), "an instance came back");
        let highest = given.highest();
        let next = counting.take(1).await.unwrap();
        // Nothing that was acknowledged is lost: at most the take that was cut off lies in between.
        assert!((highest + 1..=highest + 3).contains(&next.first()), "{next} after {highest}");
        given.add(next);
    }
}

#[tokio::test]
async fn a_backend_killed_with_commits_not_waited_for_is_another_instance() {
    // Our sessions wait for their commits whatever the server's default is; others' do not.
    let site = Site::with(&[("synchronous_commit", "off"), ("wal_writer_delay", "10000")]).await;
    let mut counting = Counting::begin(site.store(), 0).await;
    let durability = counting.store.inspect().await.unwrap().durability;
    assert_eq!(durability.class, DurabilityClass::Durable, "{durability:?}");
    let started = "SELECT pg_postmaster_start_time()";
    let (mut given, start) = (Given::default(), site.server.sql(started).await);
    for _ in 0..20 {
        given.add(counting.take(3).await.unwrap());
    }
    // What a session that does not wait adds is lost: it passes for what an operator may do.
    let sql = "UPDATE sequent_store.cells SET v = v + 1000";
    site.server.sql(sql).await;
    let pids = site.server.sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'sequent'").await;
    let pid = pids.lines().next().unwrap().parse().unwrap();
    let old = counting.under.clone();
    site.server.kill_backend(pid);
    // The server ends all others and recovers; nobody else tells that it is through with it.
    site.until(started, |found| found == start.trim()).await;
    refused_under(&counting, &old).await;
    begin_anew(&mut counting, &given).await;
    given.add(counting.take(5).await.unwrap());
}

#[tokio::test]
async fn a_copy_of_the_data_put_back_is_another_instance() {
    let site = Site::new().await;
    let (mut counting, mut given) = (Counting::begin(site.store(), 0).await, Given::default());
    given.add(counting.take(5).await.unwrap());
    let copy = site.server.copy().await;
    let value = given.highest();
    begin_anew(&mut counting, &given).await;
    for _ in 0..20 {
        given.add(counting.take(7).await.unwrap());
    }
    let mut spoke = BTreeSet::from([counting.under.clone()]);
    for _ in 0..2 {
        let old = counting.under.clone();
        site.server.restore_from(&copy).await;
        refused_under(&counting, &old).await;
        assert!(spoke.insert(begin_anew(&mut counting, &given).await), "an instance came back");
        given.add(counting.take(2).await.unwrap());
    }
    assert!(value < given.highest());
}

#[tokio::test]
async fn a_ledger_put_back_speaks_as_another() {
    let site = Site::new().await;
    let ledger = site.ledger();
    let first = ledger.inspect().await.unwrap();
    let copy = site.server.copy().await;
    let mut spoke = BTreeSet::from([first.instance]);
    for _ in 0..2 {
        let found = site.ledger().inspect().await.unwrap();
        assert_eq!(found.id, first.id);
        assert!(spoke.insert(found.instance), "an instance came back");
        site.server.restore_from(&copy).await;
    }
}

#[tokio::test]
async fn tables_that_are_replaced_under_connections_are_noticed_by_the_next_verb() {
    let site = Site::new().await;
    let mut counting = Counting::begin(site.store(), 100).await;
    counting.take(5).await.unwrap();
    let (dump, given) = (site.dump("sequent_store"), Given((0..=130).collect()));
    counting.take(5).await.unwrap();
    site.load("sequent_store", &dump).await;
    failed(counting.take(1).await, ErrorKind::InstanceChanged, &["expected postgres"]);
    begin_anew(&mut counting, &given).await;
    assert_eq!(counting.take(1).await.unwrap().first(), 131);
    site.server.sql("TRUNCATE sequent_store.cells").await;
    failed(counting.take(1).await, ErrorKind::InstanceChanged, &[]);
    let emptied = counting.store.inspect().await.unwrap();
    assert!(!emptied.has_cells && emptied.instance != counting.under);
}
