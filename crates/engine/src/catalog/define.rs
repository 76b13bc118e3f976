//! `define`: a definition from a caller. It is checked as those of the configuration are, written to the ledger at
//! once, and used by every server within two seconds.

use std::sync::Arc;

use sequent_core::SequenceName;
use sequent_format::Timestamp;
use serde::Serialize;

use crate::{
    catalog::Entry,
    config::SequencePart,
    definition::{Body, EFFECTIVE_AHEAD_MIN, Effective, Placement, capacity::Capacity},
    engine::Engine,
    error::OpenError,
};

/// A definition that is in force, or will be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DefineReport {
    /// The sequence.
    pub sequence: String,
    /// The version.
    pub version: u32,
    /// Whether the definition existed before.
    pub already: bool,
    /// When it takes effect, RFC 3339; absent if it is in effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective: Option<String>,
    /// The content, as the ledger keeps it.
    pub definition: String,
    /// How many numbers a key has, and how many of them may be skipped.
    pub capacity: Capacity,
    /// Warnings about allowed settings.
    pub warnings: Vec<String>,
}

impl Engine {
    /// Defines a sequence. Without a version it gets the next one, unless the version in force has the same content.
    ///
    /// # Errors
    ///
    /// `Refused` if it would repeat numbers or texts of the version in force; errors of the ledger. A lower version is
    /// ignored, as a file's is: the response has the version in force.
    pub async fn define(
        &self,
        name: &SequenceName,
        version: Option<u32>,
        body: Body,
    ) -> Result<DefineReport, OpenError> {
        self.define_from(name, (version, None), body).await
    }

    /// The reason for which each of these first versions would be refused, without defining any.
    pub fn refusals(&self, firsts: &[SequencePart]) -> Vec<Option<String>> {
        self.0.catalog.refusals(firsts)
    }

    /// Defines the first version of many sequences, each by itself: a sequence that is refused does not keep others back.
    /// Returns the reason for each that is refused. The same once more changes nothing.
    ///
    /// # Errors
    ///
    /// Errors of the ledger. Those that were defined before stay.
    pub async fn define_each(&self, firsts: &[SequencePart]) -> Result<Vec<Option<String>>, OpenError> {
        let inner = &self.0;
        let is_dense = |first: &SequencePart| first.body.placement() == Placement::Dense;
        self.may_define(firsts.iter().any(is_dense)).await?;
        let refused = inner.catalog.bring_each(firsts).await;
        inner.let_go();
        Ok(refused?)
    }

    /// The same, in effect from an instant that the caller names. `None` means now, unless the caller names the
    /// version and it waits already. A content that is in effect already changes nothing: versions that wait after it
    /// still wait.
    ///
    /// # Errors
    ///
    /// Also `Refused` for an instant that is too near ([`EFFECTIVE_AHEAD_MIN`]), or at which no version can begin.
    pub async fn define_from(
        &self,
        name: &SequenceName,
        (version, effective): (Option<u32>, Option<Effective>),
        body: Body,
    ) -> Result<DefineReport, OpenError> {
        let inner = &self.0;
        self.may_define(body.placement() == Placement::Dense).await?;
        let held = inner.catalog.find(name);
        let unchanged = held.as_ref().and_then(|held| match version {
            Some(version) => self.ignored(held, version),
            None if effective.is_none() => self.in_effect_already(held, &body),
            None => None,
        });
        if let Some(report) = unchanged {
            return Ok(report);
        }
        let already = held.as_ref().is_some_and(|held| {
            version.is_none_or(|version| version == held.version)
                && held.known().is_ok_and(|known| known.says_as(&body))
        });
        let waits =
            |held: &Arc<Entry>| held.known().ok()?.begins().filter(|begins| *begins > inner.catalog.now());
        let waiting = held.as_ref().and_then(waits);
        if let Some(Effective::At(instant)) = effective
            && !(already && waiting.is_none_or(|begins| begins == instant))
        {
            check_instant(name, instant, (inner.catalog.now(), waiting.filter(|_| already)))?;
        }
        // A waiting version is to take effect sooner: this needs another version with the same content.
        let already = already
            && match (effective, waiting) {
                (Some(Effective::Now), Some(_)) => false,
                (None, Some(_)) => version.is_some(),
                (Some(Effective::At(instant)), Some(begins)) => instant == begins,
                _ => true,
            };
        let mut warnings = body.warnings(held.as_ref().and_then(|held| held.known().ok()));
        if already && let Err(fault) = body.check_layout(inner.cluster.layout(), inner.catalog.at_risk()) {
            warnings.push(format!("it stays in force, though today {}", fault.bound));
        }
        let in_force = held.map_or(0, |held| held.version);
        let version = match version {
            Some(version) => version,
            None if already => in_force,
            None => in_force.saturating_add(1),
        };
        let part = SequencePart { name: name.clone(), version, body, effective };
        inner.catalog.define(&part).await?;
        inner.let_go();
        let held = inner.catalog.find(name);
        let definition = held.as_ref().map_or_else(|| part.body.to_text(), |held| held.text().to_owned());
        let effective = held.as_ref().and_then(waits).map(|begins| part.body.shown(begins));
        let capacity = self.capacity(&part.body);
        Ok(DefineReport {
            sequence: name.to_string(),
            version,
            already,
            effective,
            definition,
            capacity,
            warnings,
        })
    }
}

