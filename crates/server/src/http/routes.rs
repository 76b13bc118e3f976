//! Routes of the HTTP server.

/// The resource that a path names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// Numbers of a sequence. The name is percent-decoded but not validated.
    Next(String),
    /// Definition of a sequence.
    Definition(String),
    /// List of definitions.
    Definitions,
    /// Preview of a text.
    Preview,
    /// Parsing of a text.
    Parse,
    /// `/openapi.json`.
    Description,
    /// A name that is not UTF-8, as it was sent.
    Undecodable(String),
    /// No resource.
    Unknown,
}

/// The route of a path. Segments are split before they are decoded, so that `%2f` stays within a name.
pub(crate) fn route(path: &str) -> Route {
    match path {
        "/openapi.json" => return Route::Description,
        "/v1/sequences" => return Route::Definitions,
        "/v1/preview" => return Route::Preview,
        "/v1/parse" => return Route::Parse,
        _ => {}
    }
    let defined =
        || path.strip_prefix("/v1/sequences/").filter(|name| !name.is_empty() && !name.contains('/'));
    let (segment, of): (_, fn(String) -> Route) = match (segment(path), defined()) {
        (Some(segment), _) => (segment, Route::Next),
        (None, Some(segment)) => (segment, Route::Definition),
        (None, None) => return Route::Unknown,
    };
    if !segment.contains('%') {
        return of(segment.to_owned());
    }
    decoded(segment).map_or_else(|| Route::Undecodable(segment.to_owned()), of)
}

/// The name in a path of `next`, if it needs no decoding.
pub(crate) fn plain_name(path: &str) -> Option<&str> {
    segment(path).filter(|name| !name.contains('%'))
}

fn segment(path: &str) -> Option<&str> {
    let name = path.strip_prefix("/v1/sequences/")?.strip_suffix("/next")?;
    Some(name).filter(|name| !name.contains('/'))
}

/// Percent-decodes a text. `None` if it is invalid.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        if *first != b'%' {
            bytes.push(*first);
            rest = after;
            continue;
        }
        let [high, low, after @ ..] = after else { return None };
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        bytes.push(digit(*high)? << 4 | digit(*low)?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let next = |name: &str| Route::Next(name.to_owned());
        assert_eq!(route("/v1/sequences/order/next"), next("order"));
        assert_eq!(route("/v1/sequences/..%2fx/next"), next("../x"));
        assert_eq!(route("/v1/sequences/a%00b/next"), next("a\0b"));
        assert_eq!(route("/v1/sequences//next"), next(""));
        assert_eq!(route("/v1/sequences/%ff/next"), Route::Undecodable("%ff".to_owned()));
        assert_eq!(route("/v1/sequences/%2/next"), Route::Undecodable("%2".to_owned()));
        assert_eq!(route("/v1/sequences"), Route::Definitions);
        assert_eq!(route("/v1/sequences/a%3ab"), Route::Definition("a:b".to_owned()));
        assert_eq!(route("/v1/sequences/next"), Route::Definition("next".to_owned()));
        for path in ["/", "/v1/sequences/a/b/next", "/v1/sequences/", "/v1/sequences/order/next/"] {
            assert_eq!(route(path), Route::Unknown, "{path}");
        }
    }
}
