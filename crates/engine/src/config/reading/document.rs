//! The configuration file: its table, and the place of each key.

use std::{collections::BTreeMap, path::Path};

use toml::{
    Table,
    de::{DeTable, DeValue, Error},
};

use crate::config::{Fault, Faults};

/// A parsed file; empty without one.
#[derive(Default)]
pub(crate) struct Document {
    file: String,
    text: String,
    pub(super) table: Table,
    /// The first byte of each key, by its path. A table of a list has the place of its header.
    places: BTreeMap<String, usize>,
}

impl Document {
    /// Reads a file. The faults are all that keep it from being TOML, one for each line.
    pub(crate) fn read(file: &Path) -> Result<Self, Faults> {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file)
            .map_err(|error| Faults(vec![Fault::new(&name, "not readable", error.to_string())]))?;
        let mut document = Self { file: name, text, ..Self::default() };
        let (root, errors) = DeTable::parse_recoverable(&document.text);
        let mut places = BTreeMap::new();
        record("", root.get_ref(), &mut places);
        if !errors.is_empty() {
            let mut faults: Vec<Fault> = errors.iter().map(|error| document.fault(error)).collect();
            faults.dedup_by_key(|fault| fault.at.rsplit_once(':').map(|(line, _)| line.to_owned()));
            return Err(Faults(faults));
        }
        let table = document.text.parse().map_err(|error| Faults(vec![document.fault(&error)]))?;
        (document.table, document.places) = (table, places);
        Ok(document)
    }

    /// The first byte of a key, or of the table that lacks it.
    pub(super) fn byte_of(&self, path: &str) -> Option<usize> {
        let table = path.rsplit_once('.').map_or("", |(table, _)| table);
        self.places.get(path).or(self.places.get(table)).copied()
    }

    /// File, line and column of a byte.
    pub(super) fn at(&self, byte: usize) -> String {
        let before = self.text.get(..byte).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
        format!("{}:{line}:{column}", self.file)
    }

    fn fault(&self, error: &Error) -> Fault {
        let at = self.at(error.span().map_or(0, |span| span.start));
        Fault { at, ..Fault::new("the file", "not TOML", error.message()) }
    }
}

/// Records the place of each key under `path`.
fn record(path: &str, table: &DeTable<'_>, places: &mut BTreeMap<String, usize>) {
    for (key, value) in table {
        let dot = if path.is_empty() { "" } else { "." };
        let path = format!("{path}{dot}{}", key.get_ref());
        places.insert(path.clone(), key.span().start);
        match value.get_ref() {
            DeValue::Table(table) => record(&path, table, places),
            DeValue::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    let path = format!("{path}[{at}]");
                    places.insert(path.clone(), item.span().start);
                    item.get_ref().as_table().into_iter().for_each(|table| record(&path, table, places));
                }
            }
            _ => {}
        }
    }
}
