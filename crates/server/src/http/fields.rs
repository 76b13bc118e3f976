//! A JSON object as it was written.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{
        Error, IntoDeserializer, MapAccess, SeqAccess, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};
use serde_json::{Map, Value};

/// An object's fields as they were written, twice if they were.
pub(super) struct Fields(pub(super) Vec<(String, Written)>);

/// A value, and, of an object, the first field that was written twice: of such a field the value has the last.
pub(super) struct Written {
    pub(super) value: Value,
    pub(super) twice: Option<String>,
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(WrittenReader)
    }
}

/// Reads [`Written`].
struct WrittenReader;

impl WrittenReader {
    fn plain<'de, E: Error>(value: impl IntoDeserializer<'de, E>) -> Result<Written, E> {
        Ok(Written { value: Value::deserialize(value.into_deserializer())?, twice: None })
    }
}

impl<'de> Visitor<'de> for WrittenReader {
    type Value = Written;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Written, E> {
        Self::plain(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Written, E> {
        Self::plain(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Written, E> {
        Self::plain(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Written, E> {
        Self::plain(value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Written, E> {
        Self::plain(value)
    }

    fn visit_unit<E: Error>(self) -> Result<Written, E> {
        Self::plain(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Written, A::Error> {
        Ok(Written { value: Value::deserialize(SeqAccessDeserializer::new(items))?, twice: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Written, A::Error> {
        let (mut fields, mut twice) = (Map::new(), None);
        while let Some((field, value)) = map.next_entry::<String, Value>()? {
            if fields.insert(field.clone(), value).is_some() {
                twice.get_or_insert(field);
            }
        }
        Ok(Written { value: Value::Object(fields), twice })
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Reader)
    }
}

/// What is written as an object, and only so: a reader of structs takes a list for one, whose first item is whatever field
/// stands first.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ObjectReader(PhantomData))
    }
}

/// Reads [`Object`].
struct ObjectReader<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectReader<T> {
    type Value = Object<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

/// Reads [`Fields`].
struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Fields;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Fields(fields))
    }
}
