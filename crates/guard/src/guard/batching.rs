//! Batching of ledger requests: many requests of counters become few calls.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sequent_core::{
    Env, ErrorKind, InstanceId, Merge, Rule, Rules, SlotIndex, SourceError,
    ledger::{Counter, Opened, Opening, Raise, Raised},
};

use super::{Latest, expire::bar_what_is_over};
use crate::{
    GuardConfig,
    counter::{DirtySets, Guarded, Walk},
    ledger_client::LedgerClient,
};

/// Request of a counter to the ledger.
pub(crate) enum Ask {
    /// A new epoch.
    Open(Opening),
    /// A claim, with the announcements that go with it as far as the call has space. Their results are ignored: a slot that is
    /// not announced begins no lower than the key's other slots.
    Claim(Opening, Vec<Opening>),
    /// A higher ceiling, under the ledger's instance of the grant.
    Raise(InstanceId, Raise),
}

/// The ledger's answer.
pub(crate) enum Answered {
    Opened(Opened),
    Raised(Raised),
}

impl Answered {
    pub(crate) fn opened(self) -> Result<Opened, SourceError> {
        match self {
            Self::Opened(opened) => Ok(opened),
            Self::Raised(_) => Err(mixed_up()),
        }
    }

    pub(crate) fn raised(self) -> Result<Raised, SourceError> {
        match self {
            Self::Raised(raised) => Ok(raised),
            Self::Opened(_) => Err(mixed_up()),
        }
    }
}

fn mixed_up() -> SourceError {
    SourceError::new(ErrorKind::Unavailable, "the ledger's answer belongs to another request")
}

/// State shared by all counters.
pub(crate) struct Shared {
    pub(crate) client: Arc<LedgerClient>,
    pub(crate) config: GuardConfig,
    pub(crate) rules: Rules,
    pub(crate) env: Env,
    pub(crate) latest: Arc<Latest>,
    pub(crate) lists: Arc<DirtySets>,
    pub(super) asks: Merge<Ask, Result<Answered, SourceError>>,
    pub(super) closed: AtomicBool,
}

impl Shared {
    /// Whether the guard was closed: no block leaves any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Joins the next ledger call.
    pub(crate) async fn ask(&self, ask: Ask) -> Result<Answered, SourceError> {
        let closed = |error| SourceError::new(ErrorKind::NoWitness, "the guard is closed").because(error);
        self.asks.ask(ask).await.map_err(closed)?
    }
}

pub(super) fn slots_of<'a>(counters: impl Iterator<Item = &'a Counter>) -> BTreeSet<SlotIndex> {
    counters.map(|counter| counter.slot).collect()
}

/// Answers a batch of requests: one call for its openings, one for its raises.
pub(super) async fn answer(
    client: &LedgerClient,
    rules: Rules,
    asks: Vec<Ask>,
) -> Vec<Result<Answered, SourceError>> {
    let mut answers: Vec<Option<Result<Answered, SourceError>>> = asks.iter().map(|_| None).collect();
    let (mut openings, mut raises, mut announcements) = (Vec::new(), Vec::new(), Vec::new());
    for (at, ask) in asks.into_iter().enumerate() {
        match ask {
            Ask::Open(opening) => openings.push((at, opening)),
            Ask::Claim(claim, beside) => {
                openings.push((at, claim));
                announcements.extend(beside);
            }
            Ask::Raise(under, raise) => raises.push((at, under, raise)),
        }
    }
    if !openings.is_empty() {
        let (places, mut openings): (Vec<usize>, Vec<Opening>) = openings.into_iter().unzip();
        let room = client.batch_max().saturating_sub(openings.len());
        openings.extend(announcements.into_iter().take(room));
        let opened = open(client, &openings).await.map(|all| all.into_iter().map(Answered::Opened).collect());
        distribute(&mut answers, &places, opened);
        // R24
        if rules.keep(Rule::OverStaysOver) {
            bar_what_is_over(client, &openings, &places, &mut answers).await;
        }
    }
    let in_force = client.instance();
    raises.retain(|(at, under, _)| {
        // R4
        let current = in_force == *under || !rules.keep(Rule::SameLedger);
        if !current {
            let context = format!("the ledger is no longer {under}, on which the raise depends");
            answers[*at] = Some(Err(SourceError::new(ErrorKind::InstanceChanged, context)));
        }
        current
    });
    if !raises.is_empty() {
        let places: Vec<usize> = raises.iter().map(|(at, ..)| *at).collect();
        let raises: Vec<Raise> = raises.into_iter().map(|(.., raise)| raise).collect();
        let outcome = raise(client, (&in_force, rules), &raises).await;
        distribute(&mut answers, &places, outcome.map(|all| all.into_iter().map(Answered::Raised).collect()));
    }
    answers.into_iter().map(|answer| answer.unwrap_or_else(|| Err(mixed_up()))).collect()
}

fn distribute(
    answers: &mut [Option<Result<Answered, SourceError>>],
    places: &[usize],
    outcome: Result<Vec<Answered>, SourceError>,
) {
    match outcome {
        Ok(all) => places.iter().zip(all).for_each(|(at, answer)| answers[*at] = Some(Ok(answer))),
        Err(error) => places.iter().for_each(|at| answers[*at] = Some(Err(error.clone()))),
    }
}

async fn open(client: &LedgerClient, openings: &[Opening]) -> Result<Vec<Opened>, SourceError> {
    let under = client.instance();
    client.in_reach()?;
    let slots = slots_of(openings.iter().map(|opening| &opening.counter));
    // No id depends on a claim, so it needs no mark.
    let mark = openings.iter().any(|opening| !opening.is_word());
    client.write("open", &under, (&slots, mark), openings, |ledger, pass, asks| ledger.open(pass, asks)).await
}

async fn raise(
    client: &LedgerClient,
    (under, rules): (&InstanceId, Rules),
    raises: &[Raise],
) -> Result<Vec<Raised>, SourceError> {
    client.in_reach()?;
    let slots = slots_of(raises.iter().map(|raise| &raise.counter));
    // R16
    let mark = rules.keep(Rule::MarkRaises);
    client.write("raise", under, (&slots, mark), raises, |ledger, pass, asks| ledger.raise(pass, asks)).await
}

/// A counter, and its report.
pub(super) type Report = (Arc<Guarded>, Raise);

/// The reports of the next counters of a walk, at most `most`. They are in the order that every server uses, so that no two
/// servers deadlock on rows.
pub(super) async fn gather(
    lists: &DirtySets,
    walk: &mut Walk<'_>,
    (outage, most): (Duration, usize),
) -> Vec<Report> {
    let mut reports: Vec<Report> = Vec::new();
    while let Some(room) = most.checked_sub(reports.len()).filter(|room| *room > 0) {
        let Some(page) = lists.next(walk, room).await else { break };
        reports.extend(page.into_iter().filter_map(|guarded| {
            let report = guarded.report(outage)?;
            Some((guarded, report))
        }));
    }
    reports.sort_by(|(_, one), (_, other)| one.counter.cmp(&other.counter));
    reports
}
