//! A wrong digit, and two digits swapped: how often each algorithm notices, over every slip in a thousand bodies.

use sequent_format::{Format, InvertErrorKind};

use crate::support::{at, format, values};

/// Bodies of five digits, every ninety-seventh: over a thousand.
fn bodies() -> impl Iterator<Item = u64> {
    (1..100_000).step_by(97)
}

fn texts(format: &Format) -> impl Iterator<Item = Vec<u8>> {
    let issue = format.issue(at("2026-04-01T12:00:00Z"), &values("")).unwrap();
    bodies().map(move |number| issue.text(number).unwrap().into_bytes())
}

/// The share of slips that are noticed, of each kind.
struct Caught {
    single: f64,
    swapped: f64,
}

fn caught(template: &str) -> Caught {
    let format = format(template);
    let (mut singles, mut swaps) = ((0_u32, 0_u32), (0_u32, 0_u32));
    for text in texts(&format) {
        let digits: Vec<usize> = (0..text.len()).filter(|at| text[*at].is_ascii_digit()).collect();
        for &at in &digits {
            for digit in b'0'..=b'9' {
                if digit != text[at] {
                    let mut slip = text.clone();
                    slip[at] = digit;
                    count(&format, &slip, &mut singles);
                }
            }
        }
        for at in 1..text.len() {
            if text[at] != text[at - 1] && text[at].is_ascii_digit() && text[at - 1].is_ascii_digit() {
                let mut slip = text.clone();
                slip.swap(at, at - 1);
                count(&format, &slip, &mut swaps);
            }
        }
    }
    let share = |(noticed, all): (u32, u32)| f64::from(noticed) / f64::from(all);
    Caught { single: share(singles), swapped: share(swaps) }
}

fn count(format: &Format, slip: &[u8], (noticed, all): &mut (u32, u32)) {
    let read = format.invert(std::str::from_utf8(slip).unwrap());
    if read.as_ref().is_err_and(|error| error.kind == InvertErrorKind::Shape) {
        // The template's own text tells, and no check is needed.
        return;
    }
    *all += 1;
    match read {
        Err(error) => {
            let is_none = error.kind == InvertErrorKind::Number && error.what.ends_with("numbers begin at 1");
            assert!(error.kind == InvertErrorKind::CheckDigit || is_none, "{error}");
            *noticed += 1;
        }
        Ok(parsed) => assert_eq!(parsed.text.as_bytes(), slip),
    }
}

/// All slips noticed, but for rounding.
const ALL: f64 = 1.0 - 1e-9;

#[test]
fn every_wrong_digit_is_noticed_by_those_that_promise_it() {
    for (algorithm, swapped) in [
        ("damm", ALL),
        ("verhoeff", ALL),
        ("mod11-2", ALL),
        ("mod97-10", ALL),
        ("mod37-2", ALL),
        ("luhn", 0.97),
        ("gs1", 0.88),
        ("mod11-10", 0.97),
        ("mod37-36", 0.99),
        ("crockford", ALL),
    ] {
        let found = caught(&format!("@{{seq,w=5,over=error}}@{{check,{algorithm}}}"));
        assert!(found.single >= ALL, "{algorithm}: {}", found.single);
        assert!(found.swapped >= swapped, "{algorithm}: {}", found.swapped);
    }
    // ISBN's check digits are made for bodies of nine and of twelve digits.
    for (body, algorithm, swapped) in
        [("@{seq,w=9,over=error}", "isbn10", ALL), ("978@{seq,w=9,over=error}", "isbn13", 0.88)]
    {
        let found = caught(&format!("{body}@{{check,{algorithm}}}"));
        assert!(found.single >= ALL, "{algorithm}: {}", found.single);
        assert!(found.swapped >= swapped, "{algorithm}: {}", found.swapped);
    }
    let before = caught("RF@{check,rf,over=n}@{seq,id=n,w=5,over=error}");
    assert!(before.single >= ALL, "rf: {}", before.single);
}

