//! One table of the configuration, setting by setting.

use std::{collections::BTreeMap, fmt::Display};

use toml::{Table, Value};

use super::{
    reader::Reader,
    secret::{hides, masked},
    setting::{About, Setting},
};
use crate::config::{
    Fault, Origin, Shown,
    fault::{unknown, without_secret},
};

/// A table whose settings are read one by one.
pub(crate) struct Section<'r, 's> {
    reader: &'r mut Reader<'s>,
    path: String,
    table: Table,
    /// Whether flags and environment may set its keys.
    is_single: bool,
    known: Vec<&'static str>,
    /// The values that name a variable, as written.
    with_variable: BTreeMap<&'static str, String>,
}

/// Declares a section as a struct. `read` reads each field, in order, and `DOC` is the comment of the section.
///
/// A field is `name: Type = setting`: one setting, whose comment is its text on the reference page. Or it is
/// `name: Type => expression` over the fields before it. The names in parentheses are the section that is read, and
/// what else the expressions use.
macro_rules! section {
    (
        $(#[doc = $doc:literal])+
        $(#[derive($($trait:ident),+)])?
        $vis:vis struct $name:ident($section:ident $(, $arg:ident: $given:ty)*) {
            $($(#[doc = $text:literal])+ $field:ident: $kind:ty $(= $setting:expr)? $(=> $derived:expr)?,)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone $($(, $trait)+)?)]
        $vis struct $name {
            $($(#[doc = $text])+ pub $field: $kind,)+
        }

        impl $name {
            #[allow(dead_code, reason = "a section may be a part of another one on the page")]
            pub(crate) const DOC: &str = concat!($($doc, "\n"),+);

            pub(crate) fn read(
                $section: &mut $crate::config::reading::Section<'_, '_>
                $(, $arg: $given)*
            ) -> Self {
                $(let $field: $kind = section!(@value $section, concat!($($text),+), $(= $setting)? $(=> $derived)?);)+
                Self { $($field),+ }
            }
        }
    };
    (@value $section:ident, $doc:expr, = $setting:expr) => { $section.read($doc, $setting) };
    (@value $section:ident, $doc:expr, => $derived:expr) => { $derived };
}
pub(crate) use section;

impl<'r, 's> Section<'r, 's> {
    pub(super) fn new(reader: &'r mut Reader<'s>, path: String, table: Table, is_single: bool) -> Self {
        Self { reader, path, table, is_single, known: Vec::new(), with_variable: BTreeMap::new() }
    }

    /// The path of a key in this table.
    fn path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// How many faults there are up to now.
    pub(crate) fn faults(&self) -> usize {
        self.reader.faults()
    }

    /// Records a fault of a key. A value with a variable is shown as written, since the variable may hold a secret.
    pub(crate) fn fault(&mut self, key: &str, value: impl Display, bound: impl Into<String>) {
        let path = self.path(key);
        let value = self.with_variable.get(key).map_or_else(|| value.to_string(), Clone::clone);
        self.reader.fault(Fault::new(path, value, bound));
    }

    /// Reads a setting; `doc` is its text for the reference page. After a fault its default counts, so that reading
    /// goes on to the next fault.
    pub(crate) fn read<T>(&mut self, doc: &'static str, setting: Setting<T>) -> T {
        let Setting { about, read, default, after_fault } = setting;
        self.reader.rows.push((doc, about.clone()));
        let path = self.path(about.key);
        let found = self.find(&about, &path);
        if let Some(reason) = about.unused {
            if found.is_some() {
                self.reader.fault(Fault::new(path, "there", reason));
            }
            return default;
        }
        let Some((value, origin)) = found else {
            match about.default {
                Some(value) => self.reader.show(Shown { key: path, value, origin: Origin::Default }),
                None => self.reader.fault(Fault::new(path, "missing", about.expected)),
            }
            return default;
        };
        let printed = printed(&value, about.is_secret);
        if about.is_secret && origin == Origin::File && value.as_str().is_some_and(hides) {
            self.reader.secret_in_file();
        }
        self.reader.show(Shown { key: path.clone(), value: printed.clone(), origin });
        if value.as_str().is_some_and(|text| text.contains("${")) {
            self.with_variable.insert(about.key, printed.clone());
        }
        let expanded = match value {
            Value::String(text) => self.reader.expand(&path, &text, &printed).map(Value::String),
            other => Some(other),
        };
        let Some(expanded) = expanded else { return after_fault };
        read(&expanded).unwrap_or_else(|bound| {
            self.reader.fault(Fault::new(path, printed, bound.unwrap_or(about.expected)));
            after_fault
        })
    }

    /// The value of a key and its origin; a flag or variable hides the file's.
    fn find(&mut self, about: &About, path: &str) -> Option<(Value, Origin)> {
        self.known.push(about.key);
        let written = self.table.remove(about.key).map(|value| (value, Origin::File));
        let over = if self.is_single { self.reader.overriding(path) } else { None };
        over.map(|(text, origin)| (about.form.value_of(text), origin)).or(written)
    }

    /// Shows the default of a key that is not set, if it follows from others.
    pub(crate) fn show_default(&mut self, key: &str, value: String) {
        self.reader.show_default(&self.path(key), value);
    }

    /// Reads keys whose checks need what a fault has left unknown: they are known, and have no faults.
    pub(crate) fn pass_over(&mut self, read: impl FnOnce(&mut Self)) {
        let faults = self.faults();
        read(self);
        self.reader.forget_faults_from(faults);
    }

    /// Reports every key that was not read as unknown.
    pub(crate) fn finish(self) {
        for key in self.table.keys() {
            let fault = unknown(self.path(key), key, &self.known);
            self.reader.fault(fault);
        }
    }
}

/// A value as faults and listings show it.
fn printed(value: &Value, is_secret: bool) -> String {
    match value {
        Value::String(text) if is_secret => format!("{:?}", masked(text)),
        // A URL may be written where none is expected, too.
        Value::String(text) => without_secret(format!("{text:?}")),
        Value::Array(items) if is_secret => format!("[{}]", vec!["\"***\""; items.len()].join(", ")),
        other if is_secret => format!("of type {}", other.type_str()),
        other => without_secret(other.to_string()),
    }
}
