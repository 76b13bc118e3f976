//! Texts and values typed by people: which spellings are accepted.

use sequent_format::Template;

use crate::support::format;

#[test]
fn crockford_accepts_o_for_zero_and_lower_case() {
    let coupon = format("C@{seq,id=c,w=4,radix=32c}@{check,crockford,over=c}");
    for typed in ["C016JD", "CO16JD", "C0I6JD", "C0l6jd", "Co16jd"] {
        let parsed = coupon.decode(typed).unwrap();
        assert_eq!((parsed.number, &*parsed.text), (1234, "C016JD"), "{typed}");
    }
    assert!(coupon.decode("C016JE").is_err() && coupon.decode("c016JD").is_err());
}

#[test]
fn other_alphabets_accept_one_spelling() {
    let hex = format("X@{seq,w=4,radix=16}");
    assert_eq!(hex.decode("X00FF").unwrap().number, 255);
    assert!(hex.decode("X00ff").is_err());
    let small = format("X@{seq,w=4,radix=16,case=lower}");
    assert_eq!(small.decode("X00ff").unwrap().number, 255);
}

#[test]
fn characters_with_two_spellings_are_accepted_in_one() {
    let site = format("@{ctx,site,len=1}-@{seq,w=3,over=error}");
    let at = "2026-04-01T12:00:00Z".parse().unwrap();
    let given = |value: &str| site.context(at, &[("site", value)].into_iter().collect()).map(drop);
    given("K").and_then(|()| given("é")).and_then(|()| given("京")).unwrap();
    for (value, said) in [
        ("\u{212a}", "(U+212A, another spelling of \"K\") is not allowed there"),
        ("\u{212b}", "another spelling of \"Å\""),
        ("\u{f900}", "another spelling of \"豈\""),
        ("Ａ", "another spelling of \"A\""),
        ("\u{1100}", "U+1100"),
        ("\u{3164}", "U+3164"),
        ("\u{2800}", "U+2800"),
    ] {
        let error = given(value).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
        let error = Template::parse(&format!("{value}@{{seq}}")).unwrap_err().to_string();
        assert!(error.contains(said.trim_end_matches(" is not allowed there")), "{error}");
    }
}

#[test]
fn an_expression_allows_blanks_but_not_at_ends() {
    let site = format("@{ctx,site,re=[^-]+}-@{ctx,who,re=\"[a-z ]*\",show=no,by=no}@{seq,w=3,over=error}");
    let at = "2026-04-01T12:00:00Z".parse().unwrap();
    let given = |site_: &str, who: &str| {
        let values = [("site", site_), ("who", who)].into_iter().collect();
        site.context(at, &values).map(|context| context.text(7).unwrap()).map_err(|error| error.to_string())
    };
    assert_eq!(given("New York", "a b").unwrap(), "New York-007");
    assert_eq!(site.decode("New York-007").unwrap().number, 7);
    for (value, who, said) in [
        (" 10", "a", "site is \" 10\": a blank is not allowed first or last"),
        ("10 ", "a", "site is \"10 \": a blank is not allowed first or last"),
        (" ", "a", "site is \" \": a blank is not allowed"),
        ("10", "a ", "who is \"a \": a blank is not allowed first or last"),
        ("New  York", "a", "site is \"New  York\": one blank after another is not allowed"),
        ("10", "a  b", "who is \"a  b\": one blank after another is not allowed"),
        ("1\t0", "a", "site is \"1\\t0\": '\\t' is not allowed there"),
        ("1\u{a0}0", "a", "(U+00A0) is not allowed there"),
        ("1\u{7f}0", "a", "'\\u{7f}' is not allowed there"),
        ("1\u{200b}0", "a", "(U+200B) is not allowed there"),
    ] {
        let error = given(value, who).expect_err(value);
        assert!(error.contains(said), "{error}\nlacks: {said}");
    }
    for (text, said) in
        [(" 10-007", "first or last"), ("10 -007", "first or last"), ("1  0-007", "one blank after another")]
    {
        let error = site.decode(text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// As templates.md says: each is a character of its own, and only an expression excludes it.
#[test]
fn similar_letters_of_other_alphabets_are_distinct() {
    let at = "2026-04-01T12:00:00Z".parse().unwrap();
    let given = |template: &str, value: &str| {
        let context = format(template).context(at, &[("site", value)].into_iter().collect());
        context.map(|context| context.text(7).unwrap())
    };
    let (latin, cyrillic) = ("A", "\u{410}");
    let open = "@{ctx,site,len=1}-@{seq,w=3,over=error}";
    assert_ne!(given(open, latin).unwrap(), given(open, cyrillic).unwrap());
    let error = given("@{ctx,site,re=[A-Z]}-@{seq,w=3,over=error}", cyrillic).unwrap_err().to_string();
    assert!(error.contains("U+0410"), "{error}");
}

/// As templates.md says: only ASCII letters of a caller's values.
#[test]
fn case_changes_only_ascii_letters_of_values() {
    let at = "2026-04-01T12:00:00Z".parse().unwrap();
    let given = |template: &str, value: &str| {
        let values = [("area", value)].into_iter().collect();
        let context = format(template).context(at, &values).map_err(|error| error.to_string())?;
        let key = context.partition().next().map(|(_, key)| key.to_owned()).unwrap_or_default();
        Ok::<_, String>((key, context.text(7).unwrap()))
    };
    let upper = "@{ctx,area,case=upper,max=4}-@{seq,w=3,over=error}";
    for (value, key) in [("ab1", "AB1"), ("AB1", "AB1"), ("é", "é"), ("É", "É"), ("ßx", "ßX")] {
        assert_eq!(given(upper, value), Ok((key.to_owned(), format!("{key}-007"))), "{value}");
    }
    assert_eq!(given("@{ctx,area,case=lower,max=4}-@{seq,w=3,over=error}", "ABÉ").unwrap().0, "abÉ");
    let kept_out = given("@{ctx,area,case=upper,max=4,re=[A-Z]+}-@{seq,w=3,over=error}", "é").unwrap_err();
    assert!(kept_out.contains("is not allowed there"), "{kept_out}");
    assert_eq!(
        given("@{ctx,area,case=upper,re=[A-Z]+}-@{seq,w=3,over=error}", "ab").unwrap().0,
        "AB",
        "before the expression"
    );
    let mapped = "@{ctx,area,case=upper,map=\"NORTH:n1;SOUTH:s2\"}-@{seq,w=3,over=error}";
    assert_eq!(given(mapped, "north"), Ok(("NORTH".to_owned(), "n1-007".to_owned())), "as the map has it");
}
