//! Counters in files: CSV with a head line, and JSON.

use std::{collections::BTreeSet, fmt, fs, path::PathBuf};

use sequent_core::{ErrorKind, Reply, SourceError};
use sequent_engine::foreign::{COUNTERS_MAX, Look, Source, Table, TableFormat, Wanted};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::Value;

/// The longest file, in bytes: it is held in memory.
const BYTES_MAX: u64 = 256 << 20;

/// The form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Fields between commas, the names of the columns in the first line.
    Csv,
    /// Objects: in an array, or one after the other.
    Json,
}

/// A file with counters of another system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSource {
    /// The path.
    pub path: PathBuf,
    /// The form.
    pub format: Format,
}

impl Source for FileSource {
    fn read<'a>(&'a self, wanted: &'a Wanted) -> Reply<'a, Vec<Table>> {
        let table = check_wanted(wanted).and_then(|()| self.table());
        Box::pin(std::future::ready(table.map(|table| vec![table]).map_err(|fault| {
            SourceError::new(ErrorKind::Refused, format!("file {}: {fault}", self.path.display()))
        })))
    }
}

/// A file is read as a whole.
fn check_wanted(wanted: &Wanted) -> Result<(), String> {
    let Wanted { tables, columns, pattern, .. } = wanted;
    if tables.is_empty() && columns.is_empty() && pattern.is_none() {
        return Ok(());
    }
    Err("--table, --column and --pattern choose nothing in it: leave them out, all of its counters are read"
        .to_owned())
}

impl FileSource {
    fn table(&self) -> Result<Table, String> {
        let bytes = fs::metadata(&self.path).map_err(|error| error.to_string())?.len();
        if bytes > BYTES_MAX {
            return Err(format!("it has {bytes} bytes: at most {BYTES_MAX} are allowed"));
        }
        let text = fs::read_to_string(&self.path).map_err(|error| error.to_string())?;
        let (columns, rows) = match self.format {
            Format::Csv => csv(&text)?,
            Format::Json => json(&text)?,
        };
        if rows.len() > COUNTERS_MAX {
            return Err(format!("it has {} counters: at most {COUNTERS_MAX} are allowed", rows.len()));
        }
        let stem = self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let table = Table { name: stem.unwrap_or_default(), columns, rows };
        if super::look(&table.name, &table.columns, &TableFormat::default()) != Look::Rows {
            let columns = table.columns.join(", ");
            return Err(format!(
                "its columns ({columns}) are those of no system that is known: counter, last_number, step are expected, \
                 or those of a known table"
            ));
        }
        Ok(table)
    }
}

type Content = (Vec<String>, Vec<Vec<Option<String>>>);

fn csv(text: &str) -> Result<Content, String> {
    let mut records = records(text.strip_prefix('\u{feff}').unwrap_or(text))?.into_iter();
    let head = records.next().ok_or("it is empty: a line with the names of the columns is expected")?;
    let columns: Vec<String> = head.iter().map(|name| name.trim().to_ascii_lowercase()).collect();
    check_once(columns.iter())?;
    let mut rows = Vec::new();
    for (at, record) in records.enumerate() {
        if record.len() != columns.len() {
            let (found, expected) = (record.len(), columns.len());
            return Err(format!("record {} has {found} fields: {expected} are expected", at + 2));
        }
        rows.push(record.into_iter().map(|field| Some(field).filter(|field| !field.is_empty())).collect());
    }
    Ok((columns, rows))
}

/// The records of a text. A field in quotes may hold commas, ends of lines, and quotes that are written twice.
fn records(text: &str) -> Result<Vec<Vec<String>>, String> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut is_quoted, mut was_quoted) = (false, false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' if is_quoted => (is_quoted, was_quoted) = (false, true),
            '"' if field.is_empty() && !was_quoted => is_quoted = true,
            ',' if !is_quoted => {
                was_quoted = false;
                record.push(std::mem::take(&mut field));
            }
            '\r' if !is_quoted && letters.peek() == Some(&'\n') => {}
            '\n' if !is_quoted => {
                was_quoted = false;
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            // Otherwise a quote too many or too few would take the records up to the next one into its field.
            letter if !is_quoted && (letter == '"' || was_quoted) => {
                let at = records.len() + 1;
                return Err(format!(
                    "record {at} has a quote within a field: put the field in quotes, and write the quote twice"
                ));
            }
            letter => field.push(letter),
        }
    }
    if is_quoted {
        return Err("a quote is not closed".to_owned());
    }
    if !record.is_empty() || !field.is_empty() {
        record.push(field);
        records.push(record);
    }
    // An empty line is no record.
    records.retain(|record| record.iter().any(|field| !field.is_empty()));
    Ok(records)
}

