//! Bodies in JSON, read more strictly than serde does: duplicate fields, nulls and lists are refused.

use std::{borrow::Cow, collections::BTreeSet, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor},
};
use serde_json::Value;

use crate::error::ApiError;

/// Fields of a JSON object in their order, duplicates included.
pub(crate) struct Fields<V>(pub(super) Vec<(String, V)>);

/// Value of a field. An object keeps its duplicates.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum FieldValue {
    Object(Fields<Value>),
    Plain(Value),
}

impl FieldValue {
    /// The value, unless it is an object.
    pub(super) fn plain(&self) -> Option<&Value> {
        match self {
            Self::Object(_) => None,
            Self::Plain(value) => Some(value),
        }
    }

    /// The value for an error.
    pub(super) fn shown(&self) -> String {
        self.plain().map_or_else(|| "an object".to_owned(), shown)
    }
}

/// Reads an object without nulls and lists, since no body has any. Serde alone would read a null as an absent field,
/// and a list as the fields in their order.
pub(crate) fn read<T: DeserializeOwned>(body: &[u8], bound: &'static str) -> Result<T, ApiError> {
    let refused = |found: String| ApiError::field("body", &found, bound);
    let value = serde_json::from_slice(body).map_err(|error| refused(error.to_string()))?;
    match null_or_list(&value) {
        Some(found) => Err(refused(found)),
        None => serde_json::from_slice(body).map_err(|error| refused(error.to_string())),
    }
}

/// The first null or list within a value, with its path.
fn null_or_list(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Array(_) => Some(shown(value)),
        Value::Object(fields) => fields
            .iter()
            .find_map(|(field, value)| null_or_list(value).map(|found| format!("{field}: {found}"))),
        _ => None,
    }
}

/// The first field that is there twice. It is refused even if its value is the same: which one the caller meant can't
/// be known.
pub(super) fn duplicate<V>(fields: &[(String, V)]) -> Option<&(String, V)> {
    let mut seen = BTreeSet::new();
    fields.iter().find(|(field, _)| !seen.insert(field))
}

/// The error of a duplicate field.
pub(super) fn said_before(field: impl Into<Cow<'static, str>>, value: &str) -> ApiError {
    ApiError::field(field, value, "it was said before: say it once")
}

/// A value as its caller would recognise it: texts and numbers as written, anything else by its kind.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Fields<V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(FieldsVisitor(PhantomData))
    }
}

/// Visitor of [`Fields`].
struct FieldsVisitor<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for FieldsVisitor<V> {
    type Value = Fields<V>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<V>, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Fields(fields))
    }
}
