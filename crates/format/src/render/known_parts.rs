//! The parts of a text that are known before the number.

/// The texts of all parts but those that need the number, with the counter's key. They come from a request, or from a text that
/// is being decoded.
#[derive(Debug, Default)]
pub(crate) struct KnownParts {
    /// The text of each part; empty for parts that need the number.
    pub(crate) texts: Vec<String>,
    pub(crate) period: String,
    pub(crate) partition: Vec<(String, String)>,
}
