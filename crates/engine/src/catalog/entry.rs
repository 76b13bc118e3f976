//! A definition as this process keeps it: small, since there may be a million.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use sequent_core::{SequenceName, ledger::Definition, sync};
use sequent_format::Timestamp;

use crate::{
    catalog::forget::FORGOTTEN,
    definition::Body,
    error::{EngineError, reason::Reason},
};

/// A definition, and its parsed content.
#[derive(Debug)]
pub(crate) struct Entry {
    name: SequenceName,
    /// The version, from 1.
    pub(crate) version: u32,
    /// Whether it is one of several versions, each in effect for a time.
    staged: bool,
    content: Arc<Content>,
    /// The version in effect before it.
    earlier: Option<Arc<Entry>>,
}

/// The part that many definitions share.
#[derive(Debug)]
struct Content {
    text: String,
    body: Result<Body, String>,
}

impl Entry {
    /// The sequence.
    pub(crate) fn name(&self) -> &SequenceName {
        &self.name
    }

    /// The content, or the error for a caller.
    pub(crate) fn body(&self) -> Result<&Body, EngineError> {
        if self.is_forgotten() {
            return Err(EngineError::new(Reason::SequenceNotFound, self.forgotten()));
        }
        self.known().map_err(|error| {
            let text = format!("version {} of {} can't be used: {error}", self.version, self.name);
            EngineError::new(Reason::DefinitionConflict, text)
        })
    }

    /// Whether it was taken out of use for good.
    pub(crate) fn is_forgotten(&self) -> bool {
        self.text() == FORGOTTEN
    }

    /// What is said of a forgotten definition.
    pub(crate) fn forgotten(&self) -> String {
        format!("{} was forgotten: its name is not used again, since its numbers would be, too", self.name)
    }

    /// The content, or the fault.
    pub(crate) fn known(&self) -> Result<&Body, &String> {
        self.content.body.as_ref()
    }

    /// The content as the ledger keeps it.
    pub(crate) fn text(&self) -> &str {
        &self.content.text
    }

    /// The whole definition as the ledger keeps it.
    pub(crate) fn definition(&self) -> Definition {
        Definition { name: self.name.clone(), version: self.version, body: self.text().to_owned() }
    }

    /// Whether it equals a definition of the ledger.
    pub(crate) fn is(&self, definition: &Definition) -> bool {
        self.version == definition.version && self.text() == definition.body && self.name == definition.name
    }

    /// Whether it is one of several versions, each in effect for a time. The version of a number then depends on the
    /// instant.
    pub(crate) fn is_staged(&self) -> bool {
        self.staged
    }

    /// This version, and those in effect before it, the latest first. Each has the instant from which it is in effect;
    /// the oldest has none.
    pub(crate) fn stages(self: &Arc<Self>) -> impl Iterator<Item = (Arc<Self>, Option<Timestamp>)> {
        let next = |entry: &Arc<Self>| entry.earlier.as_ref().map(Arc::clone);
        std::iter::successors(Some(Arc::clone(self)), next).map(|entry| {
            let begins = entry.earlier.as_ref().and_then(|_| entry.known().ok()?.begins());
            (entry, begins)
        })
    }

    /// The version in effect at an instant.
    pub(crate) fn in_effect(self: &Arc<Self>, at: Timestamp) -> Arc<Self> {
        let begun = |begins: Option<Timestamp>| begins.is_none_or(|begins| begins <= at);
        let found = self.stages().find(|(_, begins)| begun(*begins));
        found.map_or_else(|| Arc::clone(self), |(entry, _)| entry)
    }

    /// Whether `version` is one of this definition's versions, and may be used as such.
    pub(crate) fn has(self: &Arc<Self>, version: &Self) -> bool {
        self.stages().any(|(entry, _)| entry.same(version) && entry.staged == version.staged)
    }

    /// Whether both are the same version with the same content.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.version == other.version && self.text() == other.text()
    }
}

/// Contents by their text, each kept once.
#[derive(Debug, Default)]
pub(crate) struct Contents(Mutex<HashMap<String, Arc<Content>>>);

impl Contents {
    /// A definition that replaces none.
    pub(crate) fn entry(&self, definition: Definition) -> Entry {
        let Definition { name, version, body: text } = definition;
        let content = self.content(text, Body::from_text);
        let mut earlier: Option<Arc<Entry>> = None;
        for (version, body) in content.body.as_ref().ok().into_iter().flat_map(Body::earlier) {
            let content = self.content(body.to_text(), |_| Ok(body.clone()));
            let name = name.clone();
            earlier = Some(Arc::new(Entry { name, version, staged: true, content, earlier }));
        }
        Entry { name, version, staged: earlier.is_some(), content, earlier }
    }

    fn content(&self, text: String, read: impl FnOnce(&str) -> Result<Body, String>) -> Arc<Content> {
        let mut known = sync::lock(&self.0);
        if let Some(content) = known.get(&text) {
            return Arc::clone(content);
        }
        let content = Arc::new(Content { body: read(&text), text: text.clone() });
        known.insert(text, Arc::clone(&content));
        content
    }

    /// A definition that replaces another; unusable if it would repeat numbers of that one.
    pub(crate) fn following(&self, before: &Entry, definition: Definition) -> Entry {
        let entry = self.entry(definition);
        let (Ok(body), Ok(held)) = (entry.known(), before.known()) else { return entry };
        match body.follows(held) {
            Ok(()) => entry,
            Err(why) => barred(entry, format!("it {why}")),
        }
    }

    /// A definition in the place of one that the ledger has lost, and that it can't follow: unusable here.
    pub(crate) fn usurping(&self, lost: &Entry, definition: Definition) -> Entry {
        let (version, text) = (lost.version, lost.text());
        let why = format!("the ledger had lost version {version} of it, which was another: {text}");
        barred(self.entry(definition), why)
    }

    /// Drops contents without a definition.
    pub(crate) fn forget_unused(&self) {
        let mut known = sync::lock(&self.0);
        known.retain(|_, content| Arc::strong_count(content) > 1);
    }
}

/// A definition that would repeat numbers of another.
fn barred(entry: Entry, why: String) -> Entry {
    let Entry { name, version, .. } = &entry;
    tracing::error!(%name, version, why, "definition would repeat numbers of one that was in force: out of use");
    let content = Arc::new(Content { text: entry.text().to_owned(), body: Err(why) });
    Entry { content, staged: false, earlier: None, ..entry }
}
