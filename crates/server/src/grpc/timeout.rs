//! The header `grpc-timeout`: how long the caller waits.

use std::time::Duration;

use http::HeaderMap;
use tonic::metadata::MetadataMap;

use crate::error::ApiError;

const FIELD: &str = "grpc-timeout";

/// The most digits that the gRPC specification allows.
const DIGITS_MAX: usize = 8;

/// The caller's timeout, if there is one.
pub(crate) fn from_metadata(metadata: &MetadataMap) -> Result<Option<Duration>, ApiError> {
    let Some(value) = metadata.get(FIELD) else { return Ok(None) };
    let text = value.to_str().unwrap_or("not a text");
    parse(text)
        .map(Some)
        .ok_or_else(|| ApiError::field(FIELD, text, "1 to 8 digits and one of H M S m u n are expected"))
}

/// Whether the timeout is absent or valid.
pub(crate) fn is_well_formed(headers: &HeaderMap) -> bool {
    headers.get(FIELD).is_none_or(|value| value.to_str().is_ok_and(|text| parse(text).is_some()))
}

fn parse(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > DIGITS_MAX || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let amount: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(amount * 3600)),
        "M" => Some(Duration::from_secs(amount * 60)),
        "S" => Some(Duration::from_secs(amount)),
        "m" => Some(Duration::from_millis(amount)),
        "u" => Some(Duration::from_micros(amount)),
        "n" => Some(Duration::from_nanos(amount)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_bounds() {
        assert_eq!(parse("250m"), Some(Duration::from_millis(250)));
        assert_eq!(parse("99999999H"), Some(Duration::from_secs(99_999_999 * 3600)));
        for text in ["", "m", "1", "-1S", "123456789S", "1s", "1é", "é"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
