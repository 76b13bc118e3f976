//! Errors of templates, requests and texts: the column, what was found, and what to write instead.

use sequent_format::{DecodeErrorKind, Settings, Template};

use crate::support::{at, format, refused, unique, values, with};

/// Column and message of a template's error.
fn parse_error(template: &str) -> (usize, String) {
    let error = Template::parse(template).expect_err(template);
    (error.column, error.to_string())
}

#[test]
fn a_parse_error_has_a_column_and_a_suggestion() {
    for (template, column, says) in [
        ("@{sek}", 1, "did you mean seq?"),
        ("@{serial,w=5}", 1, "did you mean seq?"),
        ("@{yyyyMMdd}@{seq}", 1, "did you mean date,yyyyMMdd?"),
        ("@{zzz}@{seq}", 1, "did you mean seq, for the number? A value by the caller is @{ctx,zzz}"),
        ("A@{seq,wdith=5}", 8, "did you mean"),
        ("@{seq,w=0}", 7, "w is 0: 1 to 64 are allowed"),
        ("@{seq,w=65}", 7, "w is 65: 1 to 64 are allowed"),
        ("@{seq,w=x}", 7, "w is x"),
        ("@{seq,w=5,w=6}", 11, "w is given twice"),
        ("@{seq,a,b}", 9, "write name=value"),
        ("@{seq,over=stop}", 7, "over is stop: widen, error, wrap are allowed"),
        ("@{seq,over=error,wmax=9}", 18, "only over=widen grows"),
        ("@{seq,w=5,wmax=4}", 11, "wmax is 4: w, 5, to 64 are allowed"),
        ("@{seq,reuse_after=1d}", 7, "only over=wrap"),
        ("@{seq,over=wrap,reuse_after=1s}", 17, "such as 12mo"),
        ("@{seq,radix=1}", 7, "alphabet has 1 characters"),
        ("@{seq,radix=62,case=upper}", 16, "two digits of this alphabet equal"),
        ("@{seq,reset=weekly}", 7, "isoweek"),
        ("@{seq,reset=week}", 7, "did you mean isoweek?"),
        ("@{seq,over=eror}", 7, "did you mean error?"),
        ("@{ctx,a,re=[0-9]{3}}@{seq}", 9, "put all of it in double quotes: re=\"[0-9]{3…\""),
        ("@{ctx,a,re=[0-9]{3}-[A-Z]{2}}@{seq}", 9, "put all of it in double quotes: re=\"[0-9]{3…\""),
        ("@{ctx,a,re=[A-Z]{2,4}}@{seq}", 20, "put all of it in double quotes: re=\"[A-Z]{2…\""),
        ("@{seq,w=4}@{check,iban}", 19, "an IBAN's digits are mod97-10"),
        ("@{seq,warn=90}", 7, "1% to 100% are allowed"),
        ("@{seq,obf=xor}", 7, "ff1:KEYNAME"),
        ("@{seq,end=5,maxn=5}", 1, "end and maxn are both given"),
        ("@{seq,start=9,end=5}", 15, "end is 5: 9 to"),
        ("@{seq}@{seq}", 7, "a definition has one counter"),
        ("X", 1, "template has no seq"),
        ("", 1, "template has no seq"),
        ("@{ctx}@{seq}", 1, "ctx names no value"),
        ("@{ctx,a b}@{seq}", 7, "letters, digits"),
        ("@{ctx,a,by=maybe}@{seq}", 9, "yes, no are allowed"),
        ("@{ctx,a,len=3,max=4}@{seq}", 1, "len is exact"),
        ("@{ctx,a,len=129}@{seq}", 9, "1 to 128 are allowed"),
        ("@{ctx,a,re=[0-9}@{seq}", 9, "re is \"[0-9\": unclosed character class"),
        ("@{ctx,a,map=x}@{seq}", 9, "value:text"),
        ("@{ctx,a,map=\"x:1;y:22\",len=1}@{seq}", 1, "\"22\""),
        ("@{ctx,a,map=x:1,case=upper}@{seq}", 1, "which case changes"),
        ("@{ctx,a}@{ctx,a}@{seq}", 9, "given twice"),
        ("@{date}@{seq}", 1, "write @{date,yyyyMMdd}"),
        ("@{date,yyyyMMDD}@{seq}", 14, "dd for the day of the month"),
        ("@{date,YYYY}@{seq}", 8, "write yyyy"),
        ("@{date,yyyy,fy=02-29}@{seq}", 13, "which most years lack"),
        ("@{date,FS,fy=04-01}@{date,FE,fy=07-01}@{seq}", 30, "another part says 04-01"),
        ("@{check,dam}@{seq}", 9, "did you mean damm?"),
        ("@{check,damm,alphabet=ab}@{seq}", 14, "only luhn takes one"),
        ("@{check,damm,over=x}@{seq,id=y}", 14, "no part is called \"x\" (left, seq, or of: y)"),
        ("@{seq,id=s}@{check,damm,over=s+s}", 25, "over is s+s: \"s\" is named twice"),
        ("@{ctx,a,len=2}@{seq,id=s}@{fn,mod,by=7,over=s+a+ s}", 40, "name each part once"),
        ("@{ctx,a,len=2}@{date,yyyy,at=a}@{seq}", 15, "\"a\" names a ctx and a date"),
        ("@{date,yyyy,at=a}@{ctx,a,len=2}@{seq}", 18, "\"a\" names a ctx and a date"),
        ("@{check,damm,over=b,id=a}@{check,damm,over=a,id=b}@{seq}", 1, "break the cycle"),
        ("@{seq,id=a}@{ctx,x,id=a}", 12, "id \"a\" is given twice"),
        ("@{key}@{seq}", 1, "write @{key,SN}"),
        ("@{bean}", 1, "write @{bean,ref=order}"),
    ] {
        let (found, text) = parse_error(template);
        assert!(text.contains(says), "{template}: {text}");
        assert_eq!(found, column, "{template}: {text}");
        assert!(text.starts_with(&format!("column {column}: ")), "{text}");
    }
}

