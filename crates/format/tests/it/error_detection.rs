//! Error detection of check digits: the share of single wrong digits and of swaps that each algorithm detects, over all errors in
//! a thousand bodies.

use sequent_format::{DecodeErrorKind, Format};

use crate::support::{at, format, values};

/// Every ninety-seventh body of five digits: over a thousand.
fn bodies() -> impl Iterator<Item = u64> {
    (1..100_000).step_by(97)
}

fn texts(format: &Format) -> impl Iterator<Item = Vec<u8>> {
    let context = format.context(at("2026-04-01T12:00:00Z"), &values("")).unwrap();
    bodies().map(move |number| context.text(number).unwrap().into_bytes())
}

/// The share of detected errors, by kind.
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
                    let mut typo = text.clone();
                    typo[at] = digit;
                    count(&format, &typo, &mut singles);
                }
            }
        }
        for at in 1..text.len() {
            if text[at] != text[at - 1] && text[at].is_ascii_digit() && text[at - 1].is_ascii_digit() {
                let mut typo = text.clone();
                typo.swap(at, at - 1);
                count(&format, &typo, &mut swaps);
            }
        }
    }
    let share = |(detected, all): (u32, u32)| f64::from(detected) / f64::from(all);
    Caught { single: share(singles), swapped: share(swaps) }
}

fn count(format: &Format, typo: &[u8], (detected, all): &mut (u32, u32)) {
    let read = format.decode(std::str::from_utf8(typo).unwrap());
    if read.as_ref().is_err_and(|error| error.kind == DecodeErrorKind::Shape) {
        // The rest of the template detects it without a check.
        return;
    }
    *all += 1;
    match read {
        Err(error) => {
            let is_none = error.kind == DecodeErrorKind::Number && error.what.ends_with("numbers begin at 1");
            assert!(error.kind == DecodeErrorKind::CheckDigit || is_none, "{error}");
            *detected += 1;
        }
        Ok(parsed) => assert_eq!(parsed.text.as_bytes(), typo),
    }
}

/// All errors detected, but for rounding.
const ALL: f64 = 1.0 - 1e-9;

#[test]
fn strong_algorithms_detect_every_wrong_digit() {
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
    // ISBN requires bodies of nine or twelve digits.
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
fn weak_algorithms_detect_what_they_promise() {
    // Ten and eleven are written as digits that other remainders have, too.
    let s10 = caught("RR@{seq,id=n,w=8,over=error}@{check,s10,over=n}GB");
    assert!((0.975..0.995).contains(&s10.single), "{}", s10.single);
    let otrs = caught("@{seq,w=5,over=error}@{check,otrs}");
    assert!((0.93..0.96).contains(&otrs.single), "{}", otrs.single);
    let plain = caught("@{seq,w=5,over=error}@{check,plain}");
    assert!((0.85..0.95).contains(&plain.single), "{}", plain.single);
}

/// The characters of values and of numbers in base 36.
const LETTERS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Every single wrong character in the value and in the number.
fn single_errors(format: &Format, value: &str, letters: &[u8]) -> (u32, u32) {
    let mut counted = (0, 0);
    let context = format.context(at("2026-04-01T12:00:00Z"), &values(&format!("a={value}"))).unwrap();
    for number in (1..30_000_000).step_by(997_331) {
        let text = context.text(number).unwrap().into_bytes();
        for place in (0..text.len()).filter(|place| letters.contains(&text[*place])) {
            // The check characters have another alphabet. The tests above cover them.
            let is_body = place < text.len() - 2;
            for letter in letters.iter().filter(|letter| **letter != text[place] && is_body) {
                let mut typo = text.clone();
                typo[place] = *letter;
                count(format, &typo, &mut counted);
            }
        }
    }
    counted
}

#[test]
fn algorithms_over_letters_detect_every_wrong_letter() {
    let base32: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    for (algorithm, radix, re, letters, share) in [
        ("mod37-36", "36", "[0-9A-Z]", LETTERS, ALL),
        ("mod37-2", "36", "[0-9A-Z]", LETTERS, ALL),
        // It reads a letter as two digits, so a letter instead of a digit shifts everything before it.
        ("mod97-10", "36", "[0-9A-Z]", LETTERS, 0.99),
        ("crockford", "32c", "[0-9A-HJKMNP-TV-Z]", base32, ALL),
    ] {
        let template = format!(
            "@{{ctx,a,re=\"{re}{{3}}\"}}-@{{seq,w=6,radix={radix},over=error}}@{{check,{algorithm}}}"
        );
        let format = format(&template);
        assert_eq!(format.warnings(), [], "{template}");
        let counted = ["A0Z", "XYZ", "000", "H7K"].map(|value| single_errors(&format, value, letters));
        let (detected, all) = counted.into_iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let found = f64::from(detected) / f64::from(all);
        assert!(all > 20_000 && found >= share, "{algorithm}: {detected} of {all}");
    }
}

#[test]
fn uscc_detects_every_wrong_letter() {
    let letters: &[u8] = b"0123456789ABCDEFGHJKLMNPQRTUWXY";
    let code = format(
        "@{ctx,a,re=\"[0-9A-HJ-NPQRTUWXY]{8}\"}@{seq,w=9,radix=0123456789ABCDEFGHJKLMNPQRTUWXY,over=error}@{check,uscc}",
    );
    let (detected, all) = single_errors(&code, "91350M0Y", letters);
    assert!(all > 10_000 && detected == all, "{detected} of {all}");
}

#[test]
fn characters_that_a_check_skips_are_a_warning() {
    let blind = format("@{ctx,a,len=3}-@{seq,w=5,over=error}@{check,mod37-36}");
    let said = blind.warnings()[0].to_string();
    assert!(said.contains("ctx a may hold 'a', and an error there goes undetected"), "{said}");
    // Such an error is not detected, indeed.
    let context = blind.context(at("2026-04-01T12:00:00Z"), &values("a=abc")).unwrap();
    let typo = context.text(1).unwrap().replace("abc", "xbc");
    assert!(blind.decode(&typo).is_ok(), "{typo}");
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
