//! Tables of systems that are known, by their columns, and the counters in them.

use std::collections::HashMap;

use sequent_engine::foreign::{Look, Table, TableFormat};

use super::{OldCounter, slot_tables, texts};

/// The highest number of a counter.
pub(super) const NUMBER_MAX: i128 = i64::MAX as i128;

/// From this number on, 2^53, doubles are rounded.
const DOUBLE_BELOW: f64 = 9_007_199_254_740_992.0;

/// A table that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A counter a row, as this program's own readers say it, and files may.
    Plain,
    /// The highest number given, and the step.
    Sequence,
    /// The end of the block that was taken last.
    Segment,
    /// The highest number given.
    Row,
    /// Prefix, date, infix, index and suffix.
    Numbered,
    /// Leaf: the first number of the next block.
    Leaf,
    /// `TinyId`: the last number of the block that was taken last.
    TinyId,
    /// `CosId`: the last number of the block that was taken last.
    CosId,
    /// A document a sequence: the next number.
    Document,
    /// A rule in a hash of Redis.
    Rule,
}

/// The columns of each, one of which a table must have, in the order in which they are tried.
const SHAPES: [(Shape, &[&str]); 11] = [
    (Shape::Plain, &["counter", "last_number", "step"]),
    (Shape::Plain, &["counter", "next_number", "step"]),
    (Shape::Sequence, &["seq_name", "current_value", "_increment"]),
    (Shape::Row, &["owner_key", "current_value"]),
    (Shape::Numbered, &["code", "datetype", "indexlength", "maxdate", "maxindex"]),
    (Shape::Leaf, &["biz_tag", "max_id", "step"]),
    (Shape::TinyId, &["biz_type", "max_id", "step"]),
    (Shape::CosId, &["name", "last_max_id"]),
    (Shape::Document, &["collectionname", "step", "current"]),
    (Shape::Document, &["_id", "start", "end", "step", "current"]),
    (Shape::Rule, &["key", "base", "cur", "pre", "needtime"]),
];

/// Those with a last number in the column `end`, if they have one.
const HAVE_AN_END: [Shape; 2] = [Shape::Plain, Shape::Document];

/// The table of blocks, whose two columns many tables have: it is known by its name besides.
const SEGMENT: (&str, [&str; 2]) = ("sequence_value", ["name", "id"]);

/// The columns of a table whose rows are given numbers.
const IDS: [&str; 2] = ["id", "generate_time"];

fn shape(table: &str, columns: &[String]) -> Option<Shape> {
    let has = |wanted: &&str| columns.iter().any(|column| column == wanted);
    let known = SHAPES.iter().find(|(_, wanted)| wanted.iter().all(has)).map(|(shape, _)| *shape);
    let (name, wanted) = SEGMENT;
    let is_segment = table.eq_ignore_ascii_case(name) && columns.len() == 2 && wanted.iter().all(has);
    known.or(is_segment.then_some(Shape::Segment))
}

/// What is read of a table with these columns.
pub fn look(table: &str, columns: &[String], names: &TableFormat) -> Look {
    match shape(table, columns) {
        Some(_) => Look::Rows,
        None if is_slot_table(table, columns, names) => Look::Ids,
        None => Look::Nothing,
    }
}

/// Whether rows of a table are numbers: it has the two columns and no other, or the name of a slot table besides.
fn is_slot_table(table: &str, columns: &[String], names: &TableFormat) -> bool {
    let has = |wanted: &&str| columns.iter().any(|column| column == wanted);
    IDS.iter().all(has) && (columns.len() == IDS.len() || names.parts(table).is_some())
}

/// The counters of tables, in their order. `memory_bits` and `names` are those of the program that counts in slot tables.
pub(super) fn counters(tables: &[Table], memory_bits: u32, names: &TableFormat) -> Vec<OldCounter> {
    let of_table = |table: &Table| -> Vec<OldCounter> {
        let Some(shape) = shape(&table.name, &table.columns) else { return Vec::new() };
        let counters = table.rows.iter().map(|row| counter(shape, &Record { table, row }));
        // The seed's table has no key, and two programs may insert a name at once.
        if shape == Shape::Segment { highest_rows(counters) } else { counters.collect() }
    };
    slot_tables::joined(tables.iter().flat_map(of_table).collect(), memory_bits, names)
}

/// The counters with several rows of one name as one: the highest row counts.
fn highest_rows(counters: impl Iterator<Item = OldCounter>) -> Vec<OldCounter> {
    let mut highest: Vec<OldCounter> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for counter in counters {
        let Some(held) = places.get(&counter.name).and_then(|at| highest.get_mut(*at)) else {
            places.insert(counter.name.clone(), highest.len());
            highest.push(counter);
            continue;
        };
        held.note = Some("several rows have this name: the highest one counts".to_owned());
        // A row that can't be read may be the highest.
        if held.next.is_ok() && (counter.next.is_err() || counter.next > held.next) {
            held.next = counter.next;
        }
    }
    highest
}

/// A row of a table.
pub(super) struct Record<'a> {
    table: &'a Table,
    row: &'a [Option<String>],
}

