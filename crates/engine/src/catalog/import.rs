//! Import of the configuration's definitions into the ledger. All are checked first; if one is refused, none is
//! written.

use std::{borrow::Cow, fmt::Display};

use sequent_core::{
    ErrorKind, FieldFault, Key, SequenceName, SourceError,
    ledger::{Defined, Definition},
};

use super::Catalog;
use crate::{
    config::SequencePart,
    definition::{Body, Placement},
    error::OpenError,
    ledger_timeout::{patiently, within},
    stores,
};

/// How far the number of a new version may be above the version in force. Otherwise one call could use up all numbers,
/// and nobody could define a later version.
const VERSION_AHEAD_MAX: u32 = 1000;

/// Upper limit of repeated checks of a definition because another process replaced the version that it was compared
/// with.
const JUDGED_MAX: u32 = 16;

impl Catalog {
    pub(super) async fn bring_all(&self, parts: &[SequencePart]) -> Result<(), OpenError> {
        let mut refusals: Vec<String> = parts.iter().filter_map(|part| self.refusal(part, parts)).collect();
        if refusals.is_empty() {
            for part in parts {
                refusals.extend(self.refusal_by_ledger(part).await?);
            }
        }
        if refusals.is_empty() {
            for part in parts {
                refusals.extend(self.bring(part, parts).await?);
            }
        }
        if !refusals.is_empty() {
            return Err(OpenError::Refused(refusals.join("\n")));
        }
        if parts.is_empty() {
            return Ok(());
        }
        Ok(self.refresh().await?)
    }

    /// The reason for which each definition would be refused, as far as it is known without reading the ledger.
    pub(crate) fn refusals(&self, parts: &[SequencePart]) -> Vec<Option<String>> {
        parts.iter().map(|part| self.superseded(part).or_else(|| self.refusal(part, parts))).collect()
    }

    /// The refusal of a first version of a name that has a later one, or was forgotten: it would not come into force.
    fn superseded(&self, part: &SequencePart) -> Option<String> {
        let held = self.find(&part.name).filter(|held| held.version > part.version)?;
        let (name, version) = (&part.name, held.version);
        Some(if held.is_forgotten() {
            format!("sequence {name}: {}; name another", held.forgotten())
        } else {
            format!("sequence {name}: version {version} was defined meanwhile: import it again")
        })
    }

    /// Imports each definition by itself, and reads the definitions in force once. Returns the reason for each that is
    /// refused.
    pub(crate) async fn bring_each(
        &self,
        parts: &[SequencePart],
    ) -> Result<Vec<Option<String>>, SourceError> {
        let mut refusals = Vec::with_capacity(parts.len());
        for part in parts {
            refusals.push(self.bring(part, parts).await?);
        }
        self.refresh().await?;
        let of_each = parts.iter().zip(refusals);
        Ok(of_each.map(|(part, refusal)| refusal.or_else(|| self.superseded(part))).collect())
    }

    /// Imports one definition, as a file's are imported.
    pub(crate) async fn define(&self, part: &SequencePart) -> Result<(), OpenError> {
        self.bring_all(std::slice::from_ref(part)).await
    }

