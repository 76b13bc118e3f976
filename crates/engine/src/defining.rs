//! Definitions by whoever has an engine at hand: judged as a file's are, in the ledger at once, in force everywhere within
//! two seconds.

use sequent_core::SequenceName;
use serde::Serialize;

use crate::{Body, Capacity, Engine, OpenError, Placement, config::SequencePart};

/// A definition that is in force now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DefineReport {
    /// The sequence.
    pub sequence: String,
    /// The version in force.
    pub version: u32,
    /// Whether it was in force before.
    pub already: bool,
    /// The content, as the ledger keeps it.
    pub definition: String,
    /// How many numbers a key has, and how many of them may be skipped.
    pub capacity: Capacity,
}

impl Engine {
    /// Defines a sequence. Without a version it gets the next one, unless the one in force says the same.
    ///
    /// # Errors
    ///
    /// `Refused` where it would give numbers or texts of the version in force again, or a lower version is named; what the
    /// ledger says.
    pub async fn define(
        &self,
        name: &SequenceName,
        version: Option<u32>,
        body: Body,
    ) -> Result<DefineReport, OpenError> {
        let inner = &self.0;
        if let Some(trouble) = inner.keeper.trouble() {
            return Err(OpenError::of_source(&trouble.error()));
        }
        if body.placement() == Placement::Dense {
            let may_count = inner.keeper.may_count().await;
            may_count.map_err(|error| OpenError::Refused(error.context().to_owned()))?;
        }
        inner.catalog.bring_pending().await?;
        inner.catalog.follow(None).await.map_err(|error| OpenError::of_source(&error))?;
        let held = inner.catalog.find(name);
        let already = held.as_ref().is_some_and(|held| {
            version.is_none_or(|version| version == held.version)
                && held.known().is_ok_and(|known| known.says_as(&body))
        });
        let in_force = held.map_or(0, |held| held.version);
        let version = match version {
            Some(version) if version < in_force => {
                let text = format!(
                    "sequence {name}: version is {version}: {in_force} is in force, a higher one is needed"
                );
                return Err(OpenError::Refused(text));
            }
            Some(version) => version,
            None if already => in_force,
            None => in_force.saturating_add(1),
        };
        let part = SequencePart { name: name.clone(), version, body };
        inner.catalog.define(&part).await?;
        inner.let_go();
        let definition =
            inner.catalog.find(name).map_or_else(|| part.body.to_text(), |held| held.text().to_owned());
        let capacity = part.body.capacity(inner.desk.layout(), inner.setting.config.at_risk_max);
        Ok(DefineReport { sequence: name.to_string(), version, already, definition, capacity })
    }
}
