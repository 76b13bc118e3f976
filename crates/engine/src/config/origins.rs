//! The origin of each value, for `config show`.

use std::fmt;

/// The origin of a value. A flag overrides the environment, the environment the file, and the file the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Flag,
    /// This environment variable.
    Environment(String),
    /// The configuration file.
    File,
    /// The default: the value is not set anywhere.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::File => f.write_str("file"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value in force, as it would be written in the file; `${NAME}` is shown unexpanded, and passwords never.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The key's path.
    pub key: String,
    /// The value, as TOML; `none` without a value.
    pub value: String,
    /// The origin of the value.
    pub origin: Origin,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}  # {}", self.key, self.value, self.origin)
    }
}
