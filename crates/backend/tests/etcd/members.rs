//! Three members: one lost is nobody's loss, two are; and who leads is no matter, but that another one leads.

use std::time::Duration;

use sequent_backend::{etcd::EtcdLedger, net::ServerOptions};
use sequent_core::{
    InstanceId, SourceError,
    ledger::{Identity, Rows},
};

use crate::support::{Caller, Three, counter, options};

/// How long a call waits for a quorum that is not there, before its caller gives it up.
const LIMIT: Duration = Duration::from_millis(1500);

/// How long a call may take where two of three members are well: many times what it needs on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(10);

async fn ceiling(ledger: &EtcdLedger, under: &InstanceId) -> Result<u64, SourceError> {
    let reading = ledger.read(under, &[counter()]).await?;
    Ok(reading.rows[0].as_ref().unwrap().ceiling)
}

#[tokio::test]
async fn one_member_lost_is_nobodys_loss_and_two_are() {
    let three = Three::start().await;
    let mut caller = Caller::of(EtcdLedger::new(options(&three.url()))).await;
    assert_eq!(caller.open(1).await.unwrap(), 0);
    let leader = three.leader().await;
    let [one, other] = [(leader + 1) % 3, (leader + 2) % 3];
    three.members[one].kill().await;
    assert_eq!(caller.raise_when_back(1, 500).await, 500, "the leader is the same: so is who speaks");
    three.members[other].kill().await;
    let raise = tokio::time::timeout(LIMIT, caller.raise(1, 900)).await;
    assert!(raise.is_err() || raise.is_ok_and(|raise| raise.is_err()), "there is no quorum");
    three.members[other].restart().await;
    assert_ne!(three.leader().await, one, "who was killed leads nobody");
    let fresh = EtcdLedger::new(options(&three.url()));
    let again = fresh.inspect().await.unwrap();
    let ceiling = ceiling(&fresh, &again.instance).await.unwrap();
    assert!([500, 900].contains(&ceiling), "what nobody answered is done or not: {ceiling}");
}

#[tokio::test]
async fn whichever_member_is_asked_the_same_ledger_speaks() {
    let three = Three::start().await;
    let mut spoken = Vec::new();
    for member in &three.members {
        let found = EtcdLedger::new(options(&member.url())).inspect().await.unwrap();
        spoken.push((found.id, found.instance, found.version));
    }
    assert!(spoken.windows(2).all(|pair| pair[0] == pair[1]), "{spoken:?}");
    let was = three.leader().await;
    three.members[was].kill().await;
    let now = three.leader().await;
    let found = EtcdLedger::new(options(&three.members[now].url())).inspect().await.unwrap();
    assert_eq!(found.id, spoken[0].0);
    assert_ne!(found.instance, spoken[0].1, "another one leads");
}

/// A member that hangs is as one that has lost the others: it accepts connections, and answers nothing of a quorum.
#[tokio::test]
async fn a_member_that_hangs_costs_no_call() {
    let three = Three::start().await;
    let (hangs, url) = three.a_follower_first().await;
    let mut caller = Caller::of(EtcdLedger::new(options(&url))).await;
    caller.open(1).await.unwrap();
    three.members[hangs].suspend().await;
    // On the connection to it, and on those that are opened later.
    for ceiling in [500, 600] {
        let raise = tokio::time::timeout(PATIENCE, caller.raise(1, ceiling)).await;
        assert_eq!(raise.expect("another member is asked").unwrap(), ceiling);
        caller.ledger.disconnect().await;
        caller.enlist().await;
    }
    three.members[hangs].resume().await;
}

#[tokio::test]
async fn a_ledger_is_opened_though_the_member_named_first_hangs() {
    let three = Three::start().await;
    let (hangs, url) = three.a_follower_first().await;
    let made = EtcdLedger::new(options(&url)).inspect().await.unwrap();
    three.members[hangs].suspend().await;
    for _ in 0..3 {
        let options = ServerOptions { create: false, connect_timeout: PATIENCE, ..options(&url) };
        let found = EtcdLedger::new(options).inspect().await.unwrap();
        assert_eq!((found.id, found.instance), (made.id, made.instance.clone()));
    }
    three.members[hangs].resume().await;
}
