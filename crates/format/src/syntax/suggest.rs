//! Suggestions for misspelled words.

/// The Jaro-Winkler similarity from which a word is suggested; 1 is equal.
const SIMILARITY_MIN: f64 = 0.75;

/// From this length on, a word that ends in the given one is suggested: `isoweek` for `week`.
const SUFFIX_BYTES_MIN: usize = 3;

/// The word most similar to the given one, if any is similar.
///
/// ```
/// assert_eq!(sequent_format::most_similar("oder", &["order", "invoice"]), Some("order"));
/// ```
pub fn most_similar<'w>(given: &str, words: &[&'w str]) -> Option<&'w str> {
    let similarity = |word: &str| match word.strip_suffix(given) {
        Some(_) if given.len() >= SUFFIX_BYTES_MIN => 1.0,
        _ => strsim::jaro_winkler(given, word),
    };
    let rated = words.iter().map(|word| (similarity(word), *word));
    let similar = rated.filter(|(similarity, _)| *similarity >= SIMILARITY_MIN);
    similar.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, word)| word)
}

/// A hint with the most similar word; empty if none is similar.
///
/// ```
/// assert_eq!(sequent_format::did_you_mean("oder", &["order", "invoice"]), "did you mean order?");
/// assert_eq!(sequent_format::did_you_mean("zebra", &["order", "invoice"]), "");
/// ```
pub fn did_you_mean(given: &str, words: &[&str]) -> String {
    most_similar(given, words).map_or_else(String::new, |word| format!("did you mean {word}?"))
}
