//! Overflow: numbers of more than `w` digits.

use std::time::Duration;

use sequent_format::{CounterSpec, ObfuscationKey, RenderError, Settings, Wrap};

use crate::support::{context, format, text, with};

fn texts(template: &str, numbers: [u64; 3]) -> Vec<Result<String, RenderError>> {
    let context = context(&format(template), "2026-04-01T12:00:00Z", "");
    numbers.into_iter().map(|number| context.text(number)).collect()
}

fn all(template: &str, numbers: [u64; 3]) -> Vec<String> {
    texts(template, numbers).into_iter().map(Result::unwrap).collect()
}

#[test]
fn widen_grows() {
    assert_eq!(all("@{seq,w=5}", [99999, 100_000, 100_001]), ["99999", "100000", "100001"]);
    assert_eq!(text("@{seq,w=3,radix=36}", 46656), "1000");
    assert_eq!(text("@{seq,w=2,radix=32c}", 1023), "ZZ");
    assert_eq!(text("@{seq,w=2,radix=32c}", 1024), "100");
}

#[test]
fn error_refuses_the_number_and_gives_the_allocator_the_last_one() {
    let given = texts("@{seq,w=5,over=error}", [99999, 100_000, 100_001]);
    assert_eq!(given[0], Ok("99999".into()));
    assert_eq!(given[1], Err(RenderError::Exhausted { number: 100_000, end: 99999 }));
    let mut out = String::from("kept");
    let day = context(&format("A@{date,yyyy}-@{seq,w=2,over=error}"), "2026-04-01T12:00:00Z", "");
    assert!(day.render(100, &mut out).is_err());
    assert_eq!(out, "kept");
    assert_eq!(format("@{seq,w=5,over=error}").counter_spec().end, 99999);
    assert_eq!(format("@{seq,w=5,wmax=6}").counter_spec().end, 999_999);
    assert_eq!(format("@{seq,w=5,end=40}").counter_spec().end, 40);
    let beyond = format("@{seq,w=3,over=error,end=5000}");
    assert_eq!((beyond.counter_spec().end, beyond.warnings().len()), (999, 1));
    let told = beyond.warnings()[0].to_string();
    assert!(told.contains("end is 5000, and 999 is the last number that has a text"), "{told}");
    assert!(format("@{seq,w=3,over=error,end=999}").warnings().is_empty());
    assert_eq!(format("@{seq,w=5,maxn=40,start=10,step=10}").counter_spec().capacity, 4);
}

#[test]
fn wrap_starts_a_new_round_if_texts_may_be_reused() {
    let wrapped = all("@{seq,w=5,over=wrap,reuse_after=24mo}", [99999, 100_000, 100_001]);
    assert_eq!(wrapped, ["99999", "00001", "00002"]);
    let counter = format("@{seq,w=5,over=wrap,reuse_after=24mo}").counter_spec();
    let wrap = Wrap { cycle: 99999, reuse_after: Duration::from_hours(24 * 31 * 24) };
    assert_eq!((counter.wrap, counter.end), (Some(wrap), i64::MAX as u64));
    assert_eq!(
        all("@{seq,w=2,start=10,step=30,over=wrap,reuse_after=1d}", [70, 100, 130]),
        ["70", "10", "40"]
    );
    // Without `reuse_after` a period has one round: a second one would repeat its texts.
    let day = format("@{date,yyyyMMdd}@{seq,w=5,over=wrap}");
    assert_eq!((day.counter_spec().end, day.counter_spec().wrap), (99999, None));
    let context = context(&format("@{seq,w=1,start=5,over=wrap,reuse_after=1h}"), "2026-04-01T12:00:00Z", "");
    assert_eq!(context.text(4), Err(RenderError::Number { number: 4, start: 5 }));
}

#[test]
fn the_highest_number_has_a_text() {
    let top = i64::MAX as u64;
    assert_eq!(text("@{seq}", top), "9223372036854775807");
    assert_eq!(text("@{seq,radix=36}", top), "1Y2P0IJ32E8E7");
    assert_eq!(text("@{seq,radix=62}", top), "AzL8n0Y58m7");
    assert_eq!(text("@{seq,radix=01}", top).len(), 63);
    assert_eq!(text("@{seq,w=20}", top), "09223372036854775807");
    let context = context(&format("@{seq}"), "2026-04-01T12:00:00Z", "");
    assert!(matches!(context.text(top + 1), Err(RenderError::Number { .. })));
    assert_eq!(format("@{seq}").max_len(), 19);
    assert!(format("@{seq}").decode("9223372036854775808").is_err());
}

#[test]
fn each_length_is_a_permutation() {
    let keys = [("k".to_owned(), ObfuscationKey::new(&[7; 16]).unwrap())].into();
    let format = with("@{seq,w=6,obf=ff1:k}", Settings { keys, ..Settings::default() });
    let context = context(&format, "2026-04-01T12:00:00Z", "");
    for (number, length) in [(1, 6), (2, 6), (999_999, 6), (1_000_000, 7), (9_999_999, 7), (10_000_000, 8)] {
        let text = context.text(number).unwrap();
        assert_eq!(text.len(), length);
        assert_eq!(format.decode(&text).unwrap().number, number);
    }
    // A text of seven digits whose number has fewer digits is not a text of the template.
    let foreign = (0..4000).map(|n| format!("{n:07}")).filter(|text| format.decode(text).is_err()).count();
    assert!(foreign > 200, "a tenth of them: {foreign}");
}

#[test]
fn the_warning_refers_to_the_planned_width() {
    let warn_at = |template: &str| format(template).counter_spec().warn_at;
    assert_eq!(warn_at("@{seq,w=5,warn=90%,over=error}"), Some(90000));
    assert_eq!(warn_at("@{seq,w=5,warn=90%}"), Some(90000));
    assert_eq!(warn_at("@{seq,w=5,end=1000,warn=90%}"), Some(900));
    assert_eq!(warn_at("@{seq,w=5}"), None);
}

#[test]
fn a_counter_has_all_numbers_by_default() {
    let CounterSpec { start, step, end, capacity, .. } = format("@{seq}").counter_spec();
    assert_eq!((start, step, end, capacity), (1, 1, i64::MAX as u64, i64::MAX as u64));
}
