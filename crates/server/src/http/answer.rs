//! Answers in JSON.

use std::fmt::Write;

use bytes::Bytes;
use http::{HeaderValue, Response, header};
use http_body_util::Full;

use crate::teller::{Given, Numbers};

/// The bytes of an answer around its numbers, and of one number: a first guess at what to reserve.
const AROUND: usize = 200;
const NUMBER: usize = 12;

/// Numbers are strings, since JSON's readers round them above 2^53. Written by hand: a name needs no escapes, and one
/// buffer holds it all.
pub(crate) fn given(given: &Given) -> Response<Full<Bytes>> {
    let count = match &given.numbers {
        Numbers::One(_) => 1,
        Numbers::Many(blocks) => usize::try_from(blocks.count()).unwrap_or_default(),
    };
    let mut text = String::with_capacity(AROUND + count * NUMBER);
    text.push_str("{\"sequence\":\"");
    text.push_str(given.sequence.as_str());
    text.push_str("\",\"numbers\":[");
    match &given.numbers {
        Numbers::One(number) => push(&mut text, *number),
        Numbers::Many(blocks) => blocks.numbers().for_each(|number| push(&mut text, number)),
    }
    put(&mut text, format_args!("],\"version\":{}}}", given.version));
    json(Bytes::from(text))
}

/// JSON that no cache may keep.
pub(crate) fn json(body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn push(text: &mut String, number: u64) {
    let comma = if text.ends_with('[') { "" } else { "," };
    put(text, format_args!("{comma}\"{number}\""));
}

/// Writing to a text can't fail.
fn put(text: &mut String, what: std::fmt::Arguments<'_>) {
    let _never = text.write_fmt(what).is_err();
}
