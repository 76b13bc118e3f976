//! Heartbeats: one ledger call every two seconds for all grants.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use sequent_core::{
    InstanceId, Rule,
    ledger::{Presence, Raise},
};
use tokio::{sync::watch, task::JoinSet};

use super::{
    AWAY_RETRY, Guard,
    batching::{Report, gather, slots_of},
    is_done_with,
};
use crate::{counter::PAGE, ledger_client::Call};

/// Pages of moved rows that one heartbeat reads: what is left is for the next.
const PAGES_MAX: usize = 8;

/// Counters that are stepped over what was given, in one heartbeat.
const STEPPED_OVER_MAX: usize = 32;

impl Guard {
    /// Answers asks, sends heartbeats and watches, until it is dropped. To be spawned once.
    pub async fn run(self: Arc<Self>) {
        let driver = self.driver.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(driver) = driver else { return };
        let dense = self.dense_driver.lock().unwrap_or_else(PoisonError::into_inner).take();
        let dense = dense.unwrap_or_else(|| Box::pin(std::future::pending()));
        let heartbeat = async {
            loop {
                self.rest().await;
                self.heartbeat(self.shared.config.outage).await;
                self.shared.client.look_at_the_settings().await;
                // Where it can't be done now, whoever asks for a dense number tries again, and so does the next heartbeat.
                drop(self.shared.client.see_to_the_record().await);
                self.shared.client.marks.spread().await;
            }
        };
        tokio::select! {
            // In this order, so that a run can be replayed.
            biased;
            () = driver => {}
            () = dense => {}
            () = heartbeat => {}
            () = self.watch() => {}
        }
    }

    /// Waits for the next heartbeat: soon where the ledger is found to be away meanwhile, since nobody else asks it until one
    /// shows that it is back (a single connection that was closed is no more than that), but no more often than it is
    /// retried.
    async fn rest(&self) {
        let (client, every) = (&self.shared.client, self.shared.config.heartbeat_every);
        let least = AWAY_RETRY.min(every);
        let loss = client.next_loss();
        tokio::pin!(loss);
        // From now on it is heard, and not only while it is waited for.
        loss.as_mut().enable();
        tokio::time::sleep(least).await;
        if client.away_since().is_none() {
            // Either is as good.
            drop(tokio::time::timeout(every.saturating_sub(least), loss).await);
        }
    }

    /// One call for all grants: raises ahead, reports, and what others said meanwhile.
    pub(super) async fn heartbeat(&self, outage: Duration) {
        let under = self.shared.client.instance();
        let (lists, most) = (&self.shared.lists, self.shared.client.batch_max());
        let mut walk = lists.unsaid.walk();
        loop {
            // In trouble nothing may be raised; but who does not call never hears that an operator has named the loss.
            let is_mute = self.trouble().is_some();
            let batch = if is_mute { Vec::new() } else { gather(lists, &mut walk, (outage, most)).await };
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

    async fn report(&self, under: &InstanceId, batch: &[Report]) -> bool {
        let raises: Vec<Raise> = batch.iter().map(|(_, raise)| raise.clone()).collect();
        // Not the raised ones alone: a grant may rest on what another server raised, and died before it could mark it.
        let slots = slots_of(raises.iter().map(|raise| &raise.counter));
        let mark = self.shared.rules.keep(Rule::MarkRaises) && !slots.is_empty();
        let client = &self.shared.client;
        let hear = |presence: &Presence| {
            publish(&self.words, &presence.words);
            publish(&self.catalog_version, &presence.catalog_version);
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

    /// What others opened and reported meanwhile, of counters that had nothing to say themselves.
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

    /// What was given above where the next epoch began, of a few counters at a time: raises and reports must not wait for long.
    async fn step_over_given(&self) {
        let mut walk = self.shared.lists.above.walk();
        let Some(page) = self.shared.lists.next(&mut walk, STEPPED_OVER_MAX).await else { return };
        let mut steps = JoinSet::new();
        for guarded in page {
            steps.spawn(async move { guarded.step_over_given().await });
        }
        steps.join_all().await;
    }

    /// Counters whose key is gone, and which have nothing left to report, are forgotten.
    async fn forget_the_dropped(&self) {
        let (lists, mut walk) = (&self.shared.lists, self.shared.lists.let_go.walk());
        while let Some(page) = lists.next(&mut walk, PAGE).await {
            let mut registry = self.registry();
            for guarded in page {
                let is_it = registry.get(&guarded.counter).is_some_and(|held| Arc::ptr_eq(held, &guarded));
                // Held by the registry, and by this page.
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
