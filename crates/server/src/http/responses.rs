//! Answers in JSON.

use bytes::Bytes;
use http::{HeaderValue, Response, header};
use http_body_util::Full;
use sequent_engine::{Dated, Issued, Ready};

/// The bytes of an answer around its numbers, and of one number: a first guess at what to reserve.
const ENVELOPE_BYTES: usize = 200;
const NUMBER_BYTES: usize = 12;

/// The most digits of a number.
const DIGITS_MAX: usize = 20;

/// Numbers are strings, since JSON's readers round them above 2^53. Written by hand: a name needs no escapes, and one
/// buffer holds it all.
pub(crate) fn issued(issued: &Issued) -> Response<Full<Bytes>> {
    let count = usize::try_from(issued.numbers.count()).unwrap_or_default();
    let mut text = String::with_capacity(ENVELOPE_BYTES + count * NUMBER_BYTES);
    push_head(&mut text, issued.sequence.as_str());
    for (at, number) in issued.numbers.numbers().enumerate() {
        text.push_str(if at == 0 { "\"" } else { ",\"" });
        push_number(&mut text, number);
        text.push('"');
    }
    text.push(']');
    if let Some(dated) = &issued.dated {
        push_texts(&mut text, dated);
    }
    push_tail(&mut text, issued.version);
    json(Bytes::from(text))
}

/// What belongs to a template: its texts may be any characters.
fn push_texts(text: &mut String, dated: &Dated) {
    let quoted = |value: &str| serde_json::to_string(value).unwrap_or_default();
    text.push_str(",\"texts\":[");
    for (at, shown) in dated.texts.iter().enumerate() {
        text.push_str(if at == 0 { "" } else { "," });
        text.push_str(&quoted(shown));
    }
    text.push_str("],\"period\":");
    text.push_str(&quoted(&dated.period));
    text.push_str(",\"at\":");
    text.push_str(&quoted(&dated.at));
}

/// The same for one number that was ready.
pub(crate) fn single(name: &str, ready: Ready) -> Response<Full<Bytes>> {
    let mut text = String::with_capacity(ENVELOPE_BYTES);
    push_head(&mut text, name);
    text.push('"');
    push_number(&mut text, ready.number);
    text.push_str("\"]");
    push_tail(&mut text, ready.version);
    json(Bytes::from(text))
}

fn push_head(text: &mut String, name: &str) {
    text.push_str("{\"sequence\":\"");
    text.push_str(name);
    text.push_str("\",\"numbers\":[");
}

fn push_tail(text: &mut String, version: u32) {
    text.push_str(",\"version\":");
    push_number(text, version.into());
    text.push('}');
}

/// The digits of a number.
fn push_number(text: &mut String, number: u64) {
    let (mut digits, mut rest, mut at) = ([0; DIGITS_MAX], number, DIGITS_MAX);
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    text.extend(digits[at..].iter().map(|digit| char::from(*digit)));
}

/// JSON that no cache may keep.
pub(crate) fn json(body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_number() {
        for number in [0, 9, 10, 1_000_000, u64::MAX] {
            let mut text = String::new();
            push_number(&mut text, number);
            assert_eq!(text, number.to_string());
        }
    }
}
