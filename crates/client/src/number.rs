//! Number of a sequence.

use std::{fmt, num::NonZeroU64, str::FromStr};

/// A number of a sequence: `0 ..= i64::MAX`, which every database column and language can hold.
///
/// ```
/// use sequent_client::Number;
/// let number: Number = "572".parse()?;
/// assert_eq!((i64::from(number), u64::from(number), number.to_string()), (572, 572, "572".to_owned()));
/// assert!("0".parse::<Number>().is_ok() && "-1".parse::<Number>().is_err());
/// # Ok::<(), sequent_client::NumberError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Number(
    /// One more than the number, so that an `Option` of it is as small.
    NonZeroU64,
);

/// A value that is no number of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberError {
    found: String,
}

impl Number {
    /// The number, if `value` is in range.
    #[inline]
    pub const fn new(value: i64) -> Option<Self> {
        if value < 0 { None } else { Self::of(value.cast_unsigned()) }
    }

    /// The number as the signed integer of databases.
    #[inline]
    pub const fn get(self) -> i64 {
        (self.0.get() - 1).cast_signed()
    }

    /// A number of a block, which holds only `0 ..= i64::MAX`.
    #[inline]
    pub(crate) const fn of(value: u64) -> Option<Self> {
        match NonZeroU64::new(value.wrapping_add(1)) {
            Some(above) => Some(Self(above)),
            None => None,
        }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.get(), f)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.get(), f)
    }
}

impl From<Number> for i64 {
    #[inline]
    fn from(number: Number) -> Self {
        number.get()
    }
}

impl From<Number> for u64 {
    #[inline]
    fn from(number: Number) -> Self {
        number.0.get() - 1
    }
}

impl TryFrom<i64> for Number {
    type Error = NumberError;

    fn try_from(value: i64) -> Result<Self, NumberError> {
        Self::new(value).ok_or_else(|| NumberError { found: value.to_string() })
    }
}

impl TryFrom<u64> for Number {
    type Error = NumberError;

    fn try_from(value: u64) -> Result<Self, NumberError> {
        let signed = i64::try_from(value).ok();
        signed.and_then(Self::new).ok_or_else(|| NumberError { found: value.to_string() })
    }
}

impl FromStr for Number {
    type Err = NumberError;

    fn from_str(text: &str) -> Result<Self, NumberError> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let value = digits.then(|| text.parse().ok()).flatten();
        value.and_then(Self::new).ok_or_else(|| NumberError { found: text.chars().take(40).collect() })
    }
}

impl fmt::Display for NumberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "number is {:?}: 0 to {} are allowed, in digits", self.found, i64::MAX)
    }
}

impl std::error::Error for NumberError {}

/// Serialized as text in formats for people and JSON, whose readers may have doubles only. An integer in binary
/// formats.
#[cfg(feature = "serde")]
mod as_text {
    use std::fmt;

    use serde::{
        Deserialize, Deserializer, Serialize, Serializer,
        de::{Error, Visitor},
    };

    use crate::number::Number;

    impl Serialize for Number {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            if serializer.is_human_readable() {
                serializer.collect_str(self)
            } else {
                serializer.serialize_i64(self.get())
            }
        }
    }

    impl<'de> Deserialize<'de> for Number {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            if deserializer.is_human_readable() {
                deserializer.deserialize_any(Either)
            } else {
                deserializer.deserialize_i64(Either)
            }
        }
    }

    /// Visitor that accepts a text or an integer.
    struct Either;

    impl Visitor<'_> for Either {
        type Value = Number;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number of a sequence, as text or integer")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
            text.parse().map_err(E::custom)
        }

        fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
            Number::try_from(value).map_err(E::custom)
        }

        fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
            Number::try_from(value).map_err(E::custom)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_sequence_can_give_is_a_number() {
        for text in ["", "-1", "+1", " 1", "1 ", "1.0", "9223372036854775808", "x", "٣"] {
            assert!(text.parse::<Number>().is_err(), "{text:?}");
        }
        assert_eq!("9223372036854775807".parse::<Number>().unwrap().get(), i64::MAX);
        assert!(Number::try_from(u64::MAX).is_err());
        assert_eq!(size_of::<Option<Number>>(), 8);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn people_read_text_and_either_is_understood() {
        let number = Number::new(i64::MAX).unwrap();
        let text = serde_json::to_string(&number).unwrap();
        assert_eq!(text, "\"9223372036854775807\"");
        assert_eq!(serde_json::from_str::<Number>(&text).unwrap(), number);
        assert_eq!(serde_json::from_str::<Number>("7").unwrap().get(), 7);
        assert_eq!(serde_json::from_str::<Number>("0").unwrap().get(), 0);
        assert!(serde_json::from_str::<Number>("-1").is_err());
    }
}
