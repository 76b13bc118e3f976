//! JSON objects that keep duplicate fields and explicit nulls, so that both can be refused.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{
        DeserializeSeed, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
    forward_to_deserialize_any,
};
use serde_json::{Map, Value};

/// All fields of an object, duplicates included.
pub(super) struct ObjectFields(pub(super) Vec<(String, ParsedValue)>);

/// A JSON value, and the first duplicate field if it is an object. The value of a duplicate field is the last one.
pub(super) struct ParsedValue {
    pub(super) value: Value,
    pub(super) duplicate: Option<String>,
}

impl<'de> Deserialize<'de> for ParsedValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ParsedValueVisitor)
    }
}

/// Visitor of [`ParsedValue`].
struct ParsedValueVisitor;

impl ParsedValueVisitor {
    fn plain<'de, E: Error>(value: impl IntoDeserializer<'de, E>) -> Result<ParsedValue, E> {
        Ok(ParsedValue { value: Value::deserialize(value.into_deserializer())?, duplicate: None })
    }
}

impl<'de> Visitor<'de> for ParsedValueVisitor {
    type Value = ParsedValue;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<ParsedValue, E> {
        Self::plain(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<ParsedValue, E> {
        Self::plain(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<ParsedValue, E> {
        Self::plain(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<ParsedValue, E> {
        Self::plain(value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<ParsedValue, E> {
        Self::plain(value)
    }

    fn visit_unit<E: Error>(self) -> Result<ParsedValue, E> {
        Self::plain(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<ParsedValue, A::Error> {
        Ok(ParsedValue { value: Value::deserialize(SeqAccessDeserializer::new(items))?, duplicate: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ParsedValue, A::Error> {
        let (mut fields, mut duplicate) = (Map::new(), None);
        while let Some((field, value)) = map.next_entry::<String, Value>()? {
            if fields.insert(field.clone(), value).is_some() {
                duplicate.get_or_insert(field);
            }
        }
        Ok(ParsedValue { value: Value::Object(fields), duplicate })
    }
}

impl<'de> Deserialize<'de> for ObjectFields {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ObjectFieldsVisitor)
    }
}

/// A struct that is read from a JSON object only. Serde alone would read a list as well, by the order of its fields.
/// A field that is null is read as null, and refused; serde alone would treat it as absent.
pub(super) struct StrictObject<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for StrictObject<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(StrictObjectVisitor(PhantomData))
    }
}

/// Visitor of [`StrictObject`].
struct StrictObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for StrictObjectVisitor<T> {
    type Value = StrictObject<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<StrictObject<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(ExplicitNulls(map))).map(StrictObject)
    }
}

/// Deserializer whose nulls are values: they are not read as absent options.
struct ExplicitNulls<T>(T);

impl<'de, A: MapAccess<'de>> MapAccess<'de> for ExplicitNulls<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.0.next_value_seed(ExplicitNulls(seed))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for ExplicitNulls<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(ExplicitNulls(from))
    }
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ExplicitNulls<D> {
    type Error = D::Error;

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        visitor.visit_some(self.0)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Visitor of [`ObjectFields`].
struct ObjectFieldsVisitor;

impl<'de> Visitor<'de> for ObjectFieldsVisitor {
    type Value = ObjectFields;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ObjectFields, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(ObjectFields(fields))
    }
}
