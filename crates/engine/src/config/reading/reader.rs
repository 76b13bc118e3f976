//! The state of reading: what is left of the file, the values in force, and all faults.

use std::collections::{BTreeMap, BTreeSet};

use sequent_format::most_similar;
use toml::{Table, Value};

use super::{Document, Section, setting::About};
use crate::config::{Fault, Faults, Origin, Shown, Sources, fault::unknown, service_links::is_service_link};

/// The prefix of every environment variable that sets a key.
const PREFIX: &str = "SEQUENT_";

/// The state of reading a configuration.
pub(crate) struct Reader<'s> {
    sources: &'s Sources,
    document: Document,
    /// Paths of keys that flags and environment may set.
    known: BTreeSet<String>,
    /// The names of sections and lists, and the keys outside any.
    top: Vec<&'static str>,
    sections: BTreeSet<&'static str>,
    /// Variables that the file names as `${NAME}`.
    named: BTreeSet<String>,
    /// The origin of keys that a flag or variable sets.
    overridden: BTreeMap<String, Origin>,
    /// Each with its byte in the file, by which they are sorted.
    faults: Vec<(usize, Fault)>,
    shown: Vec<Shown>,
    /// Whether the file itself holds a secret.
    secret_in_file: bool,
    /// The comments and settings in the order of reading, for the reference page.
    pub(crate) rows: Vec<(&'static str, About)>,
}

impl<'s> Reader<'s> {
    pub(crate) fn new(sources: &'s Sources, document: Document) -> Self {
        Self {
            sources,
            document,
            known: BTreeSet::new(),
            top: Vec::new(),
            sections: BTreeSet::new(),
            named: BTreeSet::new(),
            overridden: BTreeMap::new(),
            faults: Vec::new(),
            shown: Vec::new(),
            secret_in_file: false,
            rows: Vec::new(),
        }
    }

    /// A table that the file has at most once: flags and environment may set its keys.
    pub(crate) fn section(&mut self, name: &'static str) -> Section<'_, 's> {
        let table = match self.take(name) {
            Some(Value::Table(table)) => table,
            None => Table::new(),
            Some(other) => {
                self.fault(Fault::new(name, other.type_str(), format!("a table, [{name}], is expected")));
                Table::new()
            }
        };
        self.sections.insert(name);
        Section::new(self, name.to_owned(), table, true)
    }

