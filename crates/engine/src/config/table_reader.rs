//! The reader of one table of a configuration, key by key.

use std::{ops::RangeInclusive, str::FromStr, time::Duration};

use toml::{Table, Value};

use super::{Fault, Origin, Shown, collector::Collector, secret::masked};

/// One table, read key by key. A key with a fault reads as its default, so that reading goes on to the next fault.
pub(crate) struct TableReader<'c, 'a> {
    checker: &'c mut Collector<'a>,
    path: String,
    table: Table,
    /// Whether flags and environment may set its keys.
    single: bool,
    known: Vec<&'static str>,
}

/// The keys of locations on servers that several engines share.
const SERVER_KEYS: [&str; 11] = [
    "path",
    "url",
    "schema",
    "password_file",
    "tls",
    "tls_ca_file",
    "tls_cert_file",
    "tls_key_file",
    "connections_max",
    "connect_timeout_ms",
    "keep_alive_s",
];

impl<'c, 'a> TableReader<'c, 'a> {
    pub(super) fn new(checker: &'c mut Collector<'a>, path: String, table: Table, single: bool) -> Self {
        Self { checker, path, table, single, known: Vec::new() }
    }

    /// Whether the file has `key`, whatever its value. Must be called before the key is read.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The path of a key in this table.
    pub(crate) fn key(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    pub(crate) fn fault(&mut self, key: &str, value: impl std::fmt::Display, bound: impl Into<String>) {
        let key = self.key(key);
        self.checker.fault(Fault::new(key, value, bound));
    }

    fn look(&mut self, key: &'static str) -> Option<(Value, Origin)> {
        self.known.push(key);
        let written = self.table.remove(key).map(|value| (value, Origin::File));
        let path = self.key(key);
        let over = if self.single { self.checker.overriding(&path) } else { None };
        over.map(|(text, origin)| (Value::String(text), origin)).or(written)
    }

    fn show(&mut self, key: &str, value: String, origin: Origin) {
        let key = self.key(key);
        self.checker.show(Shown { key, value, origin });
    }

    /// A whole number within `allowed`, if the key is set.
    pub(crate) fn integer_opt(&mut self, key: &'static str, allowed: RangeInclusive<u64>) -> Option<u64> {
        let Some((found, origin)) = self.look(key) else {
            self.show(key, "none".to_owned(), Origin::Default);
            return None;
        };
        let loose = origin != Origin::File;
        let number = match &found {
            Value::Integer(number) => Some(i128::from(*number)),
            Value::String(text) if loose => text.trim().parse().ok(),
            _ => None,
        };
        let inside = number.and_then(|n| u64::try_from(n).ok()).filter(|n| allowed.contains(n));
        if inside.is_none() {
            let value = number.map_or_else(|| found.to_string(), |number| number.to_string());
            self.fault(key, value, range(&allowed));
        }
        self.show(key, inside.unwrap_or_default().to_string(), origin);
        inside
    }

    /// A whole number within `allowed`.
    pub(crate) fn integer(&mut self, key: &'static str, allowed: RangeInclusive<u64>, default: u64) -> u64 {
        let number = self.integer_opt(key, allowed);
        if number.is_none() {
            self.default_shown(key, default.to_string());
        }
        number.unwrap_or(default)
    }

    /// A duration in the unit that the key's name ends with: `_ms` or `_s`.
    pub(crate) fn duration(
        &mut self,
        key: &'static str,
        allowed: RangeInclusive<u64>,
        default: u64,
    ) -> Duration {
        let number = self.integer(key, allowed, default);
        if key.ends_with("_ms") { Duration::from_millis(number) } else { Duration::from_secs(number) }
    }

    /// `true` or `false`.
    pub(crate) fn switch(&mut self, key: &'static str, default: bool) -> bool {
        let (found, origin) = self.look(key).unwrap_or((Value::Boolean(default), Origin::Default));
        let on = match &found {
            Value::Boolean(on) => Some(*on),
            Value::String(text) if origin != Origin::File => bool::from_str(text.trim()).ok(),
            _ => None,
        };
        if on.is_none() {
            self.fault(key, found, "true and false are allowed");
        }
        self.show(key, on.unwrap_or(default).to_string(), origin);
        on.unwrap_or(default)
    }

    /// A text, with `${NAME}` replaced from the environment; shown as written.
    pub(crate) fn text(&mut self, key: &'static str) -> Option<String> {
        let Some((found, origin)) = self.look(key) else {
            self.show(key, "none".to_owned(), Origin::Default);
            return None;
        };
        let Value::String(text) = found else {
            self.fault(key, found, "a text is expected");
            return None;
        };
        self.show(key, format!("{text:?}"), origin);
        let path = self.key(key);
        self.checker.expand(&path, &text, &text)
    }

    /// A required URL that may hold a secret: expanded, and in a form that may be printed. Faults show only the
    /// latter.
    pub(crate) fn url(&mut self, key: &'static str, bound: &str) -> Option<(String, String)> {
        let Some((found, origin)) = self.look(key) else {
            self.fault(key, "missing", bound);
            return None;
        };
        let Value::String(text) = found else {
            self.fault(key, format!("of type {}", found.type_str()), bound);
            return None;
        };
        let shown = masked(&text);
        self.show(key, format!("{shown:?}"), origin);
        let path = self.key(key);
        Some((self.checker.expand(&path, &text, &shown)?, format!("{shown:?}")))
    }

    /// Marks the keys of a location as known without checking their values. Their checks need a kind, which is unknown
    /// or not built in.
    pub(crate) fn pass_over(&mut self) {
        for key in SERVER_KEYS {
            self.look(key);
        }
    }

    /// A required text.
    pub(crate) fn demanded(&mut self, key: &'static str, bound: &str) -> Option<String> {
        let there = self.has(key);
        let text = self.text(key);
        if text.is_none() && !there {
            self.fault(key, "missing", bound);
        }
        text
    }

    /// A text that must be one of a few names.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &[(&'static str, T)],
        default: usize,
    ) -> T {
        let text = self.text(key);
        let chosen = text.as_ref().map(|text| choices.iter().find(|(word, _)| word == text));
        match chosen {
            Some(Some((_, value))) => *value,
            None => {
                self.default_shown(key, format!("{:?}", choices[default].0));
                choices[default].1
            }
            Some(None) => {
                let words: Vec<String> = choices.iter().map(|(word, _)| format!("{word:?}")).collect();
                self.fault(
                    key,
                    format!("{:?}", text.unwrap_or_default()),
                    format!("{} are allowed", words.join(", ")),
                );
                choices[default].1
            }
        }
    }

