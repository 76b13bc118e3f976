//! Passwords: in an address, or in a file that is read at each connecting.

use std::{fmt, path::PathBuf};

use super::fault::Fault;
use crate::papers;

/// Where a password is. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub enum Password {
    /// There is none.
    None,
    /// The word itself.
    Text(String),
    /// A file whose first line it is, read at each connecting.
    File(PathBuf),
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Text(_) => f.write_str("Text(***)"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}

impl Password {
    /// The word, if there is one.
    pub(crate) async fn read(&self) -> Result<Option<String>, Fault> {
        match self {
            Self::None => Ok(None),
            Self::Text(text) => Ok(Some(text.clone())),
            Self::File(path) => papers::password(path).await.map(Some).map_err(Fault::Login),
        }
    }
}