impl Record<'_> {
    /// A value for people.
    pub(super) fn shown(&self, column: &str) -> String {
        let at = self.table.columns.iter().position(|found| found == column);
        match at.map(|at| self.row.get(at).and_then(Option::as_deref)) {
            None => "missing".to_owned(),
            Some(None) => "NULL".to_owned(),
            Some(Some(text)) => format!("{text:?}"),
        }
    }

    /// A value; empty if the table has no such column, or NULL in it.
    pub(super) fn text(&self, column: &str) -> &str {
        let at = self.table.columns.iter().position(|found| found == column);
        at.and_then(|at| self.row.get(at)?.as_deref()).unwrap_or_default()
    }

    /// A whole number, which may be written as a double.
    pub(super) fn number(&self, column: &str) -> Result<i128, String> {
        let text = self.text(column).trim();
        let number: Option<i128> = text.parse().ok().or_else(|| whole(text));
        // Sums of a few such numbers are numbers, too.
        let number = number.filter(|number| number.unsigned_abs() < FOREIGN_BELOW);
        number.ok_or_else(|| format!("{column} is {}: a whole number is expected", self.shown(column)))
    }
}

/// Above every number of a counter.
const FOREIGN_BELOW: u128 = 1 << 100;

/// The whole number that a double is, below the first that doubles round.
fn whole(text: &str) -> Option<i128> {
    let double: f64 = text.parse().ok()?;
    let is_whole = double.fract() == 0.0 && double.abs() < DOUBLE_BELOW;
    #[allow(clippy::cast_possible_truncation, reason = "it has no fraction, and is bounded just above")]
    let number = double as i128;
    is_whole.then_some(number)
}

fn counter(shape: Shape, record: &Record<'_>) -> OldCounter {
    let source = record.table.name.clone();
    let named = |name: &str, step: &str, next: &dyn Fn(i128) -> Result<i128, String>| {
        let checked = step_of(record, step);
        let end = if HAVE_AN_END.contains(&shape) { end_of(record) } else { Ok(None) };
        let next = checked.clone().and_then(|step| end.clone().and_then(|_| next(step))).and_then(allowed);
        let step = checked.ok().and_then(|step| u64::try_from(step).ok()).unwrap_or(1);
        let (source, name, end) = (source.clone(), record.text(name).to_owned(), end.ok().flatten());
        OldCounter { source, name, next, step, end, encoded: None, tables: None, texts: None, note: None }
    };
    match shape {
        Shape::Plain => named("counter", "step", &|step| plain(record, step)),
        Shape::Sequence => {
            named("seq_name", "_increment", &|step| Ok(record.number("current_value")? + step))
        }
        Shape::Segment => named("name", "", &|step| Ok(record.number("id")? + step)),
        Shape::Row => named("owner_key", "", &|step| Ok(record.number("current_value")? + step)),
        // The steps of these are the sizes of blocks.
        Shape::Leaf => named("biz_tag", "", &|_| record.number("max_id")),
        Shape::TinyId => {
            let one = named("biz_type", "", &|step| Ok(record.number("max_id")? + step));
            OldCounter { note: other_databases(record), ..one }
        }
        Shape::CosId => named("name", "", &|step| Ok(record.number("last_max_id")? + step)),
        Shape::Document => {
            let name = if record.text("collectionname").is_empty() { "_id" } else { "collectionname" };
            named(name, "step", &|_| document(record))
        }
        Shape::Numbered => {
            texts::numbered(record, named("code", "", &|step| Ok(record.number("maxindex")? + step)))
        }
        Shape::Rule => texts::rule(
            record,
            named("key", "", &|step| Ok(record.number("cur")? + record.number("base")? + step)),
        ),
    }
}

/// The next number of a counter that has the last one, the next one, or both: the higher one counts.
fn plain(record: &Record<'_>, step: i128) -> Result<i128, String> {
    let refused = record.text("refused");
    if !refused.is_empty() {
        return Err(refused.to_owned());
    }
    let is_there = |column| !record.text(column).is_empty();
    let after_last = || Ok::<_, String>(record.number("last_number")? + step);
    match (is_there("last_number"), is_there("next_number")) {
        (true, true) => Ok(after_last()?.max(record.number("next_number")?)),
        (false, true) => record.number("next_number"),
        (_, false) => after_last(),
    }
}

/// The next number of a document. 0 is none yet: it begins with its first number then.
fn document(record: &Record<'_>) -> Result<i128, String> {
    let current = record.number("current")?;
    if record.text("start").is_empty() {
        return Ok(current);
    }
    let start = record.number("start")?;
    match current {
        0 => Ok(start),
        _ if current < start => {
            Err(format!("current is {current}, and start is {start}: at least start is expected"))
        }
        _ => Ok(current),
    }
}

/// The note of a counter of which each of several databases gives every `delta`-th number.
fn other_databases(record: &Record<'_>) -> Option<String> {
    let delta = record.number("delta").ok().filter(|delta| *delta > 1)?;
    Some(format!("delta is {delta}: import the other databases, too, since the highest max_id counts"))
}

/// The last number; `None` without one, or if it is the last of 64 bits.
fn end_of(record: &Record<'_>) -> Result<Option<u64>, String> {
    if record.text("end").is_empty() {
        return Ok(None);
    }
    let end = record.number("end")?;
    let number = u64::try_from(end).map_err(|_| format!("end is {end}: at least 0 is allowed"))?;
    Ok(Some(number).filter(|_| end < NUMBER_MAX))
}

/// The step in a column; 1 without a column.
fn step_of(record: &Record<'_>, column: &str) -> Result<i128, String> {
    if column.is_empty() {
        return Ok(1);
    }
    let step = record.number(column)?;
    if (1..=NUMBER_MAX).contains(&step) {
        return Ok(step);
    }
    Err(format!("{column} is {step}: 1 to {NUMBER_MAX} are allowed"))
}

/// The next number, within the range of counters.
fn allowed(next: i128) -> Result<u64, String> {
    let number = u64::try_from(next).ok().filter(|_| next <= NUMBER_MAX);
    number.ok_or_else(|| format!("its next number is {next}: 0 to {NUMBER_MAX} are allowed"))
}

#[cfg(test)]
pub(super) mod tests;