#[test]
fn those_that_promise_less_keep_to_it() {
    // Ten and eleven become digits that others have, too.
    let s10 = caught("RR@{seq,id=n,w=8,over=error}@{check,s10,over=n}GB");
    assert!((0.975..0.995).contains(&s10.single), "{}", s10.single);
    let otrs = caught("@{seq,w=5,over=error}@{check,otrs}");
    assert!((0.93..0.96).contains(&otrs.single), "{}", otrs.single);
    let plain = caught("@{seq,w=5,over=error}@{check,plain}");
    assert!((0.85..0.95).contains(&plain.single), "{}", plain.single);
}

/// What people write in a value or in a number of base 36.
const LETTERS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Every single wrong letter or digit, in the value and in the number.
fn slips(format: &Format, value: &str, letters: &[u8]) -> (u32, u32) {
    let mut counted = (0, 0);
    let issue = format.issue(at("2026-04-01T12:00:00Z"), &values(&format!("a={value}"))).unwrap();
    for number in (1..30_000_000).step_by(997_331) {
        let text = issue.text(number).unwrap().into_bytes();
        for place in (0..text.len()).filter(|place| letters.contains(&text[*place])) {
            // The check's own characters are of another alphabet, and are counted as digits are above.
            let is_body = place < text.len() - 2;
            for letter in letters.iter().filter(|letter| **letter != text[place] && is_body) {
                let mut slip = text.clone();
                slip[place] = *letter;
                count(format, &slip, &mut counted);
            }
        }
    }
    counted
}

#[test]
fn every_wrong_letter_is_noticed_where_a_check_reads_letters() {
    let base32: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    for (algorithm, radix, re, letters, share) in [
        ("mod37-36", "36", "[0-9A-Z]", LETTERS, ALL),
        ("mod37-2", "36", "[0-9A-Z]", LETTERS, ALL),
        // A letter is two digits to it: one in the place of a digit moves all that is before.
        ("mod97-10", "36", "[0-9A-Z]", LETTERS, 0.99),
        ("crockford", "32c", "[0-9A-HJKMNP-TV-Z]", base32, ALL),
    ] {
        let template = format!(
            "@{{ctx,a,re=\"{re}{{3}}\"}}-@{{seq,w=6,radix={radix},over=error}}@{{check,{algorithm}}}"
        );
        let format = format(&template);
        assert_eq!(format.warnings(), [], "{template}");
        let counted = ["A0Z", "XYZ", "000", "H7K"].map(|value| slips(&format, value, letters));
        let (noticed, all) = counted.into_iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let found = f64::from(noticed) / f64::from(all);
        assert!(all > 20_000 && found >= share, "{algorithm}: {noticed} of {all}");
    }
}

#[test]
fn every_wrong_letter_of_a_credit_code_is_noticed() {
    let letters: &[u8] = b"0123456789ABCDEFGHJKLMNPQRTUWXY";
    let code = format(
        "@{ctx,a,re=\"[0-9A-HJ-NPQRTUWXY]{8}\"}@{seq,w=9,radix=0123456789ABCDEFGHJKLMNPQRTUWXY,over=error}@{check,uscc}",
    );
    let (noticed, all) = slips(&code, "91350M0Y", letters);
    assert!(all > 10_000 && noticed == all, "{noticed} of {all}");
}

#[test]
fn what_a_check_passes_over_is_said_when_it_is_defined() {
    let blind = format("@{ctx,a,len=3}-@{seq,w=5,over=error}@{check,mod37-36}");
    let said = blind.warnings()[0].to_string();
    assert!(said.contains("ctx a may hold 'a', and a slip there goes unnoticed"), "{said}");
    // Which is so.
    let issue = blind.issue(at("2026-04-01T12:00:00Z"), &values("a=abc")).unwrap();
    let slip = issue.text(1).unwrap().replace("abc", "xbc");
    assert!(blind.invert(&slip).is_ok(), "{slip}");
    let number = format("7@{seq,radix=36,w=5}@{check,damm}");
    assert!(number.warnings()[0].what.contains("seq may hold 'A'"), "{:?}", number.warnings());
    for whole in [
        "@{ctx,a,re=[0-9A-Z]+}-@{seq,w=5,over=error}@{check,mod37-36}",
        "SN/é-@{date,yyyy-MM-dd}@{seq,w=5}@{check,damm}",
        "@{ctx,a}-@{seq,id=n,w=5,over=error}@{check,damm,over=n}",
    ] {
        assert_eq!(format(whole).warnings(), [], "{whole}");
    }
}
