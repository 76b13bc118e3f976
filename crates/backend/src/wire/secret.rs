//! Passwords: in an address, or in a file that is read at each connecting.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use super::fault::Fault;

/// How many bytes a password file may have.
const FILE_BYTES_MAX: u64 = 4096;

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
        let path = match self {
            Self::None => return Ok(None),
            Self::Text(text) => return Ok(Some(text.clone())),
            Self::File(path) => path.clone(),
        };
        let refused =
            |cause: &dyn fmt::Display| Fault::refused(format!("password file {}: {cause}", path.display()));
        let asked = path.clone();
        let read = tokio::task::spawn_blocking(move || first_line(&asked)).await;
        let word = read.map_err(|error| refused(&error))?.map_err(|error| refused(&error))?;
        Ok(Some(word))
    }
}

fn first_line(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