    /// A list of texts; in a flag or variable separated by commas, or as in the file.
    pub(crate) fn texts(&mut self, key: &'static str) -> Option<Vec<String>> {
        let (found, origin) = self.look(key)?;
        let texts = match &found {
            Value::Array(items) => in_list(items),
            Value::String(text) if origin != Origin::File => listed(text),
            _ => None,
        };
        if texts.is_none() {
            let forms = if origin == Origin::File { "" } else { ": a*,b or [\"a*\", \"b\"]" };
            self.fault(key, found, format!("a list of texts is expected{forms}"));
        }
        self.show(key, format!("{:?}", texts.clone().unwrap_or_default()), origin);
        texts
    }

    /// Records the default of a key that is not set.
    pub(crate) fn default_shown(&mut self, key: &str, value: String) {
        let key = self.key(key);
        self.checker.show(Shown { key, value, origin: Origin::Default });
    }

    /// Reports every key that was not read as unknown.
    pub(crate) fn finish(self) {
        let known = self.known.join(", ");
        for key in self.table.keys() {
            let path = self.key(key);
            self.checker.fault(Fault::new(path, "unknown", format!("{known} are known")));
        }
    }
}

fn in_list(items: &[Value]) -> Option<Vec<String>> {
    items.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

/// The texts of a flag or variable. Quotes belong to the file's syntax: a quote inside a text is a mistake.
fn listed(text: &str) -> Option<Vec<String>> {
    let written = format!("texts = {text}").parse::<Table>().ok();
    let written = written.and_then(|table| in_list(table.get("texts")?.as_array()?));
    if written.is_some() || text.contains(['"', '\'']) {
        return written;
    }
    Some(text.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect())
}

fn range(allowed: &RangeInclusive<u64>) -> String {
    format!("{} to {} are allowed", allowed.start(), allowed.end())
}
