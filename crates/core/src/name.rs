//! Names of sequences and clusters.

use std::{borrow::Borrow, fmt, str::FromStr, sync::Arc};

/// The longest name, in bytes.
pub const NAME_LENGTH_MAX: usize = 128;

/// The name of a sequence: `[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}`. Cheap to clone.
///
/// ```
/// use sequent_core::SequenceName;
/// assert_eq!("shop.order:2026".parse::<SequenceName>()?.as_str(), "shop.order:2026");
/// assert!("../x".parse::<SequenceName>().is_err());
/// # Ok::<(), sequent_core::NameError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SequenceName(Arc<str>);

/// Invalid name, with what was found and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The name is empty.
    #[error("name is empty: 1 to 128 of A-Z a-z 0-9 _ . : - are allowed")]
    Empty,
    /// The name is longer than [`NAME_LENGTH_MAX`].
    #[error("name has {length} bytes: at most 128 are allowed")]
    TooLong {
        /// Bytes found.
        length: usize,
    },
    /// A character that is not allowed, or not allowed in first place.
    #[error("name has {found:?} at byte {at}: A-Z a-z 0-9 _ are allowed, and . : - except in front")]
    Character {
        /// What was found.
        found: char,
        /// Where, in bytes from the start.
        at: usize,
    },
}

impl SequenceName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Names are ordered, compared and hashed as their texts are.
impl Borrow<str> for SequenceName {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl FromStr for SequenceName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if text.len() > NAME_LENGTH_MAX {
            return Err(NameError::TooLong { length: text.len() });
        }
        let allowed = |at: usize, c: char| {
            c.is_ascii_alphanumeric() || c == '_' || at > 0 && matches!(c, '.' | ':' | '-')
        };
        match text.char_indices().find(|&(at, c)| !allowed(at, c)) {
            Some((at, found)) => Err(NameError::Character { found, at }),
            None => Ok(Self(text.into())),
        }
    }
}

impl fmt::Display for SequenceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_exact() {
        assert!("a".repeat(128).parse::<SequenceName>().is_ok());
        assert_eq!("a".repeat(129).parse::<SequenceName>(), Err(NameError::TooLong { length: 129 }));
        assert_eq!("".parse::<SequenceName>(), Err(NameError::Empty));
        for bad in ["-a", ".a", ":a", "a b", "a/b", "a\0", "ä", "a|b"] {
            assert!(matches!(bad.parse::<SequenceName>(), Err(NameError::Character { .. })), "{bad:?}");
        }
    }
}
