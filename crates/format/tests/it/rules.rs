//! Each rule refuses its example, shows what would collide and how to fix it, and accepts the fixed template.

use sequent_format::{ObfuscationKey, Placement, Rule, Settings, Template, Unique};

use crate::support::{context, format, refused, unique, with};

/// Checks that one rule refuses a template in these words, and that the fixed template is accepted.
fn rule(rule: Rule, template: &str, settings: &Settings, says: &[&str], fixed: &str) {
    let error = Template::parse(template).unwrap().analyze(settings).expect_err(template);
    assert!(error.faults.iter().all(|fault| fault.rule == rule), "{template}: {error}");
    for words in says {
        assert!(error.to_string().contains(words), "{template}: {error}\nlacks: {words}");
    }
    with(fixed, settings.clone());
}

#[test]
fn s1_refuses_two_parts_of_variable_length_without_a_boundary() {
    let one_and_ten = [
        "ctx store = \"1\" with seq o = \"111111111\" and ctx store = \"11\" with seq o = \"11111111\" both give \"1111111111\"",
        "give store a len=",
    ];
    let none = Settings::default();
    rule(Rule::S1, "@{ctx,store}@{seq,o,w=8}", &none, &one_and_ten, "@{ctx,store,len=2}@{seq,o,w=8}");
    rule(
        Rule::S1,
        "@{ctx,a}-@{seq,w=3}",
        &none,
        &["ctx a = \"1-1\" with seq = \"111\" give \"1-1-111\", which contains it twice"],
        "@{ctx,a,re=[^-]+}-@{seq,w=3}",
    );
    rule(
        Rule::S1,
        "@{ctx,a,re=[A-Z-]+}--@{ctx,b,re=[A-Z-]+}@{seq,w=3,over=error}",
        &none,
        &["ctx a = \"A\" with ctx b = \"-A\" and ctx a = \"A-\" with ctx b = \"A\" both give \"A---A\""],
        "@{ctx,a,re=[A-Z]+}--@{ctx,b,re=[A-Z]+}@{seq,w=3,over=error}",
    );
    // Row 9 of the page without its re=.
    rule(
        Rule::S1,
        "@{ctx,entity}-EXPENSE-@{seq,exp,w=4}",
        &none,
        &[
            "ctx entity = \"1-EXPENSE-1\" with seq exp = \"1111\" give \"1-EXPENSE-1-EXPENSE-1111\", which contains it twice",
            "give entity a len=",
        ],
        "@{ctx,entity,re=[A-Z]+}-EXPENSE-@{seq,exp,w=4}",
    );
    rule(
        Rule::S1,
        "@{ctx,a}-X-@{ctx,b}/@{seq,w=3,over=error}",
        &none,
        &["ctx a = \"1\" with ctx b = \"X-1\" and ctx a = \"1-X\" with ctx b = \"1\" both give \"1-X-X-1\""],
        "@{ctx,a,re=[A-Z]+}-X-@{ctx,b,re=[A-Z]+}/@{seq,w=3,over=error}",
    );
    // Examples obey the expressions of values, and dates between are valid.
    rule(
        Rule::S1,
        "@{ctx,a,re=([0-9][0-9])+}@{date,MM,at=d}@{ctx,b,re=([0-9][0-9])+}@{seq,w=3,over=error}",
        &none,
        &[
            "ctx a = \"11\" with ctx b = \"1111\" and ctx a = \"1111\" with ctx b = \"11\" both give \"11111111\"",
        ],
        "@{ctx,a,len=2}@{date,MM,at=d}@{ctx,b,re=([0-9][0-9])+}@{seq,w=3,over=error}",
    );
    // Three parts vary in length. The first two have a boundary from the right only, the last two from the left only.
    rule(
        Rule::S1,
        "@{ctx,a,re=[0-9]+}@{ctx,x,len=1}-@{ctx,b,re=[0-9]*}-@{ctx,y,len=1}@{seq}",
        &none,
        &[
            "ctx x = \"1\"",
            "ctx y = \"-\" with seq = \"11\" and ctx a = \"11\" with ctx x = \"-\"",
            "both give \"11---11\"",
        ],
        "@{ctx,a,re=[0-9]+}@{ctx,x,len=1,re=[A-Z]}-@{ctx,b,re=[0-9]*}-@{ctx,y,len=1}@{seq}",
    );
    rule(Rule::S1, "@{seq,w=3,pad=1}", &none, &["pad '1' is also a digit"], "@{seq,w=3,pad=*}");
}

