//! Error for a setting whose text is not allowed.

use std::fmt;

/// What is wrong with the text of a setting, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingError(pub(super) String);

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingError {}
