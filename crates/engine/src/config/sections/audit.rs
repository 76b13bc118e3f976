//! `[audit]`: the file in which a server records changes and refusals.

use std::path::{Path, PathBuf};

use crate::config::reading::{Reader, section, setting::text};

section! {
    /// The [audit log](../operating/audit.md): who changed what at a server, and who was refused.
    pub struct AuditSection(section) {
        /// The file, one JSON object a line. Nothing is recorded unless configured. Relative to the data directory.
        file: Option<PathBuf> = text("file").expecting("a path is expected")
            .then(|path| if path.is_empty() { Err(None) } else { Ok(path.into()) })
            .optional(),
    }
}

impl AuditSection {
    pub(crate) fn checked(reader: &mut Reader<'_>, data: &Path) -> Self {
        let mut section = reader.section("audit");
        let mut audit = Self::read(&mut section);
        section.finish();
        audit.file = audit.file.map(|path| data.join(path));
        audit
    }
}
