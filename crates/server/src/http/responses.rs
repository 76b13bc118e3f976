//! Responses in JSON.

use bytes::Bytes;
use http::{HeaderValue, Response, header};
use http_body_util::Full;
use sequent_engine::{Dated, Issued};
use serde::Serialize;

use crate::http::number_json::{ENVELOPE_BYTES, NUMBER_BYTES, push_head, push_number, push_tail};

/// `200 OK` with all numbers of a request, and with their texts where the sequence has a template.
pub(super) fn issued(issued: &Issued) -> Response<Full<Bytes>> {
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

/// Writes the texts, the period and the instant. Texts may hold any character, so they are escaped.
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

/// `200 OK` with an object.
pub(crate) fn object(value: &impl Serialize) -> Response<Full<Bytes>> {
    json(Bytes::from(serde_json::to_vec(value).unwrap_or_default()))
}

/// `200 OK` with JSON that no cache may store.
pub(super) fn json(body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