impl Engine {
    /// Checks that the ledger accepts definitions, dense ones among them or not, and reads the definitions that it has.
    async fn may_define(&self, some_dense: bool) -> Result<(), OpenError> {
        let inner = &self.0;
        inner.guard.trusted()?;
        if some_dense {
            let may_count = inner.guard.may_count().await;
            may_count.map_err(|error| OpenError::Refused(error.context().to_owned()))?;
        }
        inner.catalog.bring_pending().await?;
        Ok(inner.catalog.follow(None).await?)
    }

    /// The response for a content that is in effect while another version waits. Defining it again does not cancel the
    /// waiting version.
    fn in_effect_already(&self, held: &Arc<Entry>, body: &Body) -> Option<DefineReport> {
        let now = self.0.catalog.now();
        let running = held.in_effect(now);
        let says = running.known().is_ok_and(|known| known.says_as(body));
        if running.version == held.version || !says {
            return None;
        }
        let waiting = held.stages().filter_map(|(entry, begins)| Some((entry.version, begins?)));
        let (version, begins) = waiting.filter(|(_, begins)| *begins > now).last()?;
        let waits = format!(
            "version {version} waits, and takes its place from {} on: `--effective now` (effective = \"now\") calls that off",
            body.shown(begins)
        );
        Some(self.unchanged(&running, None, waits))
    }

    /// The response for a version below the one in force: a rollback of a file does not change texts.
    fn ignored(&self, held: &Arc<Entry>, version: u32) -> Option<DefineReport> {
        if version >= held.version {
            return None;
        }
        let (name, in_force) = (held.name(), held.version);
        tracing::warn!(%name, version, in_force, "definition ignored: a higher version is in force");
        let told = format!(
            "version {version} is ignored: version {in_force} is there, and a higher one than that is needed to change it"
        );
        let begins = held.known().ok().and_then(Body::begins).filter(|begins| *begins > self.0.catalog.now());
        let effective = begins.and_then(|begins| Some(held.known().ok()?.shown(begins)));
        Some(self.unchanged(held, effective, told))
    }

    /// The response for a definition that changes nothing.
    fn unchanged(&self, entry: &Entry, effective: Option<String>, told: String) -> DefineReport {
        let body = entry.known().cloned().unwrap_or_default();
        DefineReport {
            sequence: entry.name().to_string(),
            version: entry.version,
            already: true,
            effective,
            definition: entry.text().to_owned(),
            capacity: self.capacity(&body),
            warnings: body.warnings(Some(&body)).into_iter().chain([told]).collect(),
        }
    }
}

/// Refuses an instant that is too near for every server to learn of it. Also refuses an instant later than the one for
/// which the same content waits.
fn check_instant(
    name: &SequenceName,
    instant: Timestamp,
    (now, waiting): (Timestamp, Option<Timestamp>),
) -> Result<(), OpenError> {
    let ahead_s = EFFECTIVE_AHEAD_MIN.as_secs();
    let earliest = now.checked_add(EFFECTIVE_AHEAD_MIN).unwrap_or(now);
    let bound = match waiting {
        _ if instant < earliest => {
            format!("an instant at least {ahead_s} s from now is expected, {earliest} or later, or now")
        }
        Some(begins) if begins < instant => {
            format!("at most {begins} is allowed: a version with this content takes effect then")
        }
        _ => return Ok(()),
    };
    Err(OpenError::Refused(format!("sequence {name}: effective is {instant}: {bound}")))
}
