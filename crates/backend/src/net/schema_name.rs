//! Schema names of PostgreSQL.

use std::{fmt, str::FromStr};

use super::SettingError;

/// A schema name of 1 to 63 bytes. It is always quoted, so any characters are allowed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SchemaName(String);

impl SchemaName {
    /// The longest name, in bytes. PostgreSQL truncates longer ones, and two names could become one.
    pub const LENGTH_MAX: usize = 63;

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SchemaName {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let bound = Self::LENGTH_MAX;
        let fault = match text.len() {
            0 => "is empty".to_owned(),
            length if length > bound => format!("has {length} bytes: at most {bound} are allowed"),
            _ if text.contains('\0') => "holds a zero byte".to_owned(),
            _ if text.starts_with("pg_") => {
                format!("is {text:?}: names that begin with pg_ are the server's")
            }
            _ => return Ok(Self(text.to_owned())),
        };
        Err(SettingError(format!("schema {fault}")))
    }
}

impl fmt::Display for SchemaName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded() {
        for (text, part) in [("", "empty"), ("a\0b", "zero"), ("pg_x", "server's"), (&"号".repeat(22), "63")]
        {
            let error = text.parse::<SchemaName>().unwrap_err().to_string();
            assert!(error.contains(part), "{text:?}: {error}");
        }
        assert!("x".repeat(SchemaName::LENGTH_MAX).parse::<SchemaName>().is_ok());
    }
}
