//! Parameters of `next`: from the query, from the JSON body, or from both if they agree.

use sequent_engine::{INSTANT_EXPECTED, Values};
use serde_json::Value;

use crate::{
    error::ApiError,
    http::{
        json_object::{ObjectFields, ParsedValue},
        routes::decoded,
    },
    service::NumberRequest,
};

/// Error text for an unknown field of the body.
const FIELDS: &str = "no such field: count, values, at and above are known";

/// Error text for an invalid `above`.
const ABOVE: &str = "a number as a string is expected: \"0\" (not told) to \"9223372036854775807\"";

/// Error text for a duplicate field.
const ONCE: &str = "it was said before: say it once";

/// Makes the text of the allowed counts. It is a closure, because only errors need it.
type Bound<'a> = &'a dyn Fn() -> String;

/// Parameters of `next`, valid in form.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NextParams {
    count: Option<u64>,
    values: Values,
    at: String,
    above: i64,
}

impl NextParams {
    pub(crate) fn read(query: &str, body: &[u8], bound: Bound<'_>) -> Result<Self, ApiError> {
        let mut params = Self::default();
        params.read_query(query, bound)?;
        if !body.is_empty() {
            params.read_body(body, bound)?;
        }
        Ok(params)
    }

    pub(crate) fn request<'a>(&'a self, name: &'a str) -> NumberRequest<'a> {
        NumberRequest {
            name: ("name", name),
            count: self.count.unwrap_or(1),
            timeout: None,
            values: &self.values,
            at: &self.at,
            above: self.above,
        }
    }

    fn read_query(&mut self, query: &str, bound: Bound<'_>) -> Result<(), ApiError> {
        let mut seen = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let undecodable = || ApiError::field("query", pair, "UTF-8, percent-encoded, is expected");
            let (key, value) = decoded(key).zip(decoded(value)).ok_or_else(undecodable)?;
            let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            match key.as_str() {
                // A duplicate is refused even if its value is the same: which one the caller meant can't be known.
                _ if seen.contains(&key) => return Err(ApiError::field(key, &value, ONCE)),
                "count" => {
                    let count =
                        value.parse().ok().filter(|_| digits).ok_or_else(|| not_whole(&value, bound))?;
                    self.set_count(count, &value)?;
                }
                "above" => {
                    let above = value.parse().ok().filter(|_| digits);
                    self.set_above(above.ok_or_else(|| ApiError::field("above", &value, ABOVE))?, &value)?;
                }
                _ => {
                    return Err(ApiError::field(
                        key,
                        &value,
                        "no such field: count and above are known in a query",
                    ));
                }
            }
            // At most two keys get here, since unknown ones are refused.
            seen.push(key);
        }
        Ok(())
    }

    fn read_body(&mut self, body: &[u8], bound: Bound<'_>) -> Result<(), ApiError> {
        let bad = |error: serde_json::Error| {
            ApiError::field("body", &error.to_string(), "a JSON object is expected")
        };
        let ObjectFields(fields) = serde_json::from_slice(body).map_err(bad)?;
        for (at, (field, parsed)) in fields.iter().enumerate() {
            let value = &parsed.value;
            match field.as_str() {
                // A duplicate is refused: which value the caller meant can't be known. Few fields are known, so the
                // search is short.
                _ if fields[..at].iter().any(|(before, _)| before == field) => {
                    return Err(ApiError::field(field.clone(), &plain(value), ONCE));
                }
                "count" => {
                    let count = value.as_u64().ok_or_else(|| not_whole(&plain(value), bound))?;
                    self.set_count(count, &plain(value))?;
                }
                "values" => self.values = values(parsed)?,
                "at" => {
                    let text = value.as_str().filter(|text| !text.is_empty());
                    text.ok_or_else(|| no_instant(&plain(value)))?.clone_into(&mut self.at);
                }
                // A number of a sequence is a string, because JSON readers round integers above 2^53.
                "above" => {
                    let number = value.as_str().and_then(|text| text.parse().ok());
                    let expected = || ApiError::field("above", &plain(value), ABOVE);
                    self.set_above(number.ok_or_else(expected)?, &plain(value))?;
                }
                _ => return Err(ApiError::field(field.clone(), &plain(value), FIELDS)),
            }
        }
        Ok(())
    }

    fn set_above(&mut self, above: i64, shown: &str) -> Result<(), ApiError> {
        match self.above {
            0 => self.above = above,
            before if before == above => {}
            before => {
                return Err(ApiError::field(
                    "above",
                    shown,
                    format!("{before} was said before: say it once"),
                ));
            }
        }
        Ok(())
    }

    fn set_count(&mut self, count: u64, shown: &str) -> Result<(), ApiError> {
        match self.count.replace(count) {
            Some(before) if before != count => {
                Err(ApiError::field("count", shown, format!("{before} was said before: say it once")))
            }
            _ => Ok(()),
        }
    }
}

fn not_whole(value: &str, bound: Bound<'_>) -> ApiError {
    ApiError::field("count", value, format!("a whole number is expected: {}", bound()))
}

/// Error of an `at` that is no instant. An empty one is refused as well, since the engine would read it as now.
pub(super) fn no_instant(value: &str) -> ApiError {
    ApiError::field("at", value, format!("{INSTANT_EXPECTED}; without it now counts"))
}

/// Values for a template.
pub(super) fn values(parsed: &ParsedValue) -> Result<Values, ApiError> {
    let Value::Object(fields) = &parsed.value else {
        return Err(ApiError::field("values", kind(&parsed.value), "an object of texts is expected"));
    };
    if let Some((name, value)) = parsed.duplicate.as_ref().and_then(|name| fields.get_key_value(name)) {
        return Err(ApiError::field(format!("values.{name}"), &plain(value), ONCE));
    }
    let text = |(key, value): (&String, &Value)| match value.as_str() {
        Some(text) => Ok((key.clone(), text.to_owned())),
        None => Err(ApiError::field(format!("values.{key}"), &plain(value), "a text is expected")),
    };
    fields.iter().map(text).collect::<Result<Vec<_>, _>>().map(|pairs| pairs.into_iter().collect())
}

/// A value as its caller would recognise it: texts and numbers as written, anything else by its kind.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(on) => on.to_string(),
        other => kind(other).to_owned(),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(query: &str, body: &str) -> Option<u64> {
        NextParams::read(query, body.as_bytes(), &|| "a bound".to_owned())
            .ok()
            .map(|params| params.request("x").count)
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
            params.ok().map(|params| params.above)
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
