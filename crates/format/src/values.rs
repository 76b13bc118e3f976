//! Values that a caller gives for the `ctx` and `date` parts of a template.

use std::collections::BTreeMap;

/// Values by name, as in `with("area", "010")`.
///
/// ```
/// let values = sequent_format::Values::new().with("area", "010").with("office", "6541");
/// assert_eq!(values.get("area"), Some("010"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Values(BTreeMap<String, String>);

impl Values {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value, or replaces the one of that name.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Values {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}
