//! `map=`: a list of allowed values with their texts.

use crate::limits::MAP_ENTRIES_MAX;

/// Pairs of value and text: `value:text;value:text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueMap(Vec<(String, String)>);

impl ValueMap {
    /// Parses a list. The error is for people.
    pub(crate) fn new(written: &str) -> Result<Self, String> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for pair in written.split(';').filter(|pair| !pair.trim().is_empty()) {
            let (value, text) = pair
                .split_once(':')
                .map(|(value, text)| (value.trim(), text.trim()))
                .filter(|(value, text)| !value.is_empty() && !text.is_empty())
                .ok_or_else(|| format!("map has {pair:?}: value:text;value:text is allowed"))?;
            if [value, text].iter().any(|side| side.contains("  ")) {
                return Err(format!("map has {pair:?}: one blank after another is not allowed"));
            }
            if pairs.iter().any(|(known, _)| known == value) {
                return Err(format!("map has the value {value:?} twice"));
            }
            pairs.push((value.to_owned(), text.to_owned()));
        }
        match pairs.len() {
            0 => Err("map is empty: value:text;value:text is allowed".into()),
            1..=MAP_ENTRIES_MAX => Ok(Self(pairs)),
            count => Err(format!("map has {count} entries: at most {MAP_ENTRIES_MAX} are allowed")),
        }
    }

    /// The text of a value.
    pub(crate) fn text(&self, value: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == value).map(|(_, text)| text.as_str())
    }

    /// The first value of a text.
    pub(crate) fn value(&self, text: &str) -> Option<&str> {
        self.0.iter().find(|(_, known)| known == text).map(|(value, _)| value.as_str())
    }

    /// The value of a text; `None` if several values have the text.
    pub(crate) fn only_value(&self, text: &str) -> Option<&str> {
        let mut values = self.0.iter().filter(|(_, known)| known == text).map(|(value, _)| value.as_str());
        values.next().filter(|_| values.next().is_none())
    }

    /// All texts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, text)| text.as_str())
    }

    /// All values.
    pub(crate) fn values(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(value, _)| value.as_str())
    }

    /// Two values with the same text, and that text.
    pub(crate) fn collision(&self) -> Option<(&str, &str, &str)> {
        self.0.iter().enumerate().find_map(|(at, (value, text))| {
            let other = self.0[..at].iter().find(|(_, earlier)| earlier == text)?;
            Some((other.0.as_str(), value.as_str(), text.as_str()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named() {
        let map = ValueMap::new("ACME Ltd:AC; Bolt : BO;").unwrap();
        assert_eq!((map.text("Bolt"), map.value("AC")), (Some("BO"), Some("ACME Ltd")));
        assert_eq!(ValueMap::new("a:1;b:1").unwrap().collision(), Some(("a", "b", "1")));
        assert!(ValueMap::new("a").unwrap_err().contains("value:text"));
        assert!(ValueMap::new("a:1;a:2").unwrap_err().contains("twice"));
        for blanks in ["a  b:1", "a:1  2"] {
            assert!(ValueMap::new(blanks).unwrap_err().contains("one blank after another"), "{blanks}");
        }
        assert!(ValueMap::new(" ; ").unwrap_err().contains("empty"));
        let many: Vec<String> = (0..=MAP_ENTRIES_MAX).map(|at| format!("{at}:{at}")).collect();
        assert!(ValueMap::new(&many.join(";")).unwrap_err().contains("at most 256"));
    }
}
