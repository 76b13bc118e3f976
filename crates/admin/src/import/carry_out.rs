//! An import done: the counters of new sequences, then their definitions, then advances. A repeated import, or one begun again
//! after a kill, ends the same.

use std::time::Duration;

use sequent_engine::{Engine, EngineError, OpenError, Reason};
use tokio::task::JoinSet;

use super::{
    Action, ImportReport,
    plan::{ImportPlan, Planned, firsts, refuse_each, request},
};
use crate::advance::{self, Raise};

/// How many counters move forward at once. Their calls of the ledger are merged or wait for each other, and each must be answered
/// within its attempt.
const AT_ONCE_MAX: usize = 32;

/// How often a step is tried while the ledger is away, and the pause between two tries: half a minute, in which a ledger on a
/// cluster has failed over.
const OUTAGE_TRIES: u32 = 60;
const OUTAGE_PAUSE: Duration = Duration::from_millis(500);

/// Carries out a plan. What is refused meanwhile is refused in the report.
///
/// # Errors
///
/// Errors of the ledger, if it is away for longer than half a minute. What was done before stays, and the same import goes on
/// from there.
pub async fn carry_out(engine: &Engine, plan: ImportPlan) -> Result<ImportReport, OpenError> {
    let mut planned = plan.planned;
    // Once a sequence is defined, anybody may take from it, also if this process is killed then.
    raise_each(engine, &mut planned, Action::Define).await?;
    let firsts = firsts(&planned);
    let refusals = in_spite_of_outages(async || engine.define_each(&firsts).await).await?;
    refuse_each(&mut planned, refusals);
    raise_each(engine, &mut planned, Action::Advance).await?;
    Ok(ImportReport { is_done: true, counters: planned.into_iter().map(|planned| planned.shown).collect() })
}

/// The counter that goes forward: of a sequence that is there, or of a new one that can't begin at another number than its first:
/// in a period, or with encoded numbers.
async fn raise_of(engine: &Engine, planned: &Planned) -> Result<Option<Raise>, EngineError> {
    let Planned { shown, name, body, .. } = planned;
    let is_meant = shown.action == Action::Advance || shown.period.is_some() || shown.numbering.is_some();
    let to = shown.to.filter(|to| is_meant && *to > 0);
    let Some((name, to)) = name.clone().zip(to) else { return Ok(None) };
    let period = shown.period.as_deref();
    let (key, body) = match body {
        Some(body) => (Engine::key_of_new(&name, body, period)?, body.clone()),
        None => engine.key_of(&request(engine, &name, period).await?).await?,
    };
    Ok(Some(Raise { name, key, body, to }))
}

/// Moves the counters of these actions forward, some at once. A counter with a fault of its own is refused, and the others go on.
async fn raise_each(engine: &Engine, planned: &mut [Planned], action: Action) -> Result<(), OpenError> {
    let mut of_action: Vec<&mut Planned> =
        planned.iter_mut().filter(|planned| planned.shown.action == action).collect();
    if of_action.is_empty() {
        return Ok(());
    }
    for some in of_action.chunks_mut(AT_ONCE_MAX) {
        in_spite_of_outages(async || raise_some(engine, &mut *some).await).await?;
    }
    in_spite_of_outages(async || engine.follow_advanced().await.map_err(|error| of_all(&error))).await
}

/// Repeats a step while the ledger is away. Each step may be done twice.
async fn in_spite_of_outages<T>(mut step: impl AsyncFnMut() -> Result<T, OpenError>) -> Result<T, OpenError> {
    for _ in 1..OUTAGE_TRIES {
        match step().await {
            Err(OpenError::Unavailable(_)) => tokio::time::sleep(OUTAGE_PAUSE).await,
            outcome => return outcome,
        }
    }
    step().await
}

async fn raise_some(engine: &Engine, some: &mut [&mut Planned]) -> Result<(), OpenError> {
    let mut raises = Vec::with_capacity(some.len());
    let refused = |planned: &Planned| planned.shown.action == Action::Refused;
    for (at, planned) in some.iter_mut().enumerate().filter(|(_, planned)| !refused(planned)) {
        let raise = raise_of(engine, planned).await;
        if let Some(raise) = or_refused(planned, raise)?.flatten() {
            raises.push((at, raise));
        }
    }
    let all: Vec<Raise> = raises.iter().map(|(_, raise)| raise.clone()).collect();
    advance::announce(engine, &all).await.map_err(|error| of_all(&error))?;
    let works = raises.into_iter().map(|(at, raise)| {
        let engine = engine.clone();
        async move { (at, raise.run(&engine).await.map(|()| (raise.key, raise.to))) }
    });
    let mut recorded = Vec::with_capacity(all.len());
    for (at, done) in works.collect::<JoinSet<_>>().join_all().await {
        recorded.extend(or_refused(some[at], done)?);
    }
    engine.record_advanced(&recorded).await.map_err(|error| of_all(&error))
}

/// What was done. A counter with a fault of its own is refused; other faults end the import.
fn or_refused<T>(planned: &mut Planned, done: Result<T, EngineError>) -> Result<Option<T>, OpenError> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) if is_of_one(&error) => {
            planned.refuse(error.to_string());
            Ok(None)
        }
        Err(error) => Err(of_all(&error)),
    }
}

/// Whether a fault is of one counter alone.
pub(super) fn is_of_one(error: &EngineError) -> bool {
    !matches!(
        error.reason(),
        Reason::LedgerUnavailable | Reason::RecoveryRequired | Reason::ClusterBehind | Reason::Draining
    )
}

fn of_all(error: &EngineError) -> OpenError {
    match error.reason() {
        Reason::RecoveryRequired | Reason::ClusterBehind => OpenError::Recovery(error.to_string()),
        _ => OpenError::Unavailable(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_outage_of_the_ledger_is_waited_for_and_nothing_else_is() {
        let away = || OpenError::Unavailable("the ledger is away".to_owned());
        let run = async |fail: &dyn Fn(u32) -> Option<OpenError>| {
            let mut tries = 0;
            let outcome = in_spite_of_outages(async || {
                tries += 1;
                fail(tries).map_or(Ok(tries), Err)
            })
            .await;
            (outcome, tries)
        };
        let (outcome, tries) = run(&|tries| (tries < 3).then(away)).await;
        assert!(matches!((outcome, tries), (Ok(3), 3)));
        let (outcome, tries) = run(&|_| Some(away())).await;
        assert!(matches!(outcome, Err(OpenError::Unavailable(_))) && tries == OUTAGE_TRIES);
        let (outcome, tries) = run(&|_| Some(OpenError::Recovery("behind".to_owned()))).await;
        assert!(matches!(outcome, Err(OpenError::Recovery(_))) && tries == 1);
    }
}