#[test]
fn s1_shows_a_common_text_of_two_finite_lists() {
    rule(
        Rule::S1,
        "@{ctx,l,map=a:A;b:AB}@{ctx,m,map=a:C;b:BC}@{seq,w=3}",
        &Settings::default(),
        &["ctx l = \"A\" with ctx m = \"BC\" and ctx l = \"AB\" with ctx m = \"C\" both give \"ABC\""],
        "@{ctx,l,map=a:AA;b:AB}@{ctx,m,map=a:CC;b:BC}@{seq,w=3}",
    );
    // An expression of few matches is a finite list, too.
    for right in ["@{ctx,m,re=\"BC|C\"}", "@{ctx,m,map=a:C;b:BC}"] {
        let template = format!("@{{ctx,l,re=\"A|AB\"}}{right}-@{{seq,w=4}}");
        let both =
            "ctx l = \"A\" with ctx m = \"BC\" and ctx l = \"AB\" with ctx m = \"C\" both give \"ABC\"";
        let fixed = template.replace("A|AB", "A|B");
        rule(Rule::S1, &template, &Settings::default(), &[both], &fixed.replace("@{ctx,l", "@{ctx,l,len=1"));
    }
}

#[test]
fn s1_refuses_padding_that_is_decoded_as_another_character() {
    let none = Settings::default();
    for (pad, says) in [
        ('x', "pad 'x' is decoded as the digit 'X'"),
        ('L', "pad 'L' is decoded as the digit '1'"),
        ('O', "pad 'O' is decoded as the digit '0'"),
        ('o', "pad 'o' is decoded as the digit '0'"),
        ('X', "pad 'X' is also a digit"),
        ('u', "pad 'u' is decoded as 'U'"),
    ] {
        let template = format!("C@{{seq,w=5,radix=32c,pad={pad},over=error}}");
        rule(Rule::S1, &template, &none, &[says, "leave pad out"], "C@{seq,w=5,radix=32c,pad=*,over=error}");
    }
    // Only Crockford's base 32 has more than one spelling.
    for accepted in ["C@{seq,w=5,radix=16,pad=x}", "C@{seq,w=5,pad=L}", "C@{seq,w=5,radix=32c,pad=U}"] {
        format(accepted);
    }
}

#[test]
fn s1_accepts_disjoint_neighbours_and_separators_anywhere_between() {
    for (accepted, given, text) in [
        ("@{ctx,a,re=[A-Z]+}@{seq,w=3}", "a=XY", "XY1000"),
        ("@{seq,w=3}@{ctx,a,re=[A-Z]+}", "a=XY", "1000XY"),
        ("@{ctx,a,re=[a-z]+}/@{ctx,b,re=[a-z]*}-@{seq,w=3}", "a=x b=", "x/-1000"),
        (
            "@{ctx,a,re=[0-9]+}@{date,yyyy-MM}@{ctx,b,re=[A-Z0-9]+}@{seq,w=4,over=error}",
            "a=12 b=7B",
            "122026-047B1000",
        ),
        (
            "@{ctx,a,re=[0-9]+}@{ctx,x,len=2}-@{ctx,b,re=[A-Z0-9]+}-@{seq,w=4}",
            "a=12 x=-9 b=7B",
            "12-9-7B-1000",
        ),
        (
            "@{ctx,a,re=[0-9]+}@{ctx,x,len=2}-@{ctx,b,re=[A-Z0-9]+}@{ctx,y,len=1}/Z@{seq,w=4}",
            "a=12 x=-9 b=7B y=/",
            "12-9-7B//Z1000",
        ),
        ("@{ctx,a,re=[0-9]+}-@{ctx,x,len=2}@{seq,w=4}", "a=12 x=-9", "12--91000"),
    ] {
        let format = format(accepted);
        let values = given.split(' ').map(|pair| pair.split_once('=').unwrap()).collect();
        let context = format.context("2026-04-01T12:00:00Z".parse().unwrap(), &values).unwrap();
        assert_eq!(context.text(1000).unwrap(), text, "{accepted}");
        let parsed = format.decode(text).unwrap();
        assert_eq!(parsed.number, 1000, "{accepted}");
        assert_eq!(
            parsed.partition,
            context.partition().map(|(n, v)| (n.to_owned(), v.to_owned())).collect::<Vec<_>>()
        );
    }
}

