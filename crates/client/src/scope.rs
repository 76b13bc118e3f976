//! What is asked of: a sequence, the values that a template wants, and the instant that counts.

use std::{collections::BTreeMap, sync::Arc};

use sequent_core::SequenceName;

/// A sequence, and what a request says to its template. Cheap to clone. Each has a lease of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Scope {
    name: SequenceName,
    wish: Arc<Wish>,
}

/// What a request says to a template.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Wish {
    /// Values by name.
    pub(crate) with: BTreeMap<String, String>,
    /// The instant that counts; empty: now.
    pub(crate) at: String,
}

impl Scope {
    /// A sequence, and nothing to its template.
    pub(crate) fn of(name: SequenceName) -> Self {
        Self { name, wish: Arc::default() }
    }

    /// The same with one more value, or another one of that name.
    pub(crate) fn with(&self, name: String, value: String) -> Self {
        let mut wish = Wish::clone(&self.wish);
        wish.with.insert(name, value);
        Self { name: self.name.clone(), wish: Arc::new(wish) }
    }

    /// The same at an instant.
    pub(crate) fn at(&self, at: String) -> Self {
        let wish = Wish { at, ..Wish::clone(&self.wish) };
        Self { name: self.name.clone(), wish: Arc::new(wish) }
    }

    pub(crate) fn name(&self) -> &SequenceName {
        &self.name
    }

    pub(crate) fn wish(&self) -> &Wish {
        &self.wish
    }
}
