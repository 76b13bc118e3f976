//! The keys outside any table: the cluster's name, and the names that a first use may define.

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::config::{
    Fault,
    reading::{
        Reader, section,
        setting::{text, texts},
    },
};

section! {
    /// Keys outside any table.
    pub(crate) struct ClusterSection(section, is_embedded: bool) {
        /// The cluster's name; the data keeps it.
        cluster: String = text("cluster").allowed("a name").or("embedded".to_owned()),

        /// Patterns of the names that a first use may define. A running server applies changes:
        /// [reload](../operating/install.md#reload).
        auto_create: Vec<String> = texts("auto_create")
            .allowed("patterns")
            .or(if is_embedded { vec!["*".to_owned()] } else { Vec::new() }),
    }
}

impl ClusterSection {
    /// The patterns of `auto_create`.
    pub(crate) fn patterns(&self, reader: &mut Reader<'_>) -> GlobSet {
        let mut globs = GlobSetBuilder::new();
        for pattern in &self.auto_create {
            match Glob::new(pattern) {
                Ok(glob) => drop(globs.add(glob)),
                Err(error) => {
                    reader.fault(Fault::new("auto_create", format!("{pattern:?}"), error.kind().to_string()));
                }
            }
        }
        globs.build().unwrap_or_else(|_| GlobSet::empty())
    }
}
