//! The collector of faults and origins: reading a configuration goes on after a fault, so that all are reported at
//! once.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::{Fault, Faults, Origin, Shown, Sources, TableReader, service_links::is_service_link};

/// The prefix of every environment variable that sets a key.
const PREFIX: &str = "SEQUENT_";

/// The state of reading a configuration.
pub(crate) struct Collector<'a> {
    sources: &'a Sources,
    pub(super) root: Table,
    /// Paths of keys that flags and environment may set.
    known: BTreeSet<String>,
    sections: BTreeSet<String>,
    faults: Vec<Fault>,
    shown: Vec<Shown>,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(sources: &'a Sources, root: Table) -> Self {
        Self {
            sources,
            root,
            known: BTreeSet::new(),
            sections: BTreeSet::new(),
            faults: Vec::new(),
            shown: Vec::new(),
        }
    }

    /// A table that the file has at most once: flags and environment may set its keys.
    pub(crate) fn section(&mut self, name: &'static str) -> TableReader<'_, 'a> {
        let table = match self.root.remove(name) {
            Some(Value::Table(table)) => table,
            None => Table::new(),
            Some(other) => {
                self.fault(Fault::new(name, other.type_str(), format!("a table, [{name}], is expected")));
                Table::new()
            }
        };
        self.sections.insert(name.to_owned());
        TableReader::new(self, name.to_owned(), table, true)
    }

    /// The keys outside any table that `keys` lists.
    pub(crate) fn top(&mut self, keys: &[&str]) -> TableReader<'_, 'a> {
        let table =
            keys.iter().filter_map(|key| Some(((*key).to_owned(), self.root.remove(*key)?))).collect();
        TableReader::new(self, String::new(), table, true)
    }

    /// The tables of a list, `None` if the file has none.
    pub(crate) fn list(&mut self, name: &'static str) -> Option<Vec<Table>> {
        let items = match self.root.remove(name)? {
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
    pub(crate) fn item(&mut self, name: &str, at: usize, table: Table) -> TableReader<'_, 'a> {
        TableReader::new(self, format!("{name}[{at}]"), table, false)
    }

    pub(crate) fn fault(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// Records a value in force; a later record of the same key replaces the earlier one.
    pub(crate) fn show(&mut self, shown: Shown) {
        self.shown.retain(|earlier| earlier.key != shown.key);
        self.shown.push(shown);
    }

    /// The flag or environment variable that sets `path`; the key is recorded as known.
    pub(super) fn overriding(&mut self, path: &str) -> Option<(String, Origin)> {
        self.known.insert(path.to_owned());
        if let Some(value) = self.sources.flags.get(path) {
            return Some((value.clone(), Origin::Flag));
        }
        let name = variable(path);
        let value = self.sources.environment.get(&name)?;
        Some((value.clone(), Origin::Environment(name)))
    }

    /// `text` with each `${NAME}` replaced from the environment; `None` if one of them is not set. A fault shows the
    /// text as `shown`.
    pub(super) fn expand(&mut self, path: &str, text: &str, shown: &str) -> Option<String> {
        let mut expanded = String::new();
        let mut rest = text;
        let mut whole = true;
        while let Some((before, after)) = rest.split_once("${") {
            expanded.push_str(before);
            let Some((name, behind)) = after.split_once('}') else {
                self.fault(Fault::new(path, format!("{shown:?}"), "`${` must be closed by `}`"));
                return None;
            };
            if let Some(value) = self.sources.environment.get(name) {
                expanded.push_str(value);
            } else {
                whole = false;
                let bound = format!("environment variable {name} is not set");
                self.fault(Fault::new(path, format!("{shown:?}"), bound));
            }
            rest = behind;
        }
        whole.then(|| expanded + rest)
    }

    /// Reports every key that was not read as unknown; then returns all faults, or the values in force.
    pub(crate) fn finish(mut self) -> Result<Vec<Shown>, Faults> {
        for name in std::mem::take(&mut self.root).keys() {
            let known = "cluster, auto_create, ring, shard, ledger, reservoir, limits, obf_key, sequence, listen and traces";
            self.fault(Fault::new(name, "unknown", format!("{known} are known")));
        }
        let flags: Vec<String> = self.sources.flags.keys().cloned().collect();
        for key in flags.into_iter().filter(|key| !self.known.contains(key)).collect::<Vec<_>>() {
            self.fault(Fault::new(format!("flag {key}"), "unknown", "no such key"));
        }
        let variables: BTreeSet<String> = self.known.iter().map(|path| variable(path)).collect();
        let prefixes: Vec<String> =
            self.sections.iter().map(|name| format!("{PREFIX}{}_", name.to_uppercase())).collect();
        for (name, value) in &self.sources.environment {
            let is_ours = prefixes.iter().any(|prefix| name.starts_with(prefix));
            if is_ours && !variables.contains(name) && !is_service_link(name, value) {
                self.faults.push(Fault::new(format!("environment {name}"), "unknown", "no such key"));
            }
        }
        if self.faults.is_empty() { Ok(self.shown) } else { Err(Faults(self.faults)) }
    }
}

/// The environment variable of a key's path.
fn variable(path: &str) -> String {
    format!("{PREFIX}{}", path.replace('.', "_").to_uppercase())
}
