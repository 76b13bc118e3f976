//! `forget`: takes a definition out of use for good.
//!
//! Its place in the ledger keeps the mark [`FORGOTTEN`], as one version more. So nobody defines the name anew, no first
//! use creates it, and no number or text of it is given twice. Its counters are left as they are.

use sequent_core::{
    SequenceName,
    ledger::{Defined, Definition},
};
use serde::Serialize;

use crate::{
    engine::Engine,
    error::{EngineError, reason::Reason},
    ledger_timeout::{not_found, of_ledger, within},
};

/// The content of a forgotten definition. Releases that do not know it can't read it, and give nothing either.
pub(crate) const FORGOTTEN: &str = r#"{"forgotten":true}"#;

/// The result of forgetting a definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForgetReport {
    /// The sequence.
    pub sequence: String,
    /// The version that marks it as forgotten.
    pub version: u32,
    /// Whether it was forgotten before.
    pub already: bool,
}

impl Engine {
    /// Takes a definition out of use for good: the name is refused from now on, and is never defined again. Every server
    /// follows within two seconds.
    ///
    /// # Errors
    ///
    /// `SEQUENCE_NOT_FOUND` for a name that nobody has defined or used; `DEFINITION_CONFLICT` if another version has just
    /// come, or another sequence draws from its counter; errors of the ledger.
    pub async fn forget(&self, name: &SequenceName) -> Result<ForgetReport, EngineError> {
        let inner = &self.0;
        if let Some(trouble) = inner.guard.trouble() {
            return Err(EngineError::of_source(name, trouble.error()));
        }
        inner.catalog.follow(None).await.map_err(|error| of_ledger(&error))?;
        let held = inner.catalog.find(name).ok_or_else(|| not_found(name))?;
        let report = |version, already| ForgetReport { sequence: name.to_string(), version, already };
        if held.is_forgotten() {
            return Ok(report(held.version, true));
        }
        if let Some(other) = inner.catalog.drawing_from(name) {
            let text = format!("{other} draws from the counter of {name}: forget {other} first");
            return Err(EngineError::new(Reason::DefinitionConflict, text));
        }
        let version = held.version.saturating_add(1);
        let definition = Definition { name: name.clone(), version, body: FORGOTTEN.to_owned() };
        let define = inner.cluster.ledger.define(&definition, Some(held.version));
        let written = within(inner.cluster.limit, "forget a definition", define).await;
        match written.map_err(|error| of_ledger(&error))? {
            Defined::Created | Defined::Same => {}
            Defined::Older { .. } | Defined::Conflict { .. } | Defined::Moved { .. } => {
                let text = format!("another version of {name} has just been defined: nothing was forgotten");
                return Err(EngineError::new(Reason::DefinitionConflict, text));
            }
        }
        inner.catalog.follow(None).await.map_err(|error| of_ledger(&error))?;
        inner.let_go();
        Ok(report(version, false))
    }
}
