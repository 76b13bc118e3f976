//! What the marker file says, and which file says it.

use std::{
    fmt,
    fs::{File, Metadata},
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::Path,
    time::UNIX_EPOCH,
};

/// What the file begins with.
const HEAD: &str = "sequent/1 mark=";

/// Longer than any marker: of somebody else's file no more is read.
const READ_MAX: u64 = 256;

/// Which file it is: inodes are used again soon, births tell those apart where the file system has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity(String);

impl Identity {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let born = metadata.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        let born = born.map_or_else(|| "unknown".to_owned(), |born| born.as_nanos().to_string());
        Self(format!("inode={} born={born}", metadata.ino()))
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the file says, and which file says it. An absent file says nothing, and is of a new directory.
pub(super) struct Held {
    pub(super) version: u64,
    pub(super) copied: Option<String>,
    /// What was found in the place of a marker: an older version of the program's, or somebody else's. Its version
    /// counts where it can be made out.
    pub(super) unreadable: Option<String>,
}

impl Held {
    /// The content and the file's own identity come from one open file: a rename in between changes neither.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { version: 0, copied: None, unreadable: None });
            }
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        Read::by_ref(&mut file).take(READ_MAX).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let rest = text.strip_prefix(HEAD).unwrap_or_default();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let version = rest[..digits].parse();
        let named = rest[digits..].strip_prefix(' ').and_then(|named| named.strip_suffix('\n'));
        let (Ok(version), Some(named)) = (&version, named) else {
            let found = format!("found {text:?}, expected `{HEAD}VERSION inode=N born=N`");
            return Ok(Self { version: version.unwrap_or(0), copied: None, unreadable: Some(found) });
        };
        let own = Identity::of(&file.metadata()?);
        let copied = (own.0 != named).then(|| format!("it names the file {named}, and is {own}"));
        Ok(Self { version: *version, copied, unreadable: None })
    }

    /// The content of a file that bears `version`, and is `own`.
    pub(super) fn text(version: u64, own: &Identity) -> String {
        format!("{HEAD}{version} {own}\n")
    }
}
