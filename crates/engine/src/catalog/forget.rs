//! `forget`: takes a definition out of use for good.
//!
//! Its place in the ledger keeps the mark [`FORGOTTEN`], as one version more. So nobody defines the name anew, no first
//! use creates it, and no number or text of it is given twice. Its counters are left as they are.

use sequent_core::{
    SequenceName,
    ledger::{Defined, Definition},
};
use serde::{Deserialize, Serialize};

use crate::{
    engine::Engine,
    error::{EngineError, reason::Reason},
    ledger_timeout::not_found,
    status::key_display::shown,
};

/// The content of a forgotten definition. Releases that do not know it can't read it, and give nothing either.
pub(crate) const FORGOTTEN: &str = r#"{"forgotten":true}"#;

/// The result of forgetting a definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetReport {
    /// The sequence.
    pub sequence: String,
    /// The version that marks it as forgotten.
    pub version: u32,
    /// Whether it was forgotten before.
    pub already: bool,
}

impl Engine {
    /// Checks that a sequence may be forgotten. What other servers use is not known here.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` if the configuration names the sequence, or if this engine has one of its keys in use.
    pub fn check_forget(&self, name: &SequenceName) -> Result<(), EngineError> {
        let inner = &self.0;
        if inner.catalog.is_configured(name) {
            let bound =
                "a sequence that the configuration does not name is expected: take it out there first";
            return Err(EngineError::invalid("name", name, bound));
        }
        match self.key_in_use(name) {
            None => Ok(()),
            Some(key) => {
                let bound = format!(
                    "a sequence that nobody uses is expected, and this server has {key} in use; it lets go of a key ten \
                     minutes after the last request"
                );
                Err(EngineError::invalid("name", name, bound))
            }
        }
    }

    /// A key of a sequence that this engine has in use, as it is shown.
    pub fn key_in_use(&self, name: &SequenceName) -> Option<String> {
        let inner = &self.0;
        let spread =
            inner.keys.some(1, |key, _| key.sequence() == name.as_str()).into_iter().map(|(key, _)| key);
        let dense = inner.dense.in_use(inner.env.clock.now()).into_iter().map(|(key, _)| key);
        spread.chain(dense).find(|key| key.sequence() == name.as_str()).map(|key| shown(&key))
    }

    /// Takes a definition out of use for good: the name is refused from now on, and is never defined again. Every server
    /// follows within two seconds.
    ///
    /// # Errors
    ///
    /// Those of [`check_forget`](Self::check_forget); `SEQUENCE_NOT_FOUND` for a name that nobody has defined or used;
    /// `DEFINITION_CONFLICT` if another version has just come, or another sequence draws from its counter; errors of the
    /// ledger.
    pub async fn forget(&self, name: &SequenceName) -> Result<ForgetReport, EngineError> {
        self.check_forget(name)?;
        let inner = &self.0;
        inner.guard.trusted().map_err(|error| EngineError::of_source(name, error))?;
        inner.catalog.follow(None).await?;
        let held = inner.catalog.find(name).ok_or_else(|| not_found(name))?;
        let report = |version, already| ForgetReport { sequence: name.to_string(), version, already };
        if held.is_forgotten() {
            return Ok(report(held.version, true));
        }
        if let Some(other) = inner.catalog.drawing_from(name).first() {
            let other = other.name();
            let text = format!("{other} draws from the counter of {name}: forget {other} first");
            return Err(EngineError::new(Reason::DefinitionConflict, text));
        }
        let version = held.version.saturating_add(1);
        let definition = Definition { name: name.clone(), version, body: FORGOTTEN.to_owned() };
        let define = inner.cluster.ledger.define(&definition, Some(held.version));
        match inner.cluster.within("forget a definition", define).await? {
            Defined::Created | Defined::Same => {}
            Defined::Older { .. } | Defined::Conflict { .. } | Defined::Moved { .. } => {
                let text = format!("another version of {name} has just been defined: nothing was forgotten");
                return Err(EngineError::new(Reason::DefinitionConflict, text));
            }
        }
        inner.catalog.follow(None).await?;
        inner.let_go();
        Ok(report(version, false))
    }
}