#[test]
fn s2_refuses_a_key_that_is_not_in_the_text() {
    let says =
        ["company=A and company=B each count from 1 and render the same texts", "show company", "by=no"];
    let none = Settings::default();
    rule(
        Rule::S2,
        "SO-@{ctx,company,show=no}@{seq,w=4}",
        &none,
        &says,
        "SO-@{ctx,company,show=no,by=no}@{seq,w=4}",
    );
    let map = ["c=\"ACME\" and c=\"Acorn\" have counters of their own but are both shown as \"AC\""];
    rule(
        Rule::S2,
        "@{ctx,c,map=ACME:AC;Acorn:AC}@{seq,w=4}",
        &none,
        &map,
        "@{ctx,c,map=ACME:AC;Acorn:AO}@{seq,w=4}",
    );
    with("SO-@{ctx,company,show=no}@{seq,w=4}", unique(Unique::Partition));
}

#[test]
fn s3_refuses_a_date_that_does_not_determine_the_period() {
    let none = Settings::default();
    let says = ["2024-01-01 and 2024-02-01 both show \"2024\"", "show yyyyMM"];
    rule(
        Rule::S3,
        "@{date,yyyy}-@{seq,w=4,reset=month}",
        &none,
        &says,
        "@{date,yyyyMM}-@{seq,w=4,reset=month}",
    );
    let fiscal = ["2024-01-01 and 2024-07-01 both show \"2024\"", "FS-FE"];
    rule(
        Rule::S3,
        "@{date,yyyy}-@{seq,w=4,reset=fy,fy=07-01}",
        &none,
        &fiscal,
        "@{date,FFFF}-@{seq,w=4,reset=fy,fy=07-01}",
    );
    let week = ["2024-01-01 and 2024-12-30 both show \"2024-01\"", "GGGG"];
    rule(Rule::S3, "@{date,yyyy-WW}-@{seq,w=4}", &none, &week, "@{date,GGGG-WW}-@{seq,w=4}");
    rule(Rule::S3, "@{seq,w=4,reset=day}", &none, &["no date is shown"], "@{seq,w=4,reset=never}");
    rule(
        Rule::S3,
        "@{date,MMdd}@{seq,w=4}",
        &none,
        &["2024-01-01 and 2025-01-01 both show \"0101\""],
        "@{date,yyMMdd}@{seq,w=4}",
    );
    rule(
        Rule::S3,
        "@{date,yyyyMMdd}@{seq,w=4,reset=hour}",
        &none,
        &["T00:00:00 and 2024-01-01T01:00:00"],
        "@{date,yyyyMMddHH}@{seq,w=4,reset=hour}",
    );
    rule(
        Rule::S3,
        "@{date,FFFFDDD}-@{seq,w=4,reset=day,fy=04-01}",
        &none,
        &["2027-04-01 and 2028-03-31 both show \"2028091\""],
        "@{date,yyyyDDD}-@{seq,w=4,reset=day,fy=04-01}",
    );
    let by_value = ["a date with at= has its own counter"];
    rule(
        Rule::S3,
        "@{date,yyyy,at=doc}-@{seq,w=4,reset=year}",
        &none,
        &by_value,
        "@{date,yyyy,at=doc}-@{seq,w=4}",
    );
    with("@{seq,w=4,reset=day}", unique(Unique::Period));
}

#[test]
fn s4_refuses_a_reset_every_second() {
    let says = ["reset=second would reset to 1 every second", "reset=hour"];
    let none = Settings::default();
    rule(
        Rule::S4,
        "@{date,yyyyMMddHHmmss}@{seq,w=4,reset=second}",
        &none,
        &says,
        "@{date,yyyyMMddHHmmss}@{seq,w=4}",
    );
    // By default the counter resets with the finest unit shown, at most daily.
    for (pattern, reset) in [
        ("yyyyMMddHHmmss", "day"),
        ("yyyyDDD", "day"),
        ("yyyyMM", "month"),
        ("yyyyQ", "quarter"),
        ("GGGGWW", "isoweek"),
        ("FS", "fy"),
        ("yy", "year"),
    ] {
        assert_eq!(format(&format!("@{{date,{pattern}}}-@{{seq}}")).reset().to_string(), reset, "{pattern}");
    }
    let warned = format("@{date,yyyyMMdd}@{seq,w=8,reset=never}");
    assert!(warned.warnings()[0].to_string().starts_with("S4, column 27: the text shows a date"));
}

