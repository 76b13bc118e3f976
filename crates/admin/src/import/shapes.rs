//! Tables of systems that are known, by their columns, and the counters in them.

use sequent_engine::foreign::{Look, Table};

use super::{OldCounter, slot_tables, texts};

/// The highest number of a counter.
pub(super) const NUMBER_MAX: i128 = i64::MAX as i128;

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

/// The counters of tables, in their order. `memory_bits` are those of the program that counts in slot tables.
pub(super) fn counters(tables: &[Table], memory_bits: u32) -> Vec<OldCounter> {
    let of_table = |table: &Table| -> Vec<OldCounter> {
        let Some(shape) = shape(&table.name, &table.columns) else { return Vec::new() };
        table.rows.iter().map(|row| counter(shape, &Record { table, row })).collect()
    };
    slot_tables::joined(tables.iter().flat_map(of_table).collect(), memory_bits)
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

    /// A whole number.
    pub(super) fn number(&self, column: &str) -> Result<i128, String> {
        let number = self.text(column).trim().parse();
        number.map_err(|_| format!("{column} is {}: a whole number is expected", self.shown(column)))
    }
}

fn counter(shape: Shape, record: &Record<'_>) -> OldCounter {
    let source = record.table.name.clone();
    let named = |name: &str, step: &str, next: &dyn Fn(i128) -> Result<i128, String>| {
        let checked = step_of(record, step);
        let next = checked.clone().and_then(next).and_then(allowed);
        let step = checked.ok().and_then(|step| u64::try_from(step).ok()).unwrap_or(1);
        let name = record.text(name).to_owned();
        OldCounter { source: source.clone(), name, next, step, encoded: None, tables: None, texts: None }
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

    fn next(table: &Table) -> (String, u64, u64) {
        let counter = counters(std::slice::from_ref(table), 0).remove(0);
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
            assert_eq!(counters(&[table], 0).remove(0).next, Err(expected.to_owned()));
        }
    }

    #[test]
    fn a_negative_document_a_null_and_a_reason_of_the_reader_are_refused() {
        let fault = |table: Table| counters(&[table], 0).remove(0).next.unwrap_err();
        let document = |current| table("sys", "collectionname step current", &[&["order", "1", current]]);
        assert_eq!(fault(document("-5")), "its next number is -5: 0 to 9223372036854775807 are allowed");
        assert_eq!(fault(document("NULL")), "current is NULL: a whole number is expected");
        let missing = table("a", "counter last_number step", &[&["order", "NULL", "1"]]);
        assert_eq!(fault(missing), "last_number is NULL: a whole number is expected");
        let refused = table("a", "counter last_number step refused", &[&["order", "7", "1", "it cycles"]]);
        assert_eq!(fault(refused), "it cycles");
    }

    #[test]
    fn a_table_with_a_counter_and_a_step_and_no_number_is_not_known() {
        let columns = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(look("progress", &columns("id counter step")), Look::Nothing);
        assert!(counters(&[table("progress", "id counter step", &[&["1", "7", "2"]])], 0).is_empty());
        for known in ["counter step next_number", "id counter last_number step"] {
            assert_eq!(look("progress", &columns(known)), Look::Rows);
        }
    }

    #[test]
    fn a_table_of_two_common_columns_is_known_by_its_name_alone() {
        let columns = ["id", "name"].map(str::to_owned);
        assert_eq!(look("country", &columns), Look::Nothing);
        assert_eq!(look("sequence_value", &columns), Look::Rows);
        assert_eq!(look("sto_code_0", &["id", "generate_time"].map(str::to_owned)), Look::Ids);
    }
}
