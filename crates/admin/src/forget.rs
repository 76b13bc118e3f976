//! `forget`: takes a sequence out of use for good, or tells what that would mean.

use sequent_core::SequenceName;
use sequent_engine::{Engine, EngineError, ForgetReport};
use serde::{Deserialize, Serialize};

/// A sequence to forget, as an operator asks for it.
#[derive(Debug, Clone)]
pub struct ForgetAsk {
    /// The sequence.
    pub name: SequenceName,
    /// The operator has confirmed it. If not, nothing is done.
    pub is_confirmed: bool,
}

/// What is or would be forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// What was done; `None` if it was not confirmed.
    pub done: Option<ForgetReport>,
    /// The sequence.
    pub sequence: String,
    /// The version that was in force.
    pub version: u32,
    /// The definition that was in force.
    pub definition: String,
    /// How many counters are left as they are.
    pub counters: usize,
}

impl ForgetAsk {
    /// Carries it out, if it is confirmed.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::forget`].
    pub async fn run(&self, engine: &Engine) -> Result<Forgotten, EngineError> {
        engine.check_forget(&self.name)?;
        let report = engine.cluster().show(&self.name).await?;
        let done = if self.is_confirmed { Some(engine.forget(&self.name).await?) } else { None };
        let (summary, counters) = (report.summary, report.counters.len() + report.dense.len());
        let (sequence, version) = (summary.sequence, summary.version);
        Ok(Forgotten { done, sequence, version, definition: report.definition, counters })
    }
}
