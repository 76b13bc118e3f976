//! Who speaks: a start, a copy that is put back, a snapshot; and data that is put back while a member runs.

use sequent_core::{
    ErrorKind,
    ledger::{Identity, Rows},
};
use sequent_testkit::servers::Etcd;

use crate::support::{Caller, counter, failed, ledger};

#[tokio::test]
async fn each_start_is_another_run_and_nothing_is_lost() {
    let server = Etcd::start().await;
    let mut caller = Caller::of(ledger(&server)).await;
    caller.open(1).await.unwrap();
    caller.raise(1, 700).await.unwrap();
    let mut spoken = vec![caller.under.clone()];
    for _ in 0..3 {
        server.kill().await;
        server.restart().await;
        let now = ledger(&server).inspect().await.unwrap().instance;
        assert!(!spoken.contains(&now), "{now} has spoken before");
        let row = ledger(&server).read(&now, &[counter()]).await.unwrap().rows.remove(0).unwrap();
        assert_eq!(row.ceiling, 700, "what was acknowledged outlives a kill");
        spoken.push(now);
    }
    gone(&mut caller).await;
}

/// Who called the run before is told so, at once or at the call after: its connection may have ended by itself.
async fn gone(caller: &mut Caller) {
    let first = caller.raise(1, 9900).await.unwrap_err();
    assert!([ErrorKind::Unavailable, ErrorKind::InstanceChanged].contains(&first.kind()), "{first}");
    failed(caller.raise(1, 9900).await, ErrorKind::InstanceChanged, &[]);
}

/// A copy of the files was at a term that the data it replaces has reached as well.
#[tokio::test]
async fn a_copy_of_the_files_speaks_as_nobody_before() {
    let server = Etcd::start().await;
    let mut caller = Caller::of(ledger(&server)).await;
    caller.open(1).await.unwrap();
    let first = caller.under.clone();
    let copy = server.copy().await;
    let second = ledger(&server).inspect().await.unwrap();
    let mut caller = Caller::of(ledger(&server)).await;
    caller.raise(1, 9000).await.unwrap();
    server.restore_from(&copy).await;
    let third = ledger(&server).inspect().await.unwrap();
    assert!(third.instance != first && third.instance != second.instance, "{third:?}");
    assert_eq!((third.id, third.version), (second.id, second.version), "it is the copy");
    gone(&mut caller).await;
}

/// A cluster that is made of a snapshot begins at the first terms again: at the one that the snapshot speaks of.
#[tokio::test]
async fn a_snapshot_speaks_as_nobody_before_though_its_cluster_has_the_names_and_terms_of_the_other() {
    let server = Etcd::start().await;
    let mut caller = Caller::of(ledger(&server)).await;
    caller.open(1).await.unwrap();
    let before = ledger(&server).inspect().await.unwrap();
    let snapshot = server.snapshot("backup").await;
    for ceiling in 500..600 {
        caller.raise(1, ceiling).await.unwrap();
    }
    let mut spoken = vec![before.instance.clone()];
    for _ in 0..2 {
        server.restore_snapshot(&snapshot).await;
        let after = ledger(&server).inspect().await.unwrap();
        assert!(!spoken.contains(&after.instance), "{after:?}");
        assert_eq!((after.id, after.version), (before.id, before.version));
        let cluster = |text: &str| text.split(' ').nth(1).map(str::to_owned);
        assert_eq!(
            cluster(after.instance.as_str()),
            cluster(before.instance.as_str()),
            "its names are the same"
        );
        spoken.push(after.instance);
    }
}

#[tokio::test]
async fn what_was_removed_is_not_made_again_by_who_used_it() {
    let server = Etcd::start().await;
    let mut caller = Caller::of(ledger(&server)).await;
    caller.open(1).await.unwrap();
    server.ctl(&["del", "--prefix", "sequent/"]).await;
    failed(caller.raise(1, 900).await, ErrorKind::Refused, &["run is gone"]);
    failed(caller.ledger.inspect().await, ErrorKind::Refused, &[]);
    caller.ledger.disconnect().await;
    failed(caller.ledger.inspect().await, ErrorKind::Refused, &["was removed while this process used it"]);
}
