//! Key of a counter: (sequence, period, partition values), encoded without ambiguity.

use std::{fmt, sync::Arc};

use crate::SequenceName;

/// Key in the form of stores and ledgers: the name, then `|length:value` for the period and for each partition value.
///
/// Two different tuples never have the same text: a name contains no `|`, and each value is prefixed by its length in bytes.
/// Cheap to clone.
///
/// ```
/// use sequent_core::{Key, SequenceName};
/// let order: SequenceName = "order".parse()?;
/// assert_eq!(Key::of(&order).as_str(), "order");
/// assert_eq!(Key::new(&order, "20170304", &["010"])?.as_str(), "order|8:20170304|3:010");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    text: Arc<str>,
    name_length: usize,
}

/// Key too long for a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("key of {length} bytes: name, period and partition values together may have at most {max}", max = Key::TEXT_MAX)]
pub struct KeyError {
    /// Bytes that the encoded key would have.
    pub length: usize,
}

impl Key {
    /// The longest encoded key, in bytes. It fits an index of every store (memcached allows 250 with our prefix).
    pub const LENGTH_MAX: usize = 240;

    /// The longest key of a sequence, in bytes. It leaves space for the suffix of a generation.
    pub const TEXT_MAX: usize = Self::LENGTH_MAX - 8;

    /// The key of a sequence without periods and partitions: its name.
    pub fn of(name: &SequenceName) -> Self {
        Self { text: name.as_str().into(), name_length: name.as_str().len() }
    }

    /// The key of one period (empty for none) and one tuple of partition values.
    pub fn new(name: &SequenceName, period: &str, partitions: &[&str]) -> Result<Self, KeyError> {
        if period.is_empty() && partitions.is_empty() {
            return Ok(Self::of(name));
        }
        let mut text = name.as_str().to_owned();
        for part in std::iter::once(&period).chain(partitions) {
            text.push('|');
            text.push_str(&part.len().to_string());
            text.push(':');
            text.push_str(part);
        }
        if text.len() > Self::TEXT_MAX {
            return Err(KeyError { length: text.len() });
        }
        Ok(Self { text: text.into(), name_length: name.as_str().len() })
    }

    /// A key read from a store or ledger.
    pub fn from_stored(text: &str) -> Self {
        Self { text: text.into(), name_length: text.find('|').unwrap_or(text.len()) }
    }

    /// The key of this counter's cells under the layout of `generation`. No other key has this text.
    ///
    /// Raw ids of one layout mean nothing in the next, so each layout after the first has its own cells.
    ///
    /// ```
    /// use sequent_core::Key;
    /// let key = Key::from_stored("order|8:20170304");
    /// assert_eq!((key.in_generation(1), key.in_generation(2).as_str()), (key, "order|8:20170304|~2"));
    /// ```
    #[must_use]
    pub fn in_generation(&self, generation: u64) -> Self {
        if generation <= 1 {
            return self.clone();
        }
        Self { text: format!("{}|~{generation}", self.text).into(), name_length: self.name_length }
    }

    /// The generation whose layout this cell's key belongs to, as [`in_generation`](Self::in_generation) wrote it; 1 if it
    /// names none.
    ///
    /// ```
    /// use sequent_core::Key;
    /// let generations = ["order", "order|8:20170304|~2", "order|0:|3:|~2"].map(|text| Key::from_stored(text).generation());
    /// assert_eq!(generations, [1, 2, 1], "the last is a value");
    /// ```
    pub fn generation(&self) -> u64 {
        let mut rest = self.text.get(self.name_length..).unwrap_or_default();
        while let Some(part) = rest.strip_prefix('|') {
            if let Some(generation) = part.strip_prefix('~') {
                return generation.parse().unwrap_or(1);
            }
            let value = part.split_once(':').and_then(|(length, value)| value.get(length.parse().ok()?..));
            rest = value.unwrap_or_default();
        }
        1
    }

    /// The encoded text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The period; empty if the key has none.
    ///
    /// ```
    /// use sequent_core::Key;
    /// assert_eq!(Key::from_stored("order|8:20170304|3:010").period(), "20170304");
    /// assert_eq!((Key::from_stored("order").period(), Key::from_stored("order|0:|3:010").period()), ("", ""));
    /// ```
    pub fn period(&self) -> &str {
        let parts = self.text.get(self.name_length + 1..).and_then(|rest| rest.split_once(':'));
        let period = parts.and_then(|(length, rest)| rest.get(..length.parse().ok()?));
        period.unwrap_or_default()
    }

    /// The name of the sequence.
    pub fn sequence(&self) -> &str {
        &self.text[..self.name_length]
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn different_tuples_have_different_texts(
            a in prop::collection::vec("[0-9:|a]{0,4}", 1..4),
            b in prop::collection::vec("[0-9:|a]{0,4}", 1..4),
        ) {
            let name: SequenceName = "n".parse().unwrap();
            let text = |t: &[String]| {
                let parts: Vec<&str> = t[1..].iter().map(String::as_str).collect();
                Key::new(&name, &t[0], &parts).unwrap()
            };
            let (key, other) = (text(&a), text(&b));
            prop_assert_eq!(a == b, key == other);
            prop_assert_eq!(key.sequence(), "n");
        }
    }
}