#[test]
fn s5_refuses_texts_longer_than_maxlen() {
    let india = Settings { maxlen: 16, ..Settings::default() };
    let says = [
        "the longest text has 29 characters: maxlen allows 16",
        "seq gst may grow from 6 to 19 characters: over=error",
    ];
    rule(
        Rule::S5,
        "INV/@{date,FS-FE,fy=04-01}/@{seq,gst,w=6}",
        &india,
        &says,
        "INV/@{date,FS-FE,fy=04-01}/@{seq,gst,w=6,wmax=6}",
    );
    let values = "@{ctx,a}-@{ctx,b,re=[^-]+}-@{ctx,c,max=60,re=[^-]+}-@{seq}";
    let error = refused(&values.replace("@{ctx,a}", "@{ctx,a,re=[^-]+}"), &Settings::default());
    assert!(
        error.contains("has 146 characters: maxlen allows 128") && error.contains("give c a len= or max="),
        "{error}"
    );
}

#[test]
fn s6_refuses_texts_that_repeat() {
    let says = ["after 99999999 comes 1 again, and its text is in use already", "reuse_after=24mo"];
    let none = Settings::default();
    rule(Rule::S6, "RR@{seq,w=8,over=wrap}GB", &none, &says, "RR@{seq,w=8,over=wrap,reuse_after=24mo}GB");
    with("RR@{date,yyyy}@{seq,w=8,over=wrap}GB", none);
    let warned = format("RR@{seq,w=8,over=wrap,reuse_after=24mo}GB");
    let said = warned.warnings()[0].to_string();
    assert!(said.starts_with("S6, column 3: a server gives nothing after 99999999"), "{said}");
}

#[test]
fn s7_refuses_too_few_texts_to_hide_among() {
    let keys = [("k1".to_owned(), ObfuscationKey::new(&[1; 32]).unwrap())].into();
    let settings = Settings { keys, ..Settings::default() };
    let says = ["5 digits make 100000 texts", "1000000 are needed", "write w=6 or more"];
    rule(Rule::S7, "W@{seq,w=5,obf=ff1:k1}", &settings, &says, "W@{seq,w=6,obf=ff1:k1}");
    rule(
        Rule::S7,
        "W@{seq,w=3,radix=36,obf=ff1:k1}",
        &settings,
        &["write w=4 or more"],
        "W@{seq,w=4,radix=36,obf=ff1:k1}",
    );
    let hidden = Settings { unique: Unique::Partition, ..settings.clone() };
    rule(
        Rule::S7,
        "W@{ctx,c,show=no}@{seq,w=6,obf=ff1:k1}",
        &hidden,
        &["no text could be decoded"],
        "W@{ctx,c,len=2}@{seq,w=6,obf=ff1:k1}",
    );
    // Two values with one text are like a hidden value.
    rule(
        Rule::S7,
        "W@{ctx,c,map=u:X;v:X}@{seq,w=7,obf=ff1:k1}",
        &hidden,
        &["no text could be decoded"],
        "W@{ctx,c,map=u:X;v:Y}@{seq,w=7,obf=ff1:k1}",
    );
    let error = refused("W@{seq,w=8,obf=ff1:k2}", &settings);
    assert!(error.contains("obf names the key \"k2\": there are k1"), "{error}");
    // Two periods encrypt the same number differently.
    let format = with("@{date,yyyyMMdd}@{seq,w=6,obf=ff1:k1}", settings);
    let hidden = |day: &str| {
        context(&format, &format!("2026-04-{day}T12:00:00Z"), "").text(1).unwrap()[8..].to_owned()
    };
    assert_ne!(hidden("01"), hidden("02"));
}

