//! Standard output of commands: results and nothing else. A reader that goes away causes no panic.

use std::io::{self, BufWriter, IsTerminal, Write};

use clap::builder::StyledStr;
use serde::Serialize;
use serde_json::Value;

use crate::{failure::Failure, terminal::escaped};

/// Writes `lines`, one a line.
pub(crate) fn lines<T: std::fmt::Display>(lines: impl IntoIterator<Item = T>) -> Result<(), Failure> {
    let on_terminal = io::stdout().is_terminal();
    write(|out| {
        lines.into_iter().try_for_each(|line| {
            if on_terminal {
                writeln!(out, "{}", escaped(&line.to_string()))
            } else {
                writeln!(out, "{line}")
            }
        })
    })
}

/// Writes `value` as one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let on_terminal = io::stdout().is_terminal();
    write(|out| {
        if on_terminal {
            // JSON itself leaves marks of direction and some controls as they are.
            write!(out, "{}", escaped(&serde_json::to_string(value)?))?;
        } else {
            serde_json::to_writer(&mut *out, value)?;
        }
        writeln!(out)
    })
}

/// The fields that hold business numbers or raw ids: strings in JSON, since its readers round them above 2^53.
const NUMBERS: [&str; 15] = [
    "number",
    "encoded",
    "raw",
    "low",
    "start",
    "step",
    "end",
    "base",
    "ceiling",
    "seen",
    "number_max",
    "to",
    "before",
    "last",
    "next",
];

/// Writes a report of the engine as one line of JSON, with its numbers as strings.
pub(crate) fn report(report: &impl Serialize) -> Result<(), Failure> {
    let mut value = serde_json::to_value(report)
        .map_err(|error| Failure::failed(format!("the report can't be written as JSON: {error}")))?;
    numbers_as_text(&mut value);
    json(&value)
}

fn numbers_as_text(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(numbers_as_text),
        Value::Object(fields) => {
            for (field, value) in fields {
                if value.is_u64() && NUMBERS.contains(&field.as_str()) {
                    *value = Value::String(value.to_string());
                }
                numbers_as_text(value);
            }
        }
        _ => {}
    }
}

/// Writes help or a version, styled only for a terminal.
pub(crate) fn text(text: &StyledStr) -> Result<(), Failure> {
    let styled = io::stdout().is_terminal();
    write(|out| if styled { write!(out, "{}", text.ansi()) } else { write!(out, "{text}") })
}

/// Runs `put` on standard output, and flushes.
pub(crate) fn write(put: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    put(&mut out).and_then(|()| out.flush()).map_err(|error| Failure::output(&error))
}

/// Writes a line to standard error. If that is closed or full, the line is lost, and the work goes on.
pub(crate) fn say(line: &str) {
    let line = if io::stderr().is_terminal() { escaped(line) } else { line.into() };
    drop(writeln!(io::stderr(), "{line}"));
}

/// A cause's detail without the class in front of it, which is shown beside it.
pub(crate) fn detail<'a>(class: &str, text: &'a str) -> &'a str {
    text.strip_prefix(class).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(text)
}

/// Aligned columns: each as wide as its widest cell, two spaces apart, without trailing spaces.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let mut widths: Vec<usize> = head.iter().map(|cell| cell.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded: Vec<String> = cells.zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        padded.join("  ").trim_end().to_owned()
    };
    let mut lines = vec![line(&mut head.iter().copied())];
    lines.extend(rows.iter().map(|row| line(&mut row.iter().map(String::as_str))));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_strings_and_counts_are_not() {
        let mut value =
            serde_json::json!({"number": 7, "slot": 3, "epoch": {"seen": true, "base": 9}, "end": null});
        numbers_as_text(&mut value);
        let expected =
            serde_json::json!({"number": "7", "slot": 3, "epoch": {"seen": true, "base": "9"}, "end": null});
        assert_eq!(value, expected);
    }

    #[test]
    fn columns_line_up() {
        let rows =
            [vec!["0".into(), "live".into(), String::new()], vec!["10".into(), "evicted".into(), "x".into()]];
        assert_eq!(
            table(&["slot", "state", "cause"], &rows),
            ["slot  state    cause", "0     live", "10    evicted  x"]
        );
    }
}
