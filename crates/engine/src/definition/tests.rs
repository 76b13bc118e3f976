//! Checks of a content, and the form of its keys.

use super::*;

fn body(template: &str, start: u64, step: u64) -> Result<Body, FieldFault> {
    Body::check(Some("spread"), start, step, None, None, Some(Texts::new(template)))
}

/// Whether the texts of its first and last number are parsed as these numbers.
fn ends_are_read(body: &Body) -> bool {
    let (format, span) = (body.format().unwrap(), body.span());
    let values = sequent_format::Values::new();
    [span.start(), span.limit()].into_iter().all(|number| {
        let shown = format.preview(number, "2026-04-01T00:00:00Z".parse().unwrap(), &values).unwrap();
        body.texts().unwrap().read(&shown.text).is_ok_and(|read| read.number == number)
    })
}

#[test]
fn a_round_begins_where_its_template_says() {
    let fault = body("@{seq,w=3,over=wrap,reuse_after=1d}", 5, 1).unwrap_err();
    assert_eq!((&*fault.field, fault.value.as_str()), ("start", "5"));
    assert!(fault.bound.contains("@{seq,start=5}"), "{}", fault.bound);
    for (template, start, step) in [
        ("@{seq,w=3,over=wrap,reuse_after=1d}", 1, 1),
        ("@{seq,w=3,over=wrap,reuse_after=1d}", 1, 2),
        ("@{seq,w=3,start=5,over=wrap,reuse_after=1d}", 1, 1),
        ("@{seq,w=3,start=5,over=wrap,reuse_after=1d}", 5, 3),
        ("@{seq,w=3,over=error}", 5, 1),
    ] {
        let body = body(template, start, step).unwrap_or_else(|fault| panic!("{template}: {fault:?}"));
        assert!(ends_are_read(&body), "{template} from {start} by {step}");
    }
}

#[test]
fn a_key_that_nothing_holds_is_told_by_its_shortest_values() {
    let name: SequenceName = "k7".parse().unwrap();
    let key = |template: &str| {
        let texts = Texts::new(template).maxlen(Some(256));
        Body::check(Some("spread"), 1, 1, None, None, Some(texts)).unwrap().example_key(&name)
    };
    let error = key("@{ctx,a,len=120}-@{ctx,b,len=112}-@{seq,w=5,over=error}").unwrap_err();
    assert_eq!(error.length, "k7|0:|120:".len() + 120 + "|112:".len() + 112);
    for template in [
        "@{date,yyyyMMddHH}-@{ctx,a,len=112}-@{ctx,b,len=100}@{seq,w=5,over=error}",
        "@{ctx,a,re=[é]+,len=115}-@{seq,w=5,over=error}",
        "@{ctx,a,len=120,by=no}-@{ctx,b,map=a:x;b:y}-@{seq,w=5,over=error}",
    ] {
        let fits = template.contains("by=no");
        assert_eq!(key(template).is_ok(), fits, "{template}");
    }
    // Values may be long: a key with short ones can be held.
    assert!(key("@{ctx,a,max=120}-@{ctx,b,len=112,re=[^-]+}-@{seq,w=5,over=error}").is_ok());
}
