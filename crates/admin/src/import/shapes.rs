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
pub fn look(table: &str, columns: &[String]) -> Look {
    match shape(table, columns) {
        Some(_) => Look::Rows,
        None if columns.iter().map(String::as_str).eq(IDS) => Look::Ids,
        None => Look::Nothing,
    }
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
        let number = text.parse().ok().or_else(|| whole(text));
        number.ok_or_else(|| format!("{column} is {}: a whole number is expected", self.shown(column)))
    }
}

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
        let next = checked.clone().and_then(next).and_then(allowed);
        let end = if HAVE_AN_END.contains(&shape) { end_of(record) } else { Ok(None) };
        let next = end.as_ref().map_err(Clone::clone).and(next);
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
        Shape::TinyId => named("biz_type", "", &|step| Ok(record.number("max_id")? + step)),
        Shape::CosId => named("name", "", &|step| Ok(record.number("last_max_id")? + step)),
        Shape::Document => {
            let name = if record.text("collectionname").is_empty() { "_id" } else { "collectionname" };
            named(name, "step", &|_| record.number("current"))
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
pub(super) mod tests {
    use super::*;

    pub(in crate::import) fn table(name: &str, columns: &str, rows: &[&[&str]]) -> Table {
        let owned = |text: &&str| Some((*text).to_owned()).filter(|text| text != "NULL");
        Table {
            name: name.to_owned(),
            columns: columns.split(' ').map(str::to_owned).collect(),
            rows: rows.iter().map(|row| row.iter().map(owned).collect()).collect(),
        }
    }

    pub(in crate::import) fn read(tables: &[Table]) -> Vec<OldCounter> {
        counters(tables, 0, &TableFormat::default())
    }

    fn next(table: &Table) -> (String, u64, u64) {
        let counter = read(std::slice::from_ref(table)).remove(0);
        (counter.name, counter.next.unwrap(), counter.step)
    }

    #[test]
    fn each_system_goes_on_where_it_is() {
        let cases = [
            (
                table("sequence", "seq_name current_value _increment", &[&["order", "48231", "10"]]),
                48_241,
                10,
            ),
            (table("sequence_value", "name id", &[&["order", "2000"]]), 2_001, 1),
            (table("jd_rowbased_sequence", "owner_key current_value", &[&["order", "7"]]), 8, 1),
            (
                table("leaf_alloc", "biz_tag max_id step description", &[&["order", "2001", "2000", ""]]),
                2_001,
                1,
            ),
            (
                table(
                    "tiny_id_info",
                    "id biz_type begin_id max_id step",
                    &[&["1", "order", "1", "100000", "100000"]],
                ),
                100_001,
                1,
            ),
            (table("cosid", "name last_max_id last_fetch_time", &[&["order", "500", "1700000000"]]), 501, 1),
            (
                table("sys", "collectionname start end step current", &[&["order", "0", "9", "10", "0"]]),
                0,
                10,
            ),
            (table("sys", "_id start end step current", &[&["order", "0", "9", "10", "30"]]), 30, 10),
            (
                table("sequences", "counter last_number step next_number", &[&["order", "NULL", "5", "100"]]),
                100,
                5,
            ),
            (
                table("sequences", "counter last_number step next_number", &[&["order", "20", "5", "NULL"]]),
                25,
                5,
            ),
            (
                table("sequences", "counter last_number step next_number", &[&["order", "5000", "1", "100"]]),
                5001,
                1,
            ),
            (
                table("sequences", "counter last_number step next_number", &[&["order", "100", "1", "5000"]]),
                5000,
                1,
            ),
        ];
        for (table, number, step) in cases {
            assert_eq!(next(&table), ("order".to_owned(), number, step), "{}", table.name);
        }
    }

    #[test]
    fn what_can_not_be_a_counter_is_refused_with_its_value() {
        let cases = [
            ("1", "-1", "_increment is -1: 1 to 9223372036854775807 are allowed"),
            ("x", "1", "current_value is \"x\": a whole number is expected"),
            ("-5", "1", "its next number is -4: 0 to 9223372036854775807 are allowed"),
            (
                "9223372036854775807",
                "1",
                "its next number is 9223372036854775808: 0 to 9223372036854775807 are allowed",
            ),
        ];
        for (value, step, expected) in cases {
            let table = table("sequence", "seq_name current_value _increment", &[&["order", value, step]]);
            assert_eq!(read(&[table]).remove(0).next, Err(expected.to_owned()));
        }
    }

    #[test]
    fn a_negative_document_a_null_and_a_reason_of_the_reader_are_refused() {
        let fault = |table: Table| read(&[table]).remove(0).next.unwrap_err();
        let document = |current| table("sys", "collectionname step current", &[&["order", "1", current]]);
        assert_eq!(fault(document("-5")), "its next number is -5: 0 to 9223372036854775807 are allowed");
        assert_eq!(fault(document("NULL")), "current is NULL: a whole number is expected");
        let missing = table("a", "counter last_number step", &[&["order", "NULL", "1"]]);
        assert_eq!(fault(missing), "last_number is NULL: a whole number is expected");
        let refused = table("a", "counter last_number step refused", &[&["order", "7", "1", "it cycles"]]);
        assert_eq!(fault(refused), "it cycles");
    }

    #[test]
    fn a_last_number_is_read_and_that_of_64_bits_is_none() {
        let end = |text: &str| {
            let columns = "collectionname start end step current";
            read(&[table("sys", columns, &[&["order", "0", text, "1", "5"]])]).remove(0)
        };
        assert_eq!(end("100").end, Some(100));
        assert_eq!(end("100.0").end, Some(100));
        for none in ["9223372036854775807", "NULL"] {
            assert_eq!((end(none).end, end(none).next), (None, Ok(5)));
        }
        assert_eq!(end("x").next, Err("end is \"x\": a whole number is expected".to_owned()));
        let plain = table("a", "counter last_number step end", &[&["order", "7", "1", "20"]]);
        assert_eq!(read(&[plain]).remove(0).end, Some(20));
    }

    #[test]
    fn doubles_without_a_fraction_are_numbers() {
        let current = |text: &str| {
            let table = table("sys", "collectionname step current", &[&["order", "1.0", text]]);
            read(&[table]).remove(0).next
        };
        assert_eq!((current("50.0"), current("5e3"), current("0.0")), (Ok(50), Ok(5000), Ok(0)));
        for text in ["50.5", "9007199254740992.0", "1e300", "NaN", "inf"] {
            let expected = format!("current is {text:?}: a whole number is expected");
            assert_eq!(current(text), Err(expected));
        }
    }

    #[test]
    fn a_table_with_a_counter_and_a_step_and_no_number_is_not_known() {
        let columns = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(look("progress", &columns("id counter step")), Look::Nothing);
        assert!(read(&[table("progress", "id counter step", &[&["1", "7", "2"]])]).is_empty());
        for known in ["counter step next_number", "id counter last_number step"] {
            assert_eq!(look("progress", &columns(known)), Look::Rows);
        }
    }

    #[test]
    fn of_several_rows_of_one_name_the_highest_counts() {
        let rows: &[&[&str]] = &[
            &["dup", "2000"],
            &["one", "7"],
            &["dup", "9000"],
            &["dup", "1000"],
            &["odd", "1"],
            &["odd", "x"],
        ];
        let found = read(&[table("sequence_value", "name id", rows)]);
        let numbers: Vec<_> =
            found.iter().map(|counter| (&*counter.name, counter.next.clone().ok())).collect();
        assert_eq!(numbers, [("dup", Some(9001)), ("one", Some(8)), ("odd", None)]);
        assert_eq!(found[0].note.as_deref(), Some("several rows have this name: the highest one counts"));
        assert_eq!(found[1].note, None);
    }

    #[test]
    fn a_table_of_two_common_columns_is_known_by_its_name_alone() {
        let columns = ["id", "name"].map(str::to_owned);
        assert_eq!(look("country", &columns), Look::Nothing);
        assert_eq!(look("sequence_value", &columns), Look::Rows);
        assert_eq!(look("sto_code_0", &["id", "generate_time"].map(str::to_owned)), Look::Ids);
    }
}
