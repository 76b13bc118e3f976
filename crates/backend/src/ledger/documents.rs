//! Documents: the ledger's cold records as JSON, each under a name, readable for operators.
//!
//! | name | record |
//! |---|---|
//! | `layout` | the page of the layout |
//! | `definition/NAME` | the definition in force of a sequence |
//! | `note/SUBJECT` | a note |
//! | `store/SLOT` | a store's instance on record |
//! | `command/SLOT` | an operator's command |
//!
//! Slots are zero-padded, so that names sort in numerical order.

use std::error::Error;

use sequent_core::{
    InstanceId, Layout, SlotIndex, SourceError,
    ledger::{Definition, LayoutPage, NoteSubject, ResizeStep, SlotCommand, SlotVerb},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Changes, Records, Selection};
use crate::net::refused;

/// The name of the layout's document.
pub(crate) const LAYOUT: &str = "layout";

/// The folder of the definitions.
pub(crate) const DEFINITIONS: &str = "definition/";
const NOTES: &str = "note/";
const STORES: &str = "store/";
const COMMANDS: &str = "command/";

impl Selection<'_> {
    /// The documents that are read one by one, beside the layout's.
    pub(crate) fn documents(&self) -> Vec<String> {
        let definition = self.definition.map(|name| format!("{DEFINITIONS}{}", name.as_str()));
        self.notes.iter().map(note_name).chain(definition).collect()
    }

    /// The folders whose documents are all read.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &'static str> {
        let folders = [
            (self.all_definitions, DEFINITIONS),
            (self.all_notes, NOTES),
            (self.stores, STORES),
            (self.commands, COMMANDS),
        ];
        folders.into_iter().filter(|(is_read, _)| *is_read).map(|(_, folder)| folder)
    }
}