#[test]
fn a_definition_with_unknown_names_is_refused_with_all_faults() {
    let settings = Settings { zone: "Nowhere".into(), maxlen: 0, ..Settings::default() };
    let error = refused("@{seq,obf=ff1:k}@{fn,modd,by=7}", &settings);
    for says in ["zone is \"Nowhere\"", "maxlen is 0: 1 to 256", "there are none", "did you mean mod?"] {
        assert!(error.contains(says), "{error}\nlacks: {says}");
    }
    let none = Settings::default();
    for (template, says) in [
        ("@{check,damm}@{seq}", "may have nothing to check"),
        ("@{seq,w=7,over=error}@{check,s10}", "check s10 is over 8 characters, here there are 7"),
        ("@{seq,w=8}@{check,s10}", "here there are 8 to 19"),
        ("@{seq,start=100,w=2,over=error}", "start is 100: the last number that has a text is 99"),
        ("@{ctx,b,re=\"[a-z]{4,}\",max=3}@{seq,over=error}", "contradict each other"),
        ("@{fn,mod,by=1}@{seq}", "by is \"1\": 2 to"),
        ("@{fn,mod,by=7,x=1}@{seq}", "it takes no x"),
    ] {
        let found = Template::parse(template)
            .unwrap()
            .analyze(&none)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(found.contains(says), "{template}: {found}");
    }
    let india = Settings { charset: "A-Z0-9".into(), ..Settings::default() };
    assert!(
        refused("INV/@{seq}", &india).contains("\"INV/\" may hold '/', which the charset does not allow")
    );
    assert!(refused("@{seq}", &Settings { charset: "Z-A".into(), ..india }).contains("charset is \"Z-A\""));
}

