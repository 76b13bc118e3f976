//! `POST /v1/sequences/{name}/next`: parameters from the query, from the JSON body, or from both if they agree.

use std::{fmt::Display, sync::Arc};

use axum::{
    Extension,
    extract::{RawQuery, State},
};
use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use sequent_engine::{INSTANT_EXPECTED, Values};
use serde_json::Value;

use crate::{
    auth::Caller,
    error::ApiError,
    http::{
        api::Api,
        extract::{Name, RequestBody},
        json::{FieldValue, Fields, duplicate, said_before, shown},
        responses,
    },
    service::NumberRequest,
};

/// Error text for an unknown field of the query.
const QUERY_FIELDS: &str = "no such field: count and above are known in a query";

/// Error text for an unknown field of the body.
const BODY_FIELDS: &str = "no such field: count, values, at and above are known";

/// Error text for an invalid `above`.
const ABOVE: &str = "a number as a string is expected: \"0\" (not told) to \"9223372036854775807\"";

/// Makes the text of the allowed counts. It is a closure, because only errors need it.
type Bound<'a> = &'a dyn Fn() -> String;

pub(super) async fn next(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Caller>,
    Name(name): Name,
    RawQuery(query): RawQuery,
    body: RequestBody,
) -> Result<Response<Full<Bytes>>, ApiError> {
    let read =
        |body: Bytes| NextParams::read(&query.unwrap_or_default(), &body, &|| api.service.next_bound());
    let params = body.read().await.and_then(read).map_err(|error| api.next_metrics.refused(error))?;
    let issued = api.service.next(params.request(&name, &caller), &api.next_metrics).await?;
    Ok(responses::issued(&issued))
}

/// Parameters of `next`, valid in form.
#[derive(Debug, Default, PartialEq, Eq)]
struct NextParams {
    count: Option<u64>,
    values: Values,
    at: String,
    above: Option<i64>,
}

impl NextParams {
    fn read(query: &str, body: &[u8], bound: Bound<'_>) -> Result<Self, ApiError> {
        let mut params = Self::default();
        params.read_query(query, bound)?;
        if !body.is_empty() {
            params.read_body(body, bound)?;
        }
        Ok(params)
    }

    fn request<'a>(&'a self, name: &'a str, caller: &'a Caller) -> NumberRequest<'a> {
        NumberRequest {
            name: ("name", name),
            count: self.count.unwrap_or(1),
            timeout: None,
            values: &self.values,
            at: &self.at,
            above: self.above.unwrap_or(0),
            caller,
        }
    }

    fn read_query(&mut self, query: &str, bound: Bound<'_>) -> Result<(), ApiError> {
        let fields: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        if let Some((field, value)) = duplicate(&fields) {
            return Err(said_before(field.clone(), value));
        }
        for (field, value) in fields {
            // `parse` accepts a sign, which is no digit.
            let digits = Some(&value).filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()));
            match field.as_str() {
                "count" => self.set_count(digits.and_then(|text| text.parse().ok()), &value, bound)?,
                "above" => self.set_above(digits.and_then(|text| text.parse().ok()), &value)?,
                _ => return Err(ApiError::field(field, &value, QUERY_FIELDS)),
            }
        }
        Ok(())
    }

    fn read_body(&mut self, body: &[u8], bound: Bound<'_>) -> Result<(), ApiError> {
        let no_object = |error: serde_json::Error| {
            ApiError::field("body", &error.to_string(), "a JSON object is expected")
        };
        let Fields::<FieldValue>(fields) = serde_json::from_slice(body).map_err(no_object)?;
        if let Some((field, value)) = duplicate(&fields) {
            return Err(said_before(field.clone(), &value.shown()));
        }
        for (field, value) in fields {
            let shown = value.shown();
            let text = value.plain().and_then(Value::as_str);
            match field.as_str() {
                "count" => self.set_count(value.plain().and_then(Value::as_u64), &shown, bound)?,
                // A number of a sequence is a string, because JSON readers round integers above 2^53.
                "above" => self.set_above(text.and_then(|text| text.parse().ok()), &shown)?,
                "at" => self.at = instant(text.unwrap_or_default(), &shown)?,
                "values" => self.values = values(value)?,
                _ => return Err(ApiError::field(field, &shown, BODY_FIELDS)),
            }
        }
        Ok(())
    }

    fn set_count(&mut self, count: Option<u64>, shown: &str, bound: Bound<'_>) -> Result<(), ApiError> {
        let expected = || ApiError::field("count", shown, format!("a whole number is expected: {}", bound()));
        agree(&mut self.count, count.ok_or_else(expected)?, ("count", shown))
    }

    fn set_above(&mut self, above: Option<i64>, shown: &str) -> Result<(), ApiError> {
        let expected = || ApiError::field("above", shown, ABOVE);
        agree(&mut self.above, above.ok_or_else(expected)?, ("above", shown))
    }
}

