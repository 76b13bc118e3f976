//! Heartbeat: one ledger call every two seconds for all grants.

use std::{
    ops::Bound,
    sync::{Arc, PoisonError},
    time::Duration,
};

use sequent_core::{
    InstanceId, Rule,
    ledger::{Counter, Presence, Raise},
};
use tokio::{sync::watch, task::JoinSet};

use super::{
    AWAY_RETRY, Guard,
    batching::{Report, gather, slots_of},
    is_done_with,
};
use crate::{
    counter::{Guarded, PAGE},
    ledger_client::Call,
};

/// The most pages of moved rows read per heartbeat. The rest is left to the next.
const PAGES_MAX: usize = 8;

/// The most counters stepped over in one heartbeat.
const STEPPED_OVER_MAX: usize = 32;

impl Guard {
    /// Runs the guard: answers requests, sends heartbeats and watches, until it is dropped. To be spawned once.
    pub async fn run(self: Arc<Self>) {
        let driver = self.driver.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(driver) = driver else { return };
        let dense = self.dense_driver.lock().unwrap_or_else(PoisonError::into_inner).take();
        let dense = dense.unwrap_or_else(|| Box::pin(std::future::pending()));
        let heartbeat = async {
            loop {
                self.wait_for_next().await;
                self.heartbeat(self.shared.config.outage).await;
                self.shared.client.look_at_the_settings().await;
                // If this fails, the next heartbeat and the next dense request try again.
                drop(self.shared.client.see_to_the_record().await);
                self.shared.client.spread_marks().await;
            }
        };
        tokio::select! {
            // A fixed order, so that a run can be replayed.
            biased;
            () = driver => {}
            () = dense => {}
            () = heartbeat => {}
            () = self.watch() => {}
        }
    }

    /// Waits for the next heartbeat. If the ledger goes away meanwhile, the wait is cut short, since no other call is made
    /// until a heartbeat shows that it is back; a closed connection may be all that happened. It is not retried more often than
    /// [`AWAY_RETRY`].
    async fn wait_for_next(&self) {
        let (client, every) = (&self.shared.client, self.shared.config.heartbeat_every);
        let least = AWAY_RETRY.min(every);
        let loss = client.next_loss();
        tokio::pin!(loss);
        // Enabled now, so that an outage during the sleep is not missed.
        loss.as_mut().enable();
        tokio::time::sleep(least).await;
        if client.away_since().is_none() {
            // Timeout and outage both end the wait.
            drop(tokio::time::timeout(every.saturating_sub(least), loss).await);
        }
    }

    /// Sends one call for all grants: raises ahead, reports, and reads what others reported.
    pub(super) async fn heartbeat(&self, outage: Duration) {
        let under = self.shared.client.instance();
        self.relist_under(&under).await;
        let (lists, most) = (&self.shared.lists, self.shared.client.batch_max());
        let mut walk = lists.unsaid.walk();
        loop {
            // A faulty ledger gets no raises. The call is still made, since only it shows that an operator has named the loss.
            let is_faulty = self.trouble().is_some();
            let batch = if is_faulty { Vec::new() } else { gather(lists, &mut walk, (outage, most)).await };
            if !self.report(&under, &batch).await {
                return;
            }
            if batch.len() < most || walk.is_over() {
                break;
            }
        }
        self.listen(&under).await;
        self.step_over_given().await;
        self.forget_the_dropped().await;
        for shard in &self.shards {
            shard.record_again(&under).await;
        }
    }

    /// Lists all counters again if the ledger is another instance than at the last heartbeat: what was given under the one before
    /// is reported to this one, which may have lost it. Idle counters would never report it.
    async fn relist_under(&self, under: &InstanceId) {
        let before = || self.reported_under.lock().unwrap_or_else(PoisonError::into_inner);
        if *before() == *under {
            return;
        }
        let mut after: Option<Counter> = None;
        loop {
            let page: Vec<Arc<Guarded>> = {
                let registry = self.registry();
                let from = after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
                registry
                    .range((from, Bound::Unbounded))
                    .take(PAGE)
                    .map(|(_, counter)| Arc::clone(counter))
                    .collect()
            };
            let Some(last) = page.last() else { break };
            after = Some(last.counter.clone());
            for guarded in page {
                guarded.list();
            }
            tokio::task::yield_now().await;
        }
        before().clone_from(under);
    }

    async fn report(&self, under: &InstanceId, batch: &[Report]) -> bool {
        let raises: Vec<Raise> = batch.iter().map(|(_, raise)| raise.clone()).collect();
        // Marked for all reported slots, not only the raised ones: a grant may depend on a raise of another server that failed
        // before it could mark it.
        let slots = slots_of(raises.iter().map(|raise| &raise.counter));
        let mark = self.shared.rules.keep(Rule::MarkRaises) && !slots.is_empty();
        let client = &self.shared.client;
        let hear = |presence: &Presence| {
            publish(&self.words, &presence.words);
            self.catalog_version.send_replace(presence.catalog_version);
        };
        let call: Call<Raise, Presence> = |ledger, pass, asks| ledger.heartbeat(pass, asks);
        let shown = client.write_and_tell("heartbeat", under, (&slots, mark), &raises, call, hear);
        let Ok(presence) = shown.await else { return false };
        for (reports, raised) in batch.chunks(PAGE).zip(presence.raised.chunks(PAGE)) {
            reports.iter().zip(raised).for_each(|((guarded, raise), raised)| guarded.learn(raise, raised));
            if batch.len() > PAGE {
                tokio::task::yield_now().await;
            }
        }
        true
    }

    /// Takes in what others opened and reported, for counters that had nothing to report themselves.
    async fn listen(&self, under: &InstanceId) {
        for _ in 0..PAGES_MAX {
            let Ok((moved, more)) = self.shared.client.listen(under).await else { return };
            for moved in &moved {
                let guarded = self.registry().get(&moved.counter).cloned();
                if let Some(guarded) = guarded.filter(|guarded| guarded.hear(under, moved)) {
                    self.shared.latest.moved(&guarded);
                }
            }
            self.shared.client.heard(under, &moved, more);
            if !more {
                return;
            }
        }
    }

    /// Steps over ids given above the next epoch's base. Few counters at a time, since raises and reports must not wait long.
    async fn step_over_given(&self) {
        let mut walk = self.shared.lists.above.walk();
        let Some(page) = self.shared.lists.next(&mut walk, STEPPED_OVER_MAX).await else { return };
        let mut steps = JoinSet::new();
        for guarded in page {
            steps.spawn(async move { guarded.step_over_given().await });
        }
        steps.join_all().await;
    }

    /// Forgets counters without a key that have nothing left to report.
    async fn forget_the_dropped(&self) {
        let (lists, mut walk) = (&self.shared.lists, self.shared.lists.let_go.walk());
        while let Some(page) = lists.next(&mut walk, PAGE).await {
            let mut registry = self.registry();
            for guarded in page {
                let is_it = registry.get(&guarded.counter).is_some_and(|held| Arc::ptr_eq(held, &guarded));
                // One reference of the registry, one of this page.
                if is_it && is_done_with(&guarded, 2) {
                    registry.remove(&guarded.counter);
                }
            }
        }
    }
}

fn publish<T: PartialEq + Clone>(sender: &watch::Sender<T>, value: &T) {
    sender.send_if_modified(|held| {
        let changed = held != value;
        held.clone_from(value);
        changed
    });
}