    /// The keys outside any table.
    pub(crate) fn top(&mut self, keys: &[&'static str]) -> Section<'_, 's> {
        let table = keys.iter().filter_map(|key| Some(((*key).to_owned(), self.take(key)?))).collect();
        Section::new(self, String::new(), table, true)
    }

    /// The tables of a list, `None` if the file has none.
    pub(crate) fn list(&mut self, name: &'static str) -> Option<Vec<Table>> {
        let items = match self.take(name)? {
            Value::Array(items) => items,
            other => {
                self.fault(Fault::new(name, other.type_str(), format!("a list, [[{name}]], is expected")));
                return None;
            }
        };
        let mut tables = Vec::new();
        for (at, item) in items.into_iter().enumerate() {
            match item {
                Value::Table(table) => tables.push(table),
                other => self.fault(Fault::new(
                    format!("{name}[{at}]"),
                    other.type_str(),
                    format!("a table, [[{name}]], is expected"),
                )),
            }
        }
        Some(tables)
    }

    /// One table of a list.
    pub(crate) fn item(&mut self, name: &str, at: usize, table: Table) -> Section<'_, 's> {
        Section::new(self, format!("{name}[{at}]"), table, false)
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.top.push(name);
        self.document.table.remove(name)
    }

    /// How many faults there are up to now.
    pub(crate) fn faults(&self) -> usize {
        self.faults.len()
    }

    /// Drops all faults but the first `count`.
    pub(super) fn forget_faults_from(&mut self, count: usize) {
        self.faults.truncate(count);
    }

    /// Records a fault at the place of its key, or of the table that lacks it.
    pub(crate) fn fault(&mut self, fault: Fault) {
        let over = self.overridden.get(&fault.key).map(|origin| (usize::MAX, origin.to_string()));
        let byte = self.document.byte_of(&fault.key);
        let place = over.or_else(|| byte.map(|byte| (byte, self.document.at(byte))));
        let (order, at) = place.unwrap_or((usize::MAX, String::new()));
        self.faults.push((order, Fault { at, ..fault }));
    }

    /// Records a value in force.
    pub(super) fn show(&mut self, shown: Shown) {
        self.shown.push(shown);
    }

    /// Records that the file itself holds a secret.
    pub(super) fn secret_in_file(&mut self) {
        self.secret_in_file = true;
    }

    /// Whether the file itself holds a secret.
    pub(crate) fn has_secret_in_file(&self) -> bool {
        self.secret_in_file
    }

    /// Whether nothing sets a key that was read.
    pub(crate) fn is_default(&self, key: &str) -> bool {
        self.shown.iter().any(|shown| shown.key == key && shown.origin == Origin::Default)
    }

    /// Shows another default for a key that is not set.
    pub(super) fn show_default(&mut self, key: &str, value: String) {
        let shown = self.shown.iter_mut().rev().find(|shown| shown.key == key);
        if let Some(shown) = shown.filter(|shown| shown.origin == Origin::Default) {
            shown.value = value;
        }
    }

    /// The flag or environment variable that sets `path`; the key is recorded as known.
    pub(super) fn overriding(&mut self, path: &str) -> Option<(String, Origin)> {
        self.known.insert(path.to_owned());
        let by_flag = self.sources.flags.get(path).map(|value| (value, Origin::Flag));
        let name = variable(path);
        let by_variable = self.sources.environment.get(&name);
        let (value, origin) = by_flag.or(by_variable.map(|value| (value, Origin::Environment(name))))?;
        self.overridden.insert(path.to_owned(), origin.clone());
        Some((value.clone(), origin))
    }

    /// `text` with each `${NAME}` replaced from the environment; `None` after a fault, which shows the text as `shown`.
    pub(super) fn expand(&mut self, path: &str, text: &str, shown: &str) -> Option<String> {
        let mut expanded = String::new();
        let mut rest = text;
        let mut whole = true;
        while let Some((before, after)) = rest.split_once("${") {
            expanded.push_str(before);
            let Some((name, behind)) = after.split_once('}') else {
                self.fault(Fault::new(path, shown, "`${` must be closed by `}`"));
                return None;
            };
            self.named.insert(name.to_owned());
            if let Some(value) = self.sources.environment.get(name) {
                expanded.push_str(value);
            } else {
                whole = false;
                self.fault(Fault::new(path, shown, format!("environment variable {name} is not set")));
            }
            rest = behind;
        }
        whole.then(|| expanded + rest)
    }

    /// Reports every key that was not read as unknown. Then returns all faults, those of the file first and by line, or
    /// the values in force, and the variables that nothing reads.
    pub(crate) fn finish(mut self) -> Result<(Vec<Shown>, Vec<Fault>), Faults> {
        for name in std::mem::take(&mut self.document.table).keys() {
            self.fault(unknown(name.clone(), name, &self.top));
        }
        let mut faults = std::mem::take(&mut self.faults);
        faults.sort_by_key(|(byte, _)| *byte);
        let mut faults: Vec<Fault> = faults.into_iter().map(|(_, fault)| fault).collect();
        let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
        for key in self.sources.flags.keys().filter(|key| !self.known.contains(*key)) {
            faults.push(Fault::new(format!("flag {key}"), "unknown", no_such_key(key, &known, "")));
        }
        let (of_sections, unread) = self.unknown_variables();
        faults.extend(of_sections);
        if faults.is_empty() { Ok((self.shown, unread)) } else { Err(Faults(faults)) }
    }

    /// Variables with the prefix that nothing reads: those of a section, which are faults, and others.
    fn unknown_variables(&self) -> (Vec<Fault>, Vec<Fault>) {
        let known: Vec<String> = self.known.iter().map(|path| variable(path)).collect();
        let known: Vec<&str> = known.iter().filter_map(|name| name.strip_prefix(PREFIX)).collect();
        let mut unknown = (Vec::new(), Vec::new());
        for (name, value) in &self.sources.environment {
            let Some(rest) = name.strip_prefix(PREFIX) else { continue };
            let is_read = known.contains(&rest) || self.named.contains(name);
            if is_read || self.sources.reserved.contains(&name.as_str()) || is_service_link(name, value) {
                continue;
            }
            let is_ours =
                self.sections.iter().any(|name| rest.starts_with(&format!("{}_", name.to_uppercase())));
            let bound = no_such_key(rest, &known, PREFIX);
            let to = if is_ours { &mut unknown.0 } else { &mut unknown.1 };
            to.push(Fault::new(format!("environment {name}"), "unknown", bound));
        }
        unknown
    }
}

/// The environment variable of a key's path.
fn variable(path: &str) -> String {
    format!("{PREFIX}{}", path.replace('.', "_").to_uppercase())
}

fn no_such_key(given: &str, known: &[&str], prefix: &str) -> String {
    let similar = most_similar(given, known);
    similar.map_or_else(|| "no such key".to_owned(), |key| format!("did you mean {prefix}{key}?"))
}
