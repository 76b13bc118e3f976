//! Hostile input: it is refused with the limit, without a panic and quickly.

use proptest::prelude::*;
use sequent_format::{Settings, Template, limits};

use crate::support::{at, format, values};

#[test]
fn a_template_of_64_kb_is_refused_with_the_bound() {
    for filler in ["x", "@", "@@", "@{seq}", "@{ctx,a,re=", "\"", "京"] {
        let template = filler.repeat(65536 / filler.len());
        let error = Template::parse(&template).unwrap_err().to_string();
        assert!(error.contains("at most 4096 are allowed"), "{filler}: {error}");
    }
}

#[test]
fn ten_thousand_parts_are_refused_with_a_bound() {
    assert!(Template::parse(&"@{a}".repeat(10_000)).unwrap_err().to_string().contains("at most 4096"));
    let error = Template::parse(&"@{seq,w=1}".repeat(400)).unwrap_err().to_string();
    assert!(error.contains(&format!("at most {} are allowed", limits::PARTS_MAX)), "{error}");
    let error = Template::parse(&format!("@{{seq{}}}", ",a=b".repeat(500))).unwrap_err().to_string();
    assert!(error.contains("at most 16 are allowed"), "{error}");
}

#[test]
fn parts_do_not_nest() {
    let deep = "@{ctx,".repeat(600) + &"}".repeat(400);
    assert!(Template::parse(&deep).unwrap_err().to_string().contains("parts do not nest"));
    let groups = format!("@{{ctx,a,re=\"{}x{}\"}}@{{seq}}", "(".repeat(120), ")".repeat(120));
    assert!(Template::parse(&groups).unwrap_err().to_string().contains("nest"));
    let repeats = "@{ctx,a,re=\"((((x{99}){99}){99}){99}){99}\"}@{seq}";
    assert!(Template::parse(repeats).unwrap_err().to_string().contains("size limit"));
}

#[test]
fn all_expressions_of_a_template_share_one_limit() {
    let of = |count: usize, re: &str| {
        let part = |n| format!("@{{ctx,c{n},len=1,re=\"{re}\"}}");
        Template::parse(&((0..count).map(part).collect::<String>() + "@{seq}"))
    };
    let error = of(62, r"\w{1,4}").unwrap_err().to_string();
    assert!(error.contains(&format!("at most {} are allowed", limits::RE_WEIGHT_MAX)), "{error}");
    assert!(of(2, r"\w{1,4}").is_ok() && of(62, "[0-9A-Z]").is_ok());
}

#[test]
fn invisible_characters_are_refused() {
    for odd in [
        "\u{202e}",
        "\u{200b}",
        "e\u{301}",
        "\u{feff}",
        "\0",
        "\n",
        "\t",
        "\u{a0}",
        "\u{2028}",
        "\u{1f468}\u{200d}\u{1f469}",
    ] {
        for template in [
            format!("A{odd}@{{seq}}"),
            format!("@{{key,\"A{odd}\"}}@{{seq}}"),
            format!("@{{date,yyyy'{odd}'}}@{{seq}}"),
        ] {
            assert!(Template::parse(&template).is_err(), "{template:?}");
        }
        let given = sequent_format::Values::new().with("a", format!("A{odd}"));
        assert!(
            format("@{ctx,a,max=9}-@{seq,over=error}").context(at("2026-04-01T12:00:00Z"), &given).is_err(),
            "{odd:?}"
        );
    }
}

#[test]
fn a_value_of_a_megabyte_is_refused_and_not_repeated() {
    let format = format("@{ctx,a,re=[0-9]+}-@{date,yyyyMMdd,at=day}-@{seq,w=3}");
    let long = "9".repeat(1 << 20);
    let given = |name: &str, value: &str| {
        let values = sequent_format::Values::new().with("a", "1").with("day", "2026-04-01").with(name, value);
        format.context(at("2026-04-01T12:00:00Z"), &values).unwrap_err().to_string()
    };
    for error in [given("a", &long), given("day", &long), given(&long, "x")] {
        assert!(error.len() < 300, "{error}");
    }
}

#[test]
fn sixty_derived_parts_that_read_everything_before_them_render() {
    let template = format!("@{{seq,w=5,over=error}}{}", "@{check,damm}".repeat(60));
    let format = format(&template);
    let text = format.context(at("2026-04-01T12:00:00Z"), &values("")).unwrap().text(1).unwrap();
    assert_eq!(text.len(), 65);
    assert_eq!(format.decode(&text).unwrap().number, 1);
    let backwards: Vec<String> =
        (0..60).map(|at| format!("@{{fn,last,n=1,over=p{},id=p{at}}}", at + 1)).collect();
    let backwards = backwards.concat();
    let format = self::format(&format!("{backwards}@{{seq,w=5,id=p60}}"));
    assert_eq!(
        format.context(at("2026-04-01T12:00:00Z"), &values("")).unwrap().text(7).unwrap(),
        "7".repeat(60) + "00007"
    );
}

/// Pieces of templates.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "@{",
        "}",
        ",",
        "=",
        "\"",
        "@",
        "seq",
        "ctx",
        "date",
        "check",
        "fn",
        "key",
        "over=left",
        "re=",
        "(",
        "[a",
        "w=9",
        "damm",
        "yyyy",
        "'",
        "京",
        "\u{301}",
        " ",
        "+",
        "id=a",
        "over=a",
    ];
    prop_oneof![
        prop::sample::select(words.to_vec()).prop_map(str::to_owned),
        any::<String>(),
        any::<char>().prop_map(|c| c.to_string()),
    ]
}

proptest! {
    #[test]
    fn any_template_is_parsed_or_refused(pieces in prop::collection::vec(piece(), 0..40)) {
        let text = pieces.concat();
        match Template::parse(&text) {
            Err(error) => prop_assert!(error.column >= 1 && error.column <= text.chars().count() + 1, "{text:?}: {error}"),
            Ok(template) => drop(template.analyze(&Settings::default())),
        }
    }

    #[test]
    fn any_text_is_decoded_or_refused(text in any::<String>(), digits in "[0-9A-Z/ -]{0,40}") {
        for template in [
            "@{ctx,a,re=[A-Z]+}-@{date,FS-FE,fy=04-01}-@{seq,w=4}@{check,mod37-36}",
            "@{seq,w=6,radix=62}",
            "@{ctx,a,re=[0-9]*}/@{ctx,b,re=[0-9A-Z]*}-@{seq}@{date,yyyyDDDHH}",
        ] {
            let format = format(template);
            for text in [&text, &digits] {
                if let Ok(parsed) = format.decode(text) {
                    prop_assert_eq!(&parsed.text, text);
                }
            }
        }
    }
}
