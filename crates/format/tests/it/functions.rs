//! Functions: two built-in ones, registered ones, and errors of those that break their promise.

use sequent_format::{Function, Registry, RenderError, Settings, Template};

use crate::support::{context, format, refused, text, with};

fn registry() -> Settings {
    let registry = Registry::default()
        .with("Liar", |_| Ok(Function::new(1..=2, "0-9", |_, out| out.write_str("abc"))))
        .with("Mute", |_| Ok(Function::new(1..=2, "0-9", |_, _| Ok(()))))
        .with("Odd", |_| Ok(Function::new(1..=2, "0-9", |_, out| out.write_str("x"))))
        .with("Echo", |args| {
            let most = usize::try_from(args.number("most", 1..=20)?).unwrap_or(1);
            Ok(Function::new(1..=most, "0-9", |input, out| out.write_str(input.trim_start_matches('0'))))
        });
    Settings { registry, ..Settings::default() }
}

#[test]
fn built_in_functions() {
    assert_eq!(text("A@{seq,w=4,id=n}-@{fn,mod,over=n,by=97}", 1234), "A1234-70");
    assert_eq!(text("A@{seq,w=4,id=n}-@{fn,mod,over=n,by=9,w=3}", 1234), "A1234-001");
    assert_eq!(text("A@{seq,w=1,id=n}-@{fn,last,over=n,n=3}", 1234), "A1234-234");
    assert_eq!(text("A@{seq,w=1,id=n}-@{fn,last,over=n,n=3}", 7), "A7-007");
}

#[test]
fn derived_parts_may_read_each_other_in_any_order() {
    let template = "@{check,damm,over=a+n,id=c}@{fn,last,over=c,n=1,id=a}X@{seq,w=3,id=n}";
    assert!(Template::parse(template).unwrap_err().what.contains("depends on itself"));
    let late = "@{check,luhn,over=a+n,id=c}@{fn,last,over=n,n=2,id=a}X@{seq,w=3,id=n}@{check,mod97-10}";
    let format = format(late);
    for number in [1, 42, 999, 1000, 123_456_789] {
        let text = context(&format, "2026-04-01T12:00:00Z", "").text(number).unwrap();
        assert!(text[1..].starts_with(&format!("{:02}X{number:03}", number % 100)), "{text}");
        assert_eq!(format.decode(&text).unwrap().number, number);
    }
}

#[test]
fn a_function_that_breaks_its_promise_gives_no_text() {
    let format = with("A@{seq,w=3,over=error}@{fn,Liar}", registry());
    let context = context(&format, "2026-04-01T12:00:00Z", "");
    let mut out = String::from("kept");
    let error = context.render(1, &mut out).unwrap_err();
    assert!(matches!(&error, RenderError::Function { given, .. } if given == "abc"));
    assert_eq!(out, "kept");
    for name in ["Mute", "Odd"] {
        let format = with(&format!("A@{{seq,w=3,over=error}}@{{{name}}}"), registry());
        let error = self::context(&format, "2026-04-01T12:00:00Z", "").text(1).unwrap_err();
        assert!(error.to_string().ends_with("1 to 2 characters of [0-9] were promised"), "{error}");
    }
}

#[test]
fn a_function_of_variable_length_must_stand_after_its_input() {
    let settings = registry();
    let error = refused("@{fn,Echo,most=9,over=n}-@{seq,w=3,id=n,over=error}", &settings);
    assert!(error.contains("stands before its input"), "{error}");
    let format = with("@{seq,w=3,id=n,over=error}-@{fn,Echo,most=9,over=n}", settings);
    assert_eq!(context(&format, "2026-04-01T12:00:00Z", "").text(42).unwrap(), "042-42");
    assert_eq!(format.decode("042-42").unwrap().number, 42);
    assert!(format.decode("042-43").is_err());
}
