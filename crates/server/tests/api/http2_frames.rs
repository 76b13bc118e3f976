//! HTTP/2 frames by hand, for requests that no library would send.

/// Preface of a client.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// A frame of any type.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// SETTINGS with the initial window of each stream.
pub(crate) fn settings(window: u32) -> Vec<u8> {
    frame(4, 0, 0, &[&[0, 4][..], &window.to_be_bytes()].concat())
}

/// HEADERS of a gRPC call; `end` if it has no body.
pub(crate) fn head(stream: u32, path: &str, end: bool) -> Vec<u8> {
    let fields = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "x"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ];
    // Literal header fields that are not indexed.
    let short = |text: &str| u8::try_from(text.len()).unwrap();
    let field = |(name, value): (&str, &str)| {
        [&[0, short(name)], name.as_bytes(), &[short(value)], value.as_bytes()].concat()
    };
    let flags = if end { END_HEADERS | END_STREAM } else { END_HEADERS };
    frame(1, flags, stream, &fields.map(field).concat())
}
