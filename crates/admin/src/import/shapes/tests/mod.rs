//! Tests of the shapes of known tables.

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

fn known(table: &str, columns: &[String]) -> Look {
    look(table, columns, &TableFormat::default())
}

fn next(table: &Table) -> (String, u64, u64) {
    let counter = read(std::slice::from_ref(table)).remove(0);
    (counter.name, counter.next.unwrap(), counter.step)
}

#[test]
fn a_part_of_the_numbers_of_tinyid_says_that_other_databases_have_the_rest() {
    for (delta, is_told) in [("1", false), ("2", true), ("NULL", false)] {
        let tiny = table("tiny_id_info", "biz_type max_id step delta", &[&["order", "100", "100", delta]]);
        let counter = read(&[tiny]).remove(0);
        assert_eq!(counter.next, Ok(101));
        assert_eq!(counter.note.is_some_and(|note| note.contains("other databases")), is_told, "{delta}");
    }
}

#[test]
fn each_system_goes_on_where_it_is() {
    let cases = [
        (table("sequence", "seq_name current_value _increment", &[&["order", "48231", "10"]]), 48_241, 10),
        (table("sequence_value", "name id", &[&["order", "2000"]]), 2_001, 1),
        (table("jd_rowbased_sequence", "owner_key current_value", &[&["order", "7"]]), 8, 1),
        (table("leaf_alloc", "biz_tag max_id step description", &[&["order", "2001", "2000", ""]]), 2_001, 1),
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
        (table("sys", "collectionname start end step current", &[&["order", "0", "9", "10", "0"]]), 0, 10),
        (table("sys", "_id start end step current", &[&["order", "0", "9", "10", "30"]]), 30, 10),
        (
            table("sequences", "counter last_number step next_number", &[&["order", "NULL", "5", "100"]]),
            100,
            5,
        ),
        (table("sequences", "counter last_number step next_number", &[&["order", "20", "5", "NULL"]]), 25, 5),
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
    assert_eq!(known("progress", &columns("id counter step")), Look::Nothing);
    assert!(read(&[table("progress", "id counter step", &[&["1", "7", "2"]])]).is_empty());
    for columns_known in ["counter step next_number", "id counter last_number step"] {
        assert_eq!(known("progress", &columns(columns_known)), Look::Rows);
    }
}

#[test]
fn a_table_with_further_columns_is_known_by_the_name_of_a_slot_table() {
    let columns = ["id", "src", "generate_time"].map(str::to_owned);
    let named = |table, format: &str| look(table, &columns, &format.parse().unwrap());
    assert_eq!(named("orders", "%s_code_%d"), Look::Nothing);
    assert_eq!(named("sto_code_3", "%s_code_%d"), Look::Ids);
    assert_eq!(
        (named("t_sto_3_x", "t_%s_%d_x"), named("t_sto_3_x", "%s_code_%d")),
        (Look::Ids, Look::Nothing)
    );
}

#[test]
fn of_several_rows_of_one_name_the_highest_counts() {
    let rows: &[&[&str]] =
        &[&["dup", "2000"], &["one", "7"], &["dup", "9000"], &["dup", "1000"], &["odd", "1"], &["odd", "x"]];
    let found = read(&[table("sequence_value", "name id", rows)]);
    let numbers: Vec<_> = found.iter().map(|counter| (&*counter.name, counter.next.clone().ok())).collect();
    assert_eq!(numbers, [("dup", Some(9001)), ("one", Some(8)), ("odd", None)]);
    assert_eq!(found[0].note.as_deref(), Some("several rows have this name: the highest one counts"));
    assert_eq!(found[1].note, None);
}

#[test]
fn a_table_of_two_common_columns_is_known_by_its_name_alone() {
    let columns = ["id", "name"].map(str::to_owned);
    assert_eq!(known("country", &columns), Look::Nothing);
    assert_eq!(known("sequence_value", &columns), Look::Rows);
    assert_eq!(known("sto_code_0", &["id", "generate_time"].map(str::to_owned)), Look::Ids);
}

#[test]
fn a_document_below_its_start_is_refused_and_one_that_gave_nothing_begins_there() {
    let next = |current: &str| {
        let table = table("sys", "_id start end step current", &[&["order", "1000", "9999", "1", current]]);
        read(&[table]).remove(0).next
    };
    assert_eq!((next("0"), next("1000"), next("1500")), (Ok(1000), Ok(1000), Ok(1500)));
    assert_eq!(next("500"), Err("current is 500, and start is 1000: at least start is expected".to_owned()));
}

#[test]
fn a_rule_says_plainly_whether_it_shows_a_date() {
    let template = |word: &str| {
        let table = table("rule", "key base cur pre needtime", &[&["r", "100", "5", "P", word]]);
        let counter = read(&[table]).remove(0);
        counter.next.map(|_| counter.texts.unwrap().template)
    };
    assert_eq!(template("True"), Ok("P@{date,yyyyMMdd}@{seq,reset=never}".to_owned()));
    assert_eq!(template("false"), Ok("P@{seq}".to_owned()));
    assert_eq!(template("1"), Err("needTime is \"1\": true or false is expected".to_owned()));
}