/// Sets a parameter that the query may have set already, to the same value.
fn agree<T: Copy + PartialEq + Display>(
    parameter: &mut Option<T>,
    value: T,
    (field, shown): (&'static str, &str),
) -> Result<(), ApiError> {
    match parameter.replace(value) {
        Some(before) if before != value => {
            Err(ApiError::field(field, shown, format!("{before} was said before: say it once")))
        }
        _ => Ok(()),
    }
}

/// The text of an instant. An empty one is refused, since the engine would read it as now.
pub(crate) fn instant(text: &str, shown: &str) -> Result<String, ApiError> {
    if text.is_empty() {
        return Err(ApiError::field("at", shown, format!("{INSTANT_EXPECTED}; without it now counts")));
    }
    Ok(text.to_owned())
}

/// Values for a template.
pub(crate) fn values(given: FieldValue) -> Result<Values, ApiError> {
    let fields = match given {
        FieldValue::Object(Fields(fields)) => fields,
        FieldValue::Plain(other) => {
            return Err(ApiError::field("values", &shown(&other), "an object of texts is expected"));
        }
    };
    if let Some((name, value)) = duplicate(&fields) {
        return Err(said_before(format!("values.{name}"), &shown(value)));
    }
    let text = |(name, value): (String, Value)| match value {
        Value::String(text) => Ok((name, text)),
        other => Err(ApiError::field(format!("values.{name}"), &shown(&other), "a text is expected")),
    };
    fields.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(query: &str, body: &str) -> Option<u64> {
        NextParams::read(query, body.as_bytes(), &|| "a bound".to_owned())
            .ok()
            .map(|params| params.count.unwrap_or(1))
    }

    #[test]
    fn what_a_query_says_twice_is_refused_with_field_value_and_bound() {
        for (query, expected) in [
            ("count=3&count=3", r#"count is "3": it was said before: say it once"#),
            ("count=3&count=4", r#"count is "4": it was said before: say it once"#),
            ("above=7&above=0", r#"above is "0": it was said before: say it once"#),
        ] {
            let error = NextParams::read(query, b"", &|| "a bound".to_owned()).unwrap_err();
            assert_eq!(error.text(), expected, "{query}");
        }
    }

    #[test]
    fn a_value_said_twice_is_refused_with_field_value_and_bound() {
        let read = |body: &str| NextParams::read("", body.as_bytes(), &|| "a bound".to_owned());
        let error = read(r#"{"values": {"area": "010", "b": "1", "area": "011"}}"#).unwrap_err();
        assert_eq!(error.text(), r#"values.area is "011": it was said before: say it once"#);
        let params = read(r#"{"values": {"area": "010", "b": "1"}}"#).unwrap();
        assert_eq!(params.values.iter().collect::<Vec<_>>(), [("area", "010"), ("b", "1")]);
        for (body, expected) in [
            (r#"{"values": ["a"]}"#, r#"values is "a list""#),
            (r#"{"values": null}"#, r#"values is "null""#),
            (r#"{"values": {"a": {"b": 1, "b": 2}}}"#, r#"values.a is "an object""#),
            (r#"{"values": {"a": 1.5}}"#, r#"values.a is "1.5""#),
        ] {
            let error = read(body).unwrap_err();
            assert!(error.text().starts_with(expected), "{}", error.text());
        }
    }

    #[test]
    fn counts_come_from_query_or_body() {
        assert_eq!(count("", ""), Some(1));
        assert_eq!(count("count=3", ""), Some(3));
        assert_eq!(count("", r#"{"count": 4}"#), Some(4));
        assert_eq!(count("count=4", r#"{"count": 4, "values": {}}"#), Some(4));
        let above = |query: &str, body: &str| {
            let params = NextParams::read(query, body.as_bytes(), &|| "a bound".to_owned());
            params.ok().map(|params| params.above.unwrap_or(0))
        };
        assert_eq!(above("above=7", ""), Some(7));
        assert_eq!(above("count=2&above=7", r#"{"above": "7"}"#), Some(7));
        for (query, body) in [
            ("above=7", r#"{"above": "8"}"#),
            ("above=-7", ""),
            ("above=", ""),
            ("above=9223372036854775808", ""),
        ] {
            assert_eq!(above(query, body), None, "{query} {body}");
        }
        for (query, body) in [
            ("count=4", r#"{"count": 5}"#),
            ("count=+4", ""),
            ("count=", ""),
            ("count=%ff", ""),
            ("cuont=4", ""),
            ("count=3&count=3", ""),
            ("count=3&count=4", ""),
            ("count=3&%63ount=3", ""),
            ("above=7&count=3&above=7", ""),
            ("", r#"{"count": "4"}"#),
            ("", r#"{"count": 1.5}"#),
            ("", r#"{"count": null}"#),
            ("", r#"{"count": 4, "count": 4}"#),
            ("", r#"{"above": "4", "count": 4, "above": "5"}"#),
            ("", r#"{"values": {"area": 10}}"#),
            ("", r#"{"above": 7}"#),
            ("", "[1]"),
            ("", "{"),
        ] {
            assert_eq!(count(query, body), None, "{query} {body}");
        }
    }
}
