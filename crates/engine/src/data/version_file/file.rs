//! The content of the version file, and the identity of the file that holds it.

use std::{
    fmt,
    fs::{File, Metadata},
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::Path,
    time::UNIX_EPOCH,
};

use sequent_core::{Era, Layout, Mark};

/// The first bytes of the file.
const HEAD: &str = "sequent/1 mark=";

/// Longer than any version file: no more is read of a foreign file.
const READ_MAX: u64 = 256;

/// The identity of a file. Inodes are used again soon; the time of birth distinguishes those, if the file system has
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity(String);

impl Identity {
    pub(crate) fn of(metadata: &Metadata) -> Self {
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

/// The content of the file, and the file's identity. An absent file has no version, and belongs to a new directory.
pub(crate) struct Held {
    pub(crate) mark: Mark,
    pub(crate) copied: Option<String>,
    /// What was found instead of a version file: one of an older release, or a foreign file. Its version counts if it
    /// can be parsed.
    pub(crate) unreadable: Option<String>,
}

impl Held {
    /// Reads content and identity from one open file, so that a concurrent rename does not mix two files.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { mark: Mark::default(), copied: None, unreadable: None });
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
        // Earlier releases wrote no layout.
        let named = named.map(|named| era(named).map_or((None, named), |(era, named)| (Some(era), named)));
        let (Ok(version), Some((era, named))) = (&version, named) else {
            let found = format!(
                "found {text:?}, expected `{HEAD}VERSION generation=N shard_bits=N memory_bits=N inode=N born=N`"
            );
            let mark = Mark { version: version.unwrap_or(0), era: None };
            return Ok(Self { mark, copied: None, unreadable: Some(found) });
        };
        let own = Identity::of(&file.metadata()?);
        let copied = (own.0 != named).then(|| format!("it names the file {named}, and is {own}"));
        Ok(Self { mark: Mark { version: *version, era }, copied, unreadable: None })
    }

    /// The content of a file with `mark` and the identity `own`.
    pub(crate) fn text(Mark { version, era }: Mark, own: &Identity) -> String {
        let era = era.map_or_else(String::new, |Era { generation, layout }| {
            let (n, m) = (layout.shard_bits(), layout.memory_bits());
            format!("generation={generation} shard_bits={n} memory_bits={m} ")
        });
        format!("{HEAD}{version} {era}{own}\n")
    }
}

/// The layout in a version file, and the rest of the text.
fn era(text: &str) -> Option<(Era, &str)> {
    let mut words = text.splitn(4, ' ');
    let mut field = |name: &str| words.next()?.strip_prefix(name)?.parse::<u64>().ok();
    let (generation, n, m) = (field("generation=")?, field("shard_bits=")?, field("memory_bits=")?);
    let layout = Layout::new(n.try_into().ok()?, m.try_into().ok()?).ok()?;
    Some((Era { generation, layout }, words.next()?))
}
