//! Patterns over the names of client certificates.

use globset::{Glob, GlobSet, GlobSetBuilder};

/// Patterns over the names of client certificates. A pattern with a colon is for URI names, any other for DNS names.
///
/// A DNS name has no colon and a URI has one, so that neither matches a pattern of the other kind, whatever `*` stands
/// for.
#[derive(Debug, Clone, Default)]
pub struct CertNames {
    dns: GlobSet,
    uri: GlobSet,
}

impl CertNames {
    /// The patterns that can be read. `fault` gets each other one, with the reason.
    pub(crate) fn read(patterns: &[String], mut fault: impl FnMut(&str, String)) -> Self {
        let (mut dns, mut uri) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for pattern in patterns {
            match Glob::new(pattern) {
                Ok(glob) => drop(if is_uri(pattern) { uri.add(glob) } else { dns.add(glob) }),
                Err(error) => fault(pattern, error.kind().to_string()),
            }
        }
        // Without patterns no name matches.
        let built = |builder: &GlobSetBuilder| builder.build().unwrap_or_else(|_| GlobSet::empty());
        Self { dns: built(&dns), uri: built(&uri) }
    }

    /// Whether a pattern matches the name.
    pub fn has(&self, name: &str) -> bool {
        if is_uri(name) { self.uri.is_match(name) } else { self.dns.is_match(name) }
    }
}

fn is_uri(name: &str) -> bool {
    name.contains(':')
}