/// Objects: in an array, or one after the other.
#[derive(Deserialize)]
#[serde(untagged, expecting = "an object a counter is expected")]
enum Objects {
    Many(Vec<Fields>),
    One(Fields),
}

/// The fields of an object in their order, with those that are there twice.
struct Fields(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        from.deserialize_map(Pairs)
    }
}

fn json(text: &str) -> Result<Content, String> {
    let mut objects = Vec::new();
    for some in serde_json::Deserializer::from_str(text).into_iter() {
        match some.map_err(|error| error.to_string())? {
            Objects::Many(many) => objects.extend(many),
            Objects::One(one) => objects.push(one),
        }
    }
    let mut columns: Vec<String> = Vec::new();
    for Fields(fields) in &objects {
        check_once(fields.iter().map(|(field, _)| field))?;
        for (field, _) in fields {
            if !columns.iter().any(|column| column.eq_ignore_ascii_case(field)) {
                columns.push(field.to_ascii_lowercase());
            }
        }
    }
    let row = |Fields(fields): &Fields| -> Vec<Option<String>> {
        let value = |column: &String| {
            let (_, value) = fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(column))?;
            scalar(value)
        };
        columns.iter().map(value).collect()
    };
    let rows = objects.iter().map(row).collect();
    Ok((columns, rows))
}

/// Refuses columns of one name: which of their values counts is unknown.
fn check_once<'a>(columns: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for column in columns {
        if !seen.insert(column.to_ascii_lowercase()) {
            return Err(format!("the column {column} is there twice: one is expected"));
        }
    }
    Ok(())
}

/// A value as text. MongoDB's exports write long numbers as `{"$numberLong": "5"}`. A list, or another object, is its own
/// text, so that a number that can't be read is refused and not taken for one that is not there.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Object(fields) => {
            let number =
                ["$numberLong", "$numberInt", "$numberDouble"].iter().find_map(|name| fields.get(*name));
            number.map_or_else(|| Some(value.to_string()), scalar)
        }
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(texts: &[&str]) -> Vec<Option<String>> {
        texts.iter().map(|text| Some((*text).to_owned())).collect()
    }

    #[test]
    fn fields_in_quotes_hold_commas_and_quotes() {
        let (columns, rows) = csv("Counter,last_number,step\r\n\"a,\"\"b\",5,1\r\n\nc,6,1").unwrap();
        assert_eq!(columns, ["counter", "last_number", "step"]);
        assert_eq!(rows, [some(&["a,\"b", "5", "1"]), some(&["c", "6", "1"])]);
    }

    #[test]
    fn a_record_with_too_few_fields_is_named() {
        assert_eq!(csv("a,b\n1").unwrap_err(), "record 2 has 1 fields: 2 are expected");
        assert_eq!(csv("a\n\"1").unwrap_err(), "a quote is not closed");
    }

    #[test]
    fn objects_come_in_an_array_or_one_after_the_other() {
        let lines = "{\"_id\":\"a\",\"current\":{\"$numberLong\":\"9223372036854775807\"}}\n{\"_id\":\"b\",\"step\":2}";
        let (columns, rows) = json(lines).unwrap();
        assert_eq!(columns, ["_id", "current", "step"]);
        assert_eq!(rows[0], [Some("a".to_owned()), Some("9223372036854775807".to_owned()), None]);
        assert_eq!(rows[1], [Some("b".to_owned()), None, Some("2".to_owned())]);
        let doubles = "{\"a\":50.0}{\"a\":{\"$numberDouble\":\"7.0\"}}";
        assert_eq!(json(doubles).unwrap().1, [[Some("50.0".to_owned())], [Some("7.0".to_owned())]]);
        assert_eq!(json("[{\"a\":1},{\"a\":2}]").unwrap().1.len(), 2);
        assert!(json("[1]").is_err());
    }

    #[test]
    fn a_number_that_is_there_twice_or_no_number_is_not_taken_for_none() {
        let twice = "the column last_number is there twice: one is expected";
        assert_eq!(
            csv("counter,last_number,Last_Number\na,10,5000").unwrap_err().to_ascii_lowercase(),
            twice
        );
        for other in ["LAST_NUMBER", "last_number"] {
            let both = format!("[{{\"{other}\":10,\"last_number\":5000}}]");
            assert_eq!(json(&both).unwrap_err().to_ascii_lowercase(), twice);
        }
        let (_, rows) = json("{\"a\":[5000],\"b\":{\"c\":1}}").unwrap();
        assert_eq!(rows, [some(&["[5000]", "{\"c\":1}"])]);
    }
}