#[test]
fn a_value_is_refused_by_field_value_and_bound_before_any_number() {
    let format = with(
        "@{ctx,area,len=3}-@{ctx,site,re=[0-9]+}-@{ctx,co,map=ACME Ltd:AC;Bolt:BO}-@{ctx,kind,case=upper,len=1}-@{seq}",
        Settings { charset: "A-Z0-9-".into(), ..Settings::default() },
    );
    let all = [("area", "010"), ("site", "7"), ("co", "ACME Ltd"), ("kind", "x")];
    let now = at("2026-04-01T12:00:00Z");
    let given = |name: &str, value: Option<&str>| {
        let others = all.into_iter().filter(|(other, _)| *other != name);
        others.chain(value.map(|value| (name, value))).collect::<sequent_format::Values>()
    };
    let good = format.context(now, &given("", None)).unwrap();
    assert_eq!(good.text(1).unwrap(), "010-7-AC-X-1");
    let partition: Vec<(&str, &str)> = good.partition().collect();
    assert_eq!(partition, [("area", "010"), ("site", "7"), ("co", "ACME Ltd"), ("kind", "X")]);
    let parsed = format.decode("010-7-AC-X-1").unwrap();
    assert_eq!(parsed.partition[2], ("co".into(), "ACME Ltd".into()));
    for (name, value, says) in [
        ("area", None, "area is missing: the template needs it"),
        ("area", Some("10"), "area is \"10\": 3 characters are allowed"),
        ("area", Some("01é"), "'é' (U+00E9) is not allowed there"),
        ("area", Some("01a"), "'a' is not allowed there"),
        ("site", Some(""), "site is \"\": 1 to 32 characters are allowed"),
        ("site", Some("7x"), "'x' is not allowed there"),
        ("co", Some("Corp"), "co is \"Corp\": ACME Ltd, Bolt are allowed"),
        (
            "colour",
            Some("red"),
            "colour is \"red\": the template knows no such value: area, site, co, kind are allowed",
        ),
    ] {
        let error = format.context(now, &given(name, value)).unwrap_err().to_string();
        assert!(error.contains(says), "{error}\nlacks: {says}");
    }
    let even = with("@{ctx,a,re=([0-9][0-9])+}-@{seq}", Settings::default());
    let error = even.context(now, &values("a=123")).unwrap_err().to_string();
    assert_eq!(error, "a is \"123\": ([0-9][0-9])+ is allowed");
}

#[test]
fn a_decode_error_names_the_part_that_does_not_fit() {
    let order = format("@{ctx,area,len=3}-@{date,yyyyMMdd}-@{seq,w=5}-@{check,damm}");
    let text = order.context(at("2026-04-01T12:00:00Z"), &values("area=01A")).unwrap().text(42).unwrap();
    assert_eq!(order.decode(&text).unwrap().number, 42);
    let good: Vec<char> = text.chars().collect();
    let broken = |at: usize, c: char| {
        let mut text = good.clone();
        text[at] = c;
        order.decode(&text.iter().collect::<String>()).unwrap_err()
    };
    assert_eq!((broken(3, '/').kind, broken(3, '/').column), (DecodeErrorKind::Shape, 4));
    assert_eq!((broken(8, '9').kind, broken(8, '9').column), (DecodeErrorKind::Date, 5));
    assert_eq!((broken(14, 'x').kind, broken(14, 'x').column), (DecodeErrorKind::Shape, 15));
    assert_eq!((broken(15, '7').kind, broken(15, '7').column), (DecodeErrorKind::CheckDigit, 20));
    assert_eq!(
        order.decode("").unwrap_err().to_string(),
        "column 1: text has 0 characters: this template has 20 to 34"
    );
    assert!(order.decode(&"9".repeat(10_000)).unwrap_err().to_string().contains("at most 1024"));
    // A number is written in one way only.
    let padded = format("N@{seq,w=3}");
    assert!(padded.decode("N0001").is_err() && padded.decode("N001").is_ok());
    let starred = format("N@{seq,w=3,pad=*}");
    assert_eq!(starred.decode("N**1").unwrap().number, 1);
    assert!(
        starred.decode("N*01").is_err() && starred.decode("N***").is_err() && starred.decode("N1**").is_err()
    );
}