#[test]
fn s8_refuses_a_book_that_wraps() {
    let book = Settings { placement: Placement::Book, ..Settings::default() };
    let says = ["after 999 a wrapped 1 would be a second entry", "over=error"];
    rule(Rule::S8, "@{seq,w=3,over=wrap,reuse_after=1d}", &book, &says, "@{seq,w=3,over=error}");
    let keys = [("k".to_owned(), ObfuscationKey::new(&[1; 16]).unwrap())].into();
    let warned = with("@{seq,w=6,obf=ff1:k}", Settings { keys, ..book });
    assert!(warned.warnings()[0].to_string().contains("no longer look like a run"));
}

#[test]
fn s9_refuses_two_templates_with_a_common_text() {
    let pair = |one: &str, two: &str| format(one).distinct_from(&format(two));
    let error = pair("INV-@{seq,w=4}", "INV-@{seq,w=4,start=5000}").unwrap_err();
    assert_eq!(error.rule, Rule::S9);
    assert!(!error.what.contains("1111"), "it begins at 5000: {error}");
    assert!(pair("INV-@{seq,w=4}", "CRN-@{seq,w=4}").is_ok());
    assert!(pair("@{seq,w=4,over=error}", "@{seq,w=5}").is_ok(), "lengths tell them apart");
    assert!(pair("@{date,yyyy}-@{seq,w=4}", "@{date,yyyy/MM}-@{seq,w=4}").is_ok());
    assert!(pair("@{ctx,a,re=[A-Z]+}-@{seq,w=4}", "INV-@{seq,w=2,wmax=3}").is_ok());
    let error = pair("@{ctx,a,re=[A-Z]+}-@{seq,w=4}", "INV-@{seq,w=2}").unwrap_err();
    assert!(error.what.ends_with("can both render \"INV-1111\""), "{error}");
}

#[test]
fn s9_says_both_render_a_text_only_if_both_decode_it() {
    let refused = |one: &str, two: &str| {
        let (one, two) = (format(one), format(two));
        let fault = one.distinct_from(&two).unwrap_err();
        let text = fault.what.split('"').nth_back(1).unwrap().to_owned();
        let reads =
            |format: &sequent_format::Format| format.decode(&text).is_ok_and(|read| read.text == text);
        assert_eq!(fault.what.contains("can both render"), reads(&one) && reads(&two), "{fault}");
        fault.what
    };
    let counted = "@{seq,id=s,w=3,over=error}";
    let checked = |check: &str| format!("{counted}@{{check,{check},over=s}}");
    assert!(refused(&checked("luhn"), &checked("damm")).contains("can both render"));
    let day = "@{date,yyyyMMdd}@{seq,w=3,over=error}";
    assert!(refused("2024123@{seq,w=4,over=error}", day).contains("can both render \"2024123"));
    for (one, two, text) in [
        ("2024193@{seq,w=4,over=error}", day, "20241931111"),
        ("X@{seq,w=4,over=error}", "X@{ctx,a,re=\"(AB)+|1001\"}@{seq,w=1,over=error}", "X1111"),
    ] {
        let said = refused(one, two);
        assert!(said.contains("taken to overlap: by characters and lengths alone"), "{said}");
        assert!(said.ends_with(&format!("could render {text:?}")), "{said}");
    }
}

/// Every refusal names two periods with one text, except where three date fields determine the period indirectly.
#[test]
fn s3_always_names_two_periods_with_one_text() {
    let tokens = ["yyyy", "yy", "MM", "dd", "DDD", "HH", "Q", "GGGG", "WW", "FFFF"];
    let resets = ["year", "fy", "quarter", "month", "isoweek", "day", "hour"];
    let mut refused = 0;
    for (one, two, three) in (0..1000_usize).map(|at| (at % 10, at / 10 % 10, at / 100)) {
        if one > two || two > three {
            continue;
        }
        let mut shown = [tokens[one], tokens[two], tokens[three]].to_vec();
        shown.dedup();
        for (reset, fy) in resets.iter().flat_map(|reset| ["01-01", "04-01", "07-06"].map(|fy| (reset, fy))) {
            let template = format!("@{{date,{},fy={fy}}}-@{{seq,w=4,reset={reset}}}", shown.join("-"));
            let Err(error) = Template::parse(&template).unwrap().analyze(&Settings::default()) else {
                continue;
            };
            let is_indirect =
                shown.len() == 3 && error.to_string().contains("parse cannot compute the period");
            assert!(error.to_string().contains(" both show \"") || is_indirect, "{template}: {error}");
            refused += 1;
        }
    }
    assert!(refused > 1000, "{refused}");
}
