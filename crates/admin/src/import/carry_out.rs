//! An import done: the counters of new sequences, then their definitions, then advances. A repeated import, or one begun again
//! after a kill, ends the same.

use sequent_core::SequenceName;
use sequent_engine::{Body, Engine, EngineError, OpenError, Reason};
use tokio::task::JoinSet;

use super::{
    Action, ImportReport,
    plan::{ImportPlan, Planned, firsts, request},
};
use crate::advance;

/// How many counters move forward at once. Their calls of the ledger are merged.
const AT_ONCE_MAX: usize = 16;

/// Carries out a plan. What is refused meanwhile is refused in the report.
///
/// # Errors
///
/// Errors of the ledger. What was done before stays, and the same import goes on from there.
pub async fn carry_out(engine: &Engine, plan: ImportPlan) -> Result<ImportReport, OpenError> {
    let mut planned = plan.planned;
    // Once a sequence is defined, anybody may take from it, also if this process is killed then.
    raise_each(engine, &mut planned, Action::Define).await?;
    let refusals = engine.define_each(&firsts(&planned)).await?;
    let defined = planned.iter_mut().filter(|planned| planned.body.is_some());
    for (planned, refusal) in defined.zip(refusals) {
        if let Some(why) = refusal {
            planned.refuse(why);
        }
    }
    raise_each(engine, &mut planned, Action::Advance).await?;
    Ok(ImportReport { is_done: true, counters: planned.into_iter().map(|planned| planned.shown).collect() })
}

/// A counter that goes forward: of a sequence that is there, or of a new one that can't begin at another number than its first:
/// in a period, or with encoded numbers.
#[derive(Clone)]
struct Raise {
    at: usize,
    name: SequenceName,
    period: Option<String>,
    /// The definition of a new sequence.
    new: Option<Body>,
    to: u64,
}

impl Raise {
    fn of((at, planned): (usize, &Planned)) -> Option<Self> {
        let Planned { shown, name, body, .. } = planned;
        let is_meant = shown.action == Action::Advance || shown.period.is_some() || shown.numbering.is_some();
        let to = shown.to.filter(|to| is_meant && *to > 0)?;
        Some(Self { at, name: name.clone()?, period: shown.period.clone(), new: body.clone(), to })
    }

    async fn done(self, engine: Engine) -> (usize, Result<(), EngineError>) {
        (self.at, self.raised(&engine).await)
    }

    async fn raised(&self, engine: &Engine) -> Result<(), EngineError> {
        let Self { name, period, .. } = self;
        let counted = match &self.new {
            Some(body) => (Engine::key_of_new(name, body, period.as_deref())?, body.clone()),
            None => engine.key_of(&request(engine, name, period.as_deref()).await?).await?,
        };
        advance::raise(engine, name, counted, self.to).await
    }
}

/// Moves the counters of these actions forward, some at once. A counter with a fault of its own is refused, and the others go on.
async fn raise_each(engine: &Engine, planned: &mut [Planned], action: Action) -> Result<(), OpenError> {
    let of_action = planned.iter().enumerate().filter(|(_, planned)| planned.shown.action == action);
    let raises: Vec<Raise> = of_action.filter_map(Raise::of).collect();
    for some in raises.chunks(AT_ONCE_MAX) {
        let works = some.iter().map(|raise| raise.clone().done(engine.clone()));
        for (at, raised) in works.collect::<JoinSet<_>>().join_all().await {
            match raised.map_err(|error| (is_of_one(&error), error)) {
                Ok(()) => {}
                Err((true, error)) => planned[at].refuse(error.to_string()),
                Err((false, error)) => return Err(of_all(&error)),
            }
        }
    }
    if raises.is_empty() {
        return Ok(());
    }
    engine.follow_advanced().await.map_err(|error| of_all(&error))
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
