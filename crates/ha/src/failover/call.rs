//! One call: whom to ask, whom next, and what to make of what they said.

use std::{
    future::poll_fn,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::Poll,
};

use sequent_core::{BoxFuture, ErrorKind, SlotFailure, SlotIndex, SourceError};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{Failover, Said};
use crate::{SlotState, health::Claim, ring::probe::Probe, roster::Roster};

/// One call under way. Dropped, it leaves its asks to finish by themselves.
pub(super) struct Call<'a, T: 'static, F> {
    failover: &'a Failover,
    ask: F,
    asked: Vec<bool>,
    /// At most one for each member.
    asks: JoinSet<(SlotIndex, Said<T>)>,
    passed: Option<T>,
    failures: Vec<SlotFailure>,
}

impl<T, F> Drop for Call<'_, T, F> {
    fn drop(&mut self) {
        // Cut off, they would say nothing about a member that is to blame.
        self.asks.detach_all();
    }
}

impl<'a, T: Send + 'static, F: Fn(SlotIndex) -> BoxFuture<'static, Said<T>>> Call<'a, T, F> {
    pub(super) fn new(failover: &'a Failover, ask: F) -> Self {
        let asked = vec![false; usize::from(failover.members)];
        Self { failover, ask, asked, asks: JoinSet::new(), passed: None, failures: Vec::new() }
    }

    pub(super) async fn run(mut self) -> Result<T, Vec<SlotFailure>> {
        let slow_after = self.failover.roster.config().slow_after;
        let mut more = self.ask_next();
        loop {
            if self.asks.is_empty() && !self.ask_due() && !self.ask_all() {
                return self.none_answered();
            }
            tokio::select! {
                said = self.asks.join_next() => match said {
                    Some(Ok((member, said))) => if let Some(answer) = self.heard(member, said) { return Ok(answer) },
                    // Its runtime has ended under it: the others may be asked.
                    Some(Err(_)) => {}
                    None => return self.none_answered(),
                },
                // Nobody waits for a member that hangs while another could be asked.
                () = sleep(slow_after), if more => more = self.ask_next(),
            }
        }
    }

    fn heard(&mut self, member: SlotIndex, said: Said<T>) -> Option<T> {
        match said {
            Said::Answer(answer) => {
                self.failover.prefer(member);
                return Some(answer);
            }
            Said::Pass(answer) => self.passed = Some(answer),
            Said::Fault(error) => {
                self.failures.push(SlotFailure::of(member, &error));
            }
        }
        None
    }

    /// Asks the best member not asked yet; whether there was one.
    fn ask_next(&mut self) -> bool {
        let Some((member, probe)) = self.next() else { return false };
        self.begin(member, probe);
        true
    }

    /// The live ones from the current one on; those whose probation it is; those that are out for slowness only.
    fn next(&self) -> Option<(SlotIndex, Option<Probe>)> {
        let roster = &self.failover.roster;
        let snapshot = roster.snapshot();
        let (current, members) = (self.failover.current(), self.failover.members);
        let order = (0..members).map(|offset| (current + offset) % members);
        let fresh = order.filter(|member| !self.is_asked(*member));
        let state = |member: SlotIndex| snapshot.standing(member).state;
        if let Some(member) = fresh.clone().find(|member| state(*member) == SlotState::Live) {
            return Some((member, None));
        }
        let mut probation = fresh.clone().filter(|member| state(*member) == SlotState::Probation);
        let probe = |member| Some((member, Some(Probe::claim(roster, member, Claim::Due)?)));
        let mut slow = fresh.clone().filter(|member| snapshot.standing(*member).answers);
        probation.find_map(probe).or_else(|| slow.next().map(|member| (member, None)))
    }

    /// Asks one whose time has come, whether or not somebody watches.
    fn ask_due(&mut self) -> bool {
        if self.ask_next() {
            return true;
        }
        self.failover.roster.tick();
        self.ask_next()
    }

    /// The last resort, where nobody is left: all that are out, together, every now and then.
    fn ask_all(&mut self) -> bool {
        let out: Vec<SlotIndex> =
            (0..self.failover.members).filter(|member| !self.is_asked(*member)).collect();
        if out.is_empty() || !self.failover.may_try_all() {
            return false;
        }
        for member in out {
            if let Some(probe) = Probe::claim(&self.failover.roster, member, Claim::LastResort) {
                self.begin(member, Some(probe));
            }
        }
        !self.asks.is_empty()
    }

    fn begin(&mut self, member: SlotIndex, probe: Option<Probe>) {
        if let Some(asked) = self.asked.get_mut(usize::from(member)) {
            *asked = true;
        }
        let (roster, work) = (Arc::clone(&self.failover.roster), (self.ask)(member));
        // In a task of its own: a caller that goes away says nothing about a member.
        self.asks.spawn(async move { (member, attempt(&roster, member, probe, work).await) });
    }

    fn is_asked(&self, member: SlotIndex) -> bool {
        self.asked.get(usize::from(member)).copied().unwrap_or(true)
    }

    fn none_answered(mut self) -> Result<T, Vec<SlotFailure>> {
        if let Some(answer) = self.passed.take() {
            return Ok(answer);
        }
        for member in 0..self.failover.members {
            if !self.is_asked(member) {
                self.failures.extend(self.failover.roster.failure(member));
            }
        }
        self.failures.sort_by_key(|failure| failure.slot);
        Err(mem::take(&mut self.failures))
    }
}

/// Runs one ask to its end or its limit, and holds the outcome against the member.
async fn attempt<T>(
    roster: &Roster,
    member: SlotIndex,
    mut probe: Option<Probe>,
    work: BoxFuture<'static, Said<T>>,
) -> Said<T> {
    let (clock, config) = (&roster.env().clock, roster.config());
    let generation = roster.snapshot().standing(member).generation;
    let begun = clock.now();
    let limit = config.attempt_timeout;
    let said = timeout(limit, unharmed(work)).await.unwrap_or_else(|_| {
        let text = format!("no answer within {} ms", limit.as_millis());
        Said::Fault(SourceError::new(ErrorKind::Timeout, text))
    });
    let took = clock.now().saturating_duration_since(begun);
    let outcome = match &said {
        Said::Answer(_) | Said::Pass(_) => Ok(()),
        Said::Fault(error) => Err(error.clone()),
    };
    match &outcome {
        Ok(()) if took > config.slow_after => roster.slow(member, generation, took),
        Ok(()) => {}
        Err(error) => roster.failed(member, generation, error),
    }
    if let Some(probe) = &mut probe {
        probe.settle(&outcome);
    }
    said
}

/// A panic in an ask is its end, and a fault; not the end of whoever waits for it.
async fn unharmed<T>(mut work: BoxFuture<'static, Said<T>>) -> Said<T> {
    poll_fn(|cx| {
        catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))).unwrap_or_else(|_| {
            let text = "the attempt broke off by a panic of its own";
            Poll::Ready(Said::Fault(SourceError::new(ErrorKind::Unavailable, text)))
        })
    })
    .await
}