impl Records {
    /// Takes over a document that was read. Documents of a folder arrive in the order of their names.
    pub(crate) fn take_document(&mut self, name: &str, body: &[u8]) -> Result<(), SourceError> {
        let (folder, of) = name.split_at(name.find('/').map_or(name.len(), |at| at + 1));
        match folder {
            LAYOUT => self.layout = Some(parsed::<LayoutDocument>(name, body)?.page(name)?),
            DEFINITIONS => self.definitions.push(parsed::<DefinitionDocument>(name, body)?.named(of)?),
            NOTES => {
                self.notes.insert(NoteSubject::from_stored(of), parsed(name, body)?);
            }
            STORES => {
                self.stores.push((slot(name, of)?, InstanceId::new(parsed::<String>(name, body)?)));
            }
            COMMANDS => {
                self.commands.push(parsed::<CommandDocument>(name, body)?.command(name, slot(name, of)?)?);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Changes {
    /// The documents to write, each with its name.
    pub(crate) fn written_documents(&self) -> Vec<(String, String)> {
        let mut written: Vec<_> =
            self.notes.iter().map(|(about, to)| (note_name(about), to.to_string())).collect();
        if let Some((slot, store)) = &self.store {
            written.push((format!("{STORES}{slot:05}"), body(&store.as_str())));
        }
        if let Some(Definition { name, version, body: text }) = &self.definition {
            let document = DefinitionDocument { version: *version, body: text.clone() };
            written.push((format!("{DEFINITIONS}{}", name.as_str()), body(&document)));
        }
        if let Some(command) = &self.command {
            written.push((format!("{COMMANDS}{:05}", command.slot), body(&CommandDocument::of(command))));
        }
        if let Some(page) = &self.layout {
            written.push((LAYOUT.to_owned(), body(&LayoutDocument::of(page))));
        }
        written
    }

    /// The names of the documents to delete: the notes of deleted counters.
    pub(crate) fn deleted_documents(&self) -> impl Iterator<Item = String> {
        self.expired_notes().map(|about| note_name(&about))
    }

    /// The folder whose documents are deleted before any is written.
    pub(crate) fn emptied_folder(&self) -> Option<&'static str> {
        self.forgets_stores.then_some(STORES)
    }
}

fn note_name(about: &NoteSubject) -> String {
    format!("{NOTES}{}", about.to_stored())
}

#[derive(Serialize, Deserialize)]
struct LayoutDocument {
    cluster: String,
    generation: u64,
    shard_bits: u8,
    memory_bits: u8,
    /// Shard bits and memory bits of the next layout.
    next: Option<(u8, u8)>,
    is_fenced: bool,
}

impl LayoutDocument {
    fn of(page: &LayoutPage) -> Self {
        let LayoutPage { cluster, layout, generation, step } = page;
        let bits = |layout: Layout| (layout.shard_bits(), layout.memory_bits());
        let ((shard_bits, memory_bits), cluster) = (bits(*layout), cluster.as_str().to_owned());
        let (next, is_fenced) = (step.next().map(bits), step.is_fenced());
        Self { cluster, generation: *generation, shard_bits, memory_bits, next, is_fenced }
    }

    fn page(self, name: &str) -> Result<LayoutPage, SourceError> {
        let layout = |(n, m)| Layout::new(n, m).map_err(|error| unreadable(name, error));
        let next = self.next.map(layout).transpose()?;
        let step = ResizeStep::from_stored(next, self.is_fenced);
        Ok(LayoutPage {
            cluster: self
                .cluster
                .parse()
                .map_err(|error: sequent_core::NameError| unreadable(name, error))?,
            layout: layout((self.shard_bits, self.memory_bits))?,
            generation: self.generation,
            step: step.ok_or_else(|| unreadable(name, "it is fenced, and has no next layout"))?,
        })
    }
}

#[derive(Serialize, Deserialize)]
struct DefinitionDocument {
    version: u32,
    body: String,
}

impl DefinitionDocument {
    fn named(self, name: &str) -> Result<Definition, SourceError> {
        let Self { version, body } = self;
        let named = name.parse().map_err(|error: sequent_core::NameError| unreadable(name, error))?;
        Ok(Definition { name: named, version, body })
    }
}

#[derive(Serialize, Deserialize)]
struct CommandDocument {
    verb: String,
    who: String,
    why: String,
    at_ms: u64,
    until_ms: Option<u64>,
}

impl CommandDocument {
    fn of(command: &SlotCommand) -> Self {
        let SlotCommand { slot: _, verb, who, why, at_ms, until_ms } = command.clone();
        Self { verb: verb.as_str().to_owned(), who, why, at_ms, until_ms }
    }

    fn command(self, name: &str, slot: SlotIndex) -> Result<SlotCommand, SourceError> {
        let Self { verb, who, why, at_ms, until_ms } = self;
        let known = SlotVerb::from_word(&verb);
        let verb = known.ok_or_else(|| unreadable(name, format!("found verb {verb:?}")))?;
        Ok(SlotCommand { slot, verb, who, why, at_ms, until_ms })
    }
}

/// The slot in the name of a document.
fn slot(name: &str, digits: &str) -> Result<SlotIndex, SourceError> {
    digits.parse().map_err(|error: std::num::ParseIntError| unreadable(name, error))
}

/// The JSON text of a record.
pub(crate) fn body<T: Serialize>(record: &T) -> String {
    serde_json::json!(record).to_string()
}

/// A record from its JSON text. `name` is what the ledger has it under.
pub(crate) fn parsed<T: DeserializeOwned>(name: &str, body: &[u8]) -> Result<T, SourceError> {
    serde_json::from_slice(body).map_err(|error| unreadable(name, error))
}

/// The error for a record that only an operator can have written.
pub(crate) fn unreadable(name: &str, cause: impl Into<Box<dyn Error + Send + Sync>>) -> SourceError {
    refused(format!("{name} in the ledger can't be read")).because(cause)
}

#[cfg(test)]
mod tests {
    use sequent_core::ErrorKind;

    use super::*;

    fn taken(changes: &Changes) -> Records {
        let mut records = Records::of(InstanceId::new("x"), 0);
        for (name, body) in changes.written_documents() {
            records.take_document(&name, body.as_bytes()).unwrap();
        }
        records
    }

    #[test]
    fn a_document_is_read_as_it_was_written() {
        let layout = Layout::new(1, 3).unwrap();
        let page = |step| LayoutPage { cluster: "shop".parse().unwrap(), layout, generation: 7, step };
        let next = Layout::new(2, 3).unwrap();
        for step in [ResizeStep::InForce, ResizeStep::Planned(next), ResizeStep::Fenced(next)] {
            let changes = Changes { layout: Some(page(step)), ..Changes::default() };
            assert_eq!(taken(&changes).layout, Some(page(step)));
        }
        let command = SlotCommand {
            slot: 12,
            verb: SlotVerb::from_word("drain").unwrap(),
            who: "ann".to_owned(),
            why: "磁盘".to_owned(),
            at_ms: 5,
            until_ms: None,
        };
        let definition = Definition { name: "order".parse().unwrap(), version: 3, body: "{}".to_owned() };
        let notes = [NoteSubject::DenseForgotten, NoteSubject::from_stored("a/b|\0")].map(|about| (about, 9));
        let changes = Changes {
            command: Some(command.clone()),
            definition: Some(definition.clone()),
            store: Some((3, InstanceId::new("s"))),
            notes: notes.clone().into(),
            ..Changes::default()
        };
        let records = taken(&changes);
        assert_eq!((records.commands, records.definitions), (vec![command], vec![definition]));
        assert_eq!((records.stores, records.notes), (vec![(3, InstanceId::new("s"))], notes.into()));
    }

    #[test]
    fn what_only_a_person_can_have_written_is_refused() {
        let mut records = Records::of(InstanceId::new("x"), 0);
        let fenced = r#"{"cluster":"shop","generation":1,"shard_bits":1,"memory_bits":0,"next":null,"is_fenced":true}"#;
        for (name, body) in [("layout", fenced), ("layout", "{}"), ("note/x", "y"), ("store/x", "\"s\"")] {
            let error = records.take_document(name, body.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Refused, "{name}");
        }
    }
}
