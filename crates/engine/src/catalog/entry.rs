//! A definition as this process keeps it: small, since there may be a million.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use sequent_core::{SequenceName, ledger::Definition};

use crate::{Body, EngineError, Reason};

/// A definition, and what this version can make of it.
#[derive(Debug)]
pub(crate) struct Entry {
    name: SequenceName,
    /// From 1.
    pub(crate) version: u32,
    content: Arc<Content>,
}

/// What many definitions have in common.
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

    /// The content, or why it can't be used.
    pub(crate) fn body(&self) -> Result<&Body, EngineError> {
        self.known().map_err(|error| {
            let text = format!("version {} of {} can't be used: {error}", self.version, self.name);
            EngineError::new(Reason::DefinitionConflict, text)
        })
    }

    /// The content, or what is wrong with it.
    pub(crate) fn known(&self) -> Result<&Body, &String> {
        self.content.body.as_ref()
    }

    /// The content as the ledger keeps it.
    pub(crate) fn text(&self) -> &str {
        &self.content.text
    }

    /// The whole as the ledger keeps it.
    pub(crate) fn definition(&self) -> Definition {
        Definition { name: self.name.clone(), version: self.version, body: self.text().to_owned() }
    }

    /// Whether it is this one.
    pub(crate) fn is(&self, definition: &Definition) -> bool {
        self.version == definition.version && self.text() == definition.body && self.name == definition.name
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
    /// A definition that took the place of none.
    pub(crate) fn entry(&self, definition: Definition) -> Entry {
        let Definition { name, version, body: text } = definition;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(content) = known.get(&text) {
            return Entry { name, version, content: Arc::clone(content) };
        }
        let content = Arc::new(Content { body: Body::from_text(&text), text: text.clone() });
        known.insert(text, Arc::clone(&content));
        Entry { name, version, content }
    }

    /// A definition that took the place of another; unusable where it would repeat numbers of that one.
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

    /// Forgets what no definition has any more.
    pub(crate) fn forget_unused(&self) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, content| Arc::strong_count(content) > 1);
    }
}

/// A definition that would repeat numbers of another.
fn barred(entry: Entry, why: String) -> Entry {
    let Entry { name, version, .. } = &entry;
    tracing::error!(%name, version, why, "definition would repeat numbers of one that was in force: out of use");
    let content = Arc::new(Content { text: entry.text().to_owned(), body: Err(why) });
    Entry { content, ..entry }
}