#[test]
fn hidden_values_are_not_decoded() {
    let format = with("SO-@{ctx,co,show=no}@{seq,w=4}", unique(sequent_format::Unique::Partition));
    let context = format.context(at("2026-04-01T12:00:00Z"), &values("co=ACME")).unwrap();
    assert_eq!(context.partition().collect::<Vec<_>>(), [("co", "ACME")]);
    let parsed = format.decode(&context.text(7).unwrap()).unwrap();
    assert_eq!((parsed.number, parsed.partition), (7, vec![]));
}

#[test]
fn a_text_of_two_values_decodes_to_neither() {
    let partition = unique(sequent_format::Unique::Partition);
    for (template, settings) in [
        ("A@{ctx,c,map=u:X;v:X;w:Y}@{seq,w=4}", partition),
        ("A@{ctx,c,by=no,map=u:X;v:X;w:Y}@{seq,w=4}", Settings::default()),
    ] {
        let format = with(template, settings);
        for (value, shown) in [("c=u", "AX0007"), ("c=v", "AX0007")] {
            let context = format.context(at("2026-04-01T12:00:00Z"), &values(value)).unwrap();
            assert_eq!(context.text(7).unwrap(), shown);
            let parsed = format.decode(shown).unwrap();
            assert_eq!((parsed.number, parsed.partition, parsed.values), (7, vec![], vec![]), "{template}");
        }
        let told = format.decode("AY0007").unwrap().values;
        assert_eq!(told, [("c".to_owned(), "w".to_owned())], "{template}: one value has that text");
        assert!(format.decode("AZ0007").is_err(), "{template}");
    }
}

#[test]
fn lints_are_warnings_and_not_errors() {
    let no_value = "ctx b can have no value: nothing that re matches as a whole";
    let (first, last) = ("texts may begin with a blank", "texts may end with a blank");
    for (template, says) in [
        ("@{ctx,b,re=\"([a-z]{2})+\",len=3}@{seq,over=error}", Some(no_value)),
        ("@{ctx,b,re=[a-z]X,case=lower}@{seq,over=error}", Some(no_value)),
        ("@{ctx,b,re=\"a|bbb|[c-f]{5,9}\",len=4}@{seq,over=error}", Some(no_value)),
        ("@{ctx,b,show=no,by=no,re=\"[a-z]{4}\",len=3}@{seq}", Some(no_value)),
        ("@{ctx,b,re=a^b}-@{seq}", Some(no_value)),
        ("@{ctx,b,re=a$b}-@{seq}", Some(no_value)),
        ("@{ctx,b,re=\" [a-z]\"}-@{seq}", Some(no_value)),
        ("@{ctx,b,re=\" [a-z]|x\"}-@{seq}", None),
        ("@{ctx,b,re=^[a-z]+$}-@{seq}", None),
        ("@{ctx,b,re=\"([a-z]{2})+\",len=4}@{seq,over=error}", None),
        ("@{ctx,b,re=\"x{2,3}(y|zz)*\",len=128,by=no,show=no}@{seq}", None),
        ("@{seq,w=4,pad=\" \"}", Some(first)),
        ("@{ctx,b,re=[A-Z]?,by=no}@{seq,w=4,over=error,pad=\" \"}", Some(first)),
        (" A@{seq}", Some(first)),
        ("A@{seq} ", Some(last)),
        ("@{seq,w=3,over=error} @{ctx,a,re=[A-Z]?}", Some(last)),
        ("@{date,\"' 'yyyy\"}-@{seq}", Some(first)),
        ("A@{seq,w=4,pad=\" \"}", None),
        ("A @{seq}", None),
    ] {
        let told: Vec<String> = format(template).warnings().iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), usize::from(says.is_some()), "{template}: {told:?}");
        assert!(says.is_none_or(|says| told[0].contains(says)), "{template}: {told:?}");
    }
}