    /// A definition for import: with the counter that its template names. If a key hides its numbers, the sequence's name
    /// becomes part of the hiding, unless earlier versions did without.
    fn named<'a>(&self, part: &'a SequencePart) -> Result<Cow<'a, SequencePart>, FieldFault> {
        if part.body.texts().is_none() {
            return Ok(Cow::Borrowed(part));
        }
        let held = self.find(&part.name).or_else(|| self.lost.get(&part.name));
        let held = held.as_ref().and_then(|held| held.known().ok());
        let body = part.body.named(&part.name, held)?;
        Ok(Cow::Owned(SequencePart { body, ..part.clone() }))
    }

    /// The reason for which the ledger's content refuses the definition.
    async fn refusal_by_ledger(&self, part: &SequencePart) -> Result<Option<String>, SourceError> {
        let fault = self.of_ended_periods(part).await?;
        Ok(fault.map(|fault| refused(&part.name, fault)))
    }

    /// Refuses a counter that the definition can't draw from. The sequence that it names is defined already, or with it.
    fn check_counter(&self, part: &SequencePart, others: &[SequencePart]) -> Result<(), FieldFault> {
        let Some(name) = part.body.counter() else { return Ok(()) };
        if self.find(&part.name).is_some_and(|held| part.version <= held.version) {
            return Ok(());
        }
        let held = self.find(name);
        let other = others.iter().find(|other| other.name == *name);
        let other = other.map(|other| self.named(other)).transpose()?;
        // What is defined with it comes into force with it.
        let newer = other.filter(|other| held.as_ref().is_none_or(|held| other.version > held.version));
        let held = held.as_ref().and_then(|held| held.known().ok());
        part.body.check_counter(newer.as_ref().map(|newer| &newer.body).or(held))
    }

    /// Refuses a new version whose numbers the sequences that draw from its counter can't write: two of their texts would be equal.
    fn check_drawers(&self, part: &SequencePart, before: &Body) -> Result<(), String> {
        if part.body.span() == before.span() {
            return Ok(());
        }
        for drawer in self.drawing_from(&part.name) {
            let Ok(body) = drawer.known() else { continue };
            body.check_counter(Some(&part.body)).map_err(|fault| {
                let (other, bound) = (drawer.name(), fault.bound);
                format!("{other} draws from its counter, and would be refused: {bound}")
            })?;
        }
        Ok(())
    }

    /// The reason for which the definition is refused, as far as it is known without reading the ledger. `others` are
    /// defined with it.
    fn refusal(&self, part: &SequencePart, others: &[SequencePart]) -> Option<String> {
        Some(refused(&part.name, self.check(part, others).err()?))
    }

    /// The same, without the name.
    fn check(&self, part: &SequencePart, others: &[SequencePart]) -> Result<(), String> {
        let part = &*self.named(part)?;
        self.check_risk(part)?;
        self.check_counter(part, others)?;
        let (name, version) = (&part.name, part.version);
        let key = part.body.example_key(name).map_err(|error| error.to_string())?;
        if part.body.placement() == Placement::Spread {
            self.counted_here(part, &key)?;
        }
        let held = self.find(name);
        // A ledger that was restored from a copy may hold a version far below one that was in force.
        let known = held.iter().chain(self.lost.get(name).iter()).map(|held| held.version).max().unwrap_or(0);
        let version_max = known.saturating_add(VERSION_AHEAD_MAX);
        if version > version_max {
            return Err(format!(
                "version is {version}: at most {version_max} is allowed, {VERSION_AHEAD_MAX} above the version in force"
            ));
        }
        let Some(held) = held else { return Ok(self.check_first(part)?) };
        if version < held.version {
            return Ok(());
        }
        if version == held.version {
            let says_as = |known: &Body| known.says_as(&part.body) && !self.begins_otherwise(part, known);
            let same = held.known().is_ok_and(says_as) || part.body.to_text() == held.text();
            return if same { Ok(()) } else { Err(conflict(&held.definition(), &part.body.to_text())) };
        }
        if held.is_forgotten() {
            return Err(held.forgotten());
        }
        let before = held.known().map_err(|error| {
            format!(
                "version {} is in force and can't be read, so nobody knows whether version {version} would give its \
                 numbers again: {error}",
                held.version,
            )
        })?;
        // The advice is part of the fault, and given once.
        part.body.follows(before).map_err(|why| {
            format!(
                "version {version} {why} (version {} is in force: found {}, refused {})",
                held.version,
                shown(held.text()),
                shown(&part.body.to_text()),
            )
        })?;
        self.check_drawers(part, before)?;
        self.succeeding(part, &held)?;
        Ok(())
    }

    /// Refuses a new definition of which all servers together could skip too much. A definition in force stays in
    /// force if the number of servers has grown since.
    fn check_risk(&self, part: &SequencePart) -> Result<(), FieldFault> {
        if !self.is_new(part) {
            return Ok(());
        }
        part.body.check_layout(self.context.layout, self.at_risk())
    }

    /// Refuses a key that no store can hold, and numbers that differ from those of an old program whose tables count.
    fn counted_here(&self, part: &SequencePart, key: &Key) -> Result<(), String> {
        let context = &self.context;
        stores::hold(&context.shards, key)?;
        if self.is_new(part) {
            stores::agree_with_old(&context.shards, key, part.body.span(), context.layout)?;
        }
        Ok(())
    }

    /// Whether no such version, or a higher one, was in force.
    fn is_new(&self, part: &SequencePart) -> bool {
        let mut held = self.find(&part.name).into_iter().chain(self.lost.get(&part.name));
        !held.any(|held| part.version <= held.version)
    }

    /// Logs the slots that don't serve a sequence, since their stores can't hold it.
    fn tell_left_out(&self, part: &SequencePart) {
        let (Placement::Spread, Ok(key)) = (part.body.placement(), part.body.example_key(&part.name)) else {
            return;
        };
        let left_out = stores::left_out(&self.context.shards, &key);
        let Some((_, why)) = left_out.first() else { return };
        let slots = left_out.iter().map(|(slot, _)| slot.to_string()).collect::<Vec<_>>().join(", ");
        let name = &part.name;
        tracing::warn!(%name, slots, "these slots don't serve the sequence, and the others do: {why}");
    }

    /// Logs a definition in force that could not be defined today.
    fn tell_risk(&self, part: &SequencePart) {
        if let Err(fault) = part.body.check_layout(self.context.layout, self.at_risk()) {
            let (name, version, bound) = (&part.name, part.version, fault.bound);
            tracing::warn!(%name, version, "a definition stays in force that is refused to a new one: {bound}");
        }
    }

    /// The definition to write. It includes the texts of versions before, and the instant from which it is in effect.
    fn written(&self, part: &SequencePart) -> Result<Definition, FieldFault> {
        let part = &*self.named(part)?;
        Ok(match self.find(&part.name) {
            Some(held) if held.version == part.version => held.definition(),
            Some(held) if held.version < part.version => {
                self.succeeding(part, &held)?.defining(&part.name, part.version)
            }
            _ => part.body.defining(&part.name, part.version),
        })
    }

    /// Imports one definition. It is checked against the version in force, and written only while that is still in
    /// force.
    pub(super) async fn bring(
        &self,
        part: &SequencePart,
        others: &[SequencePart],
    ) -> Result<Option<String>, SourceError> {
        let step = format!("define {}", part.name);
        for _ in 0..JUDGED_MAX {
            if let Some(refusal) = self.refusal(part, others) {
                return Ok(Some(refusal));
            }
            if let Some(refusal) = self.refusal_by_ledger(part).await? {
                return Ok(Some(refusal));
            }
            let judged = self.find(&part.name).map(|held| held.version);
            // Its instant may have become too near meanwhile: the next check reports why.
            let Ok(definition) = self.written(part) else { continue };
            let define =
                || within(self.context.limit, &step, self.context.ledger.define(&definition, judged));
            match patiently(define).await? {
                Defined::Created | Defined::Same => {
                    self.tell_risk(part);
                    self.tell_left_out(part);
                    return Ok(None);
                }
                Defined::Older { held } => {
                    let (name, version, in_force) = (&part.name, part.version, held.version);
                    tracing::warn!(%name, version, in_force, "definition ignored: a higher version is in force");
                    return Ok(None);
                }
                Defined::Conflict { held } => {
                    let same = Body::from_text(&held.body).is_ok_and(|held| held.says_as(&part.body));
                    return Ok((!same).then(|| refused(&part.name, conflict(&held, &definition.body))));
                }
                Defined::Moved { .. } => self.refresh().await?,
            }
        }
        let context = format!("{step}: another version was in force each of {JUDGED_MAX} times");
        Err(SourceError::new(ErrorKind::Contended, context))
    }
}

fn refused(name: &SequenceName, why: impl Display) -> String {
    format!("sequence {name}: {why}")
}

fn conflict(held: &Definition, body: &str) -> String {
    format!(
        "version {} is in the ledger with another content: found {}, expected {}; a changed definition needs a higher \
         version",
        held.version,
        shown(&held.body),
        shown(body),
    )
}

/// A content in a refusal, without the versions before, which may be a hundred times as long.
fn shown(body: &str) -> String {
    Body::unproven(body).map_or_else(|_| body.to_owned(), |body| body.alone().to_text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_shows_what_is_in_force_and_not_its_past() {
        let body = |before: &str| {
            let texts = format!(r#"{{"template":"B@{{seq,w=5}}","zone":"UTC"{before}}}"#);
            format!(r#"{{"placement":"spread","start":1,"step":1,"fits":"js","texts":{texts}}}"#)
        };
        let past = body(r#","before":[{"version":1,"texts":{"template":"A@{seq}","zone":"UTC"}}]"#);
        assert_eq!(shown(&past), shown(&body("")), "{past}");
        assert!(!shown(&past).contains("before"), "{past}");
        assert_eq!(shown("no content"), "no content");
    }
}
