//! `sequent import` of files that are not as they should be.

use std::process::Command;

use crate::place::Place;

/// A file of SQLite with what the statements make.
fn sqlite(place: &Place, statements: &str) {
    let script =
        format!("import sqlite3; c = sqlite3.connect('shop.db'); c.executescript('''{statements}''')");
    let made = Command::new("python3").args(["-c", &script]).current_dir(place.path(".")).status();
    assert!(made.unwrap().success());
}

#[test]
fn texts_of_the_other_system_neither_command_a_terminal_nor_break_a_line() {
    let place = Place::new();
    place.write("a.csv", "counter,last_number,step\n\"seq:\u{1b}[31mred\",41,1\n");
    place.write(
        "b.json",
        r#"{"code": "doc", "prefix": "P\nQ\t", "datetype": "", "infix": "", "indexlength": 6, "suffix": "", "maxdate": "",
            "maxindex": 4}"#,
    );
    for more in [&[][..], &["--verify", "--watch-s", "0"]] {
        let ran = place.run(&[&["import", "a.csv", "--map", "seq:*=red"], more].concat());
        assert!(ran.out.contains("seq:\\u001b[31mred") && !ran.out.contains('\u{1b}'), "{ran:?}");
    }
    let plan = place.run(&["import", "b.json"]);
    assert!(plan.out.contains("P\\u000aQ\\u0009@{seq,w=6}"), "{plan:?}");
    assert_eq!(plan.out.lines().count(), 4, "a head, a counter, nothing, and the sum: {plan:?}");
}

#[test]
fn a_file_of_another_form_is_told_as_that_and_not_to_be_removed() {
    let place = Place::new();
    place.write("counters.txt", &"counter,last_number,step\norder,41,1\n".repeat(9));
    let ran = place.run(&["import", "counters.txt"]).refused(1, &["counters.txt", "*.csv, *.json", "SQLite"]);
    assert!(!ran.err.contains("remove") && !ran.err.contains("damaged"), "{}", ran.err);
}

#[test]
fn a_row_that_is_not_utf8_is_refused_and_the_others_go_on() {
    let place = Place::new();
    sqlite(
        &place,
        "create table a(owner_key text, current_value integer); insert into a values ('order', 7); \
         insert into a values (cast(x'78ff' as text), 9);",
    );
    let ran = place.run(&["import", "shop.db", "--json", "--yes"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let report = ran.as_json();
    let told = |at: usize, field: &str| report["counters"][at][field].as_str().unwrap_or_default().to_owned();
    assert_eq!((told(0, "counter"), told(0, "action")), ("order".to_owned(), "define".to_owned()));
    assert_eq!((told(1, "counter"), told(1, "action")), ("x\u{fffd}".to_owned(), "refused".to_owned()));
    assert!(told(1, "note").contains('\u{fffd}'), "{report}");
}

#[test]
fn a_table_with_a_counter_and_a_step_and_no_number_is_passed_over() {
    let place = Place::new();
    sqlite(
        &place,
        "create table progress(id integer primary key, counter integer, step integer); insert into progress values (1, 7, 2); \
         create table a(owner_key text, current_value integer); insert into a values ('order', 7);",
    );
    let report = place.json(&["import", "shop.db", "--json"]);
    assert_eq!(report["counters"].as_array().unwrap().len(), 1, "{report}");
    place.write("short.csv", "counter,step\norder,1\n");
    place.run(&["import", "short.csv"]).refused(1, &["counter, last_number, step are expected"]);
}

#[test]
fn no_digit_of_a_real_and_no_record_after_a_quote_is_lost() {
    let place = Place::new();
    sqlite(
        &place,
        "CREATE TABLE cosid (name text, last_max_id real); INSERT INTO cosid VALUES (\"cos\", 1234567890123454.0);",
    );
    let planned = place.json(&["import", "shop.db", "--json"]);
    assert_eq!(planned["counters"][0]["start"], "1234567890123455", "{planned}");
    place.write("q.csv", "counter,last_number,step,note\na,5,1,12\" pipe\nb,6,1,x\nc,7,1,3\" pipe\n");
    place.run(&["import", "q.csv"]).refused(1, &["record 2 has a quote within a field"]);
    place.write("q.csv", "counter,last_number,step,note\na,5,1,\"pipe\nb,6,1,x\nc,7,1,\"y\nd,8,1,z\n");
    place.run(&["import", "q.csv"]).refused(1, &["record 2 has a quote within a field"]);
    place.write("q.csv", "counter,last_number,step,note\na,5,1,\"12\"\" pipe\"\nb,6,1,\"\"\n");
    assert_eq!(place.json(&["import", "q.csv", "--json"])["counters"].as_array().unwrap().len(), 2);
}
