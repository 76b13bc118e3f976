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
    *all += 1;
    match format.invert(std::str::from_utf8(slip).unwrap()) {
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
