//! Faults of a configuration: all at once, each with its place, key, value and bound.

use std::fmt;

use sequent_format::most_similar;

/// One fault.
///
/// ```
/// use sequent_engine::config::Fault;
/// let fault = Fault::new("ring.shard_bits", 11, "0 to 10 are allowed");
/// assert_eq!(fault.to_string(), "ring.shard_bits is 11: 0 to 10 are allowed");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The place of the value, or of the table that lacks it: `sequent.toml:4:1`, `flag`, `environment SEQUENT_…`.
    /// Empty if the value is not set anywhere, or if the key names the place.
    pub at: String,
    /// The key's path, as `ring.shard_bits` or `shard[2].slot`.
    pub key: String,
    /// The value as written; `missing` or `unknown` if the key itself is the fault. Never a secret.
    pub value: String,
    /// What is allowed.
    pub bound: String,
}

impl Fault {
    /// A fault of `key`, nowhere yet.
    pub fn new(key: impl Into<String>, value: impl fmt::Display, bound: impl Into<String>) -> Self {
        let (key, value) = (without_secret(key.into()), without_secret(value.to_string()));
        Self { at: String::new(), key, value, bound: without_token(bound.into()) }
    }
}

/// The fault of a key that is not known under its table, which has `known`.
pub(super) fn unknown(path: String, key: &str, known: &[&str]) -> Fault {
    let suggestion = most_similar(key, known).map(|key| format!("did you mean {key}? "));
    Fault::new(path, "unknown", format!("{}{} are known", suggestion.unwrap_or_default(), known.join(", ")))
}

/// The beginning of every token.
const TOKEN: &str = "sqt_";

/// The text without tokens.
fn without_token(text: String) -> String {
    let is_of_token = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut parts = text.split(TOKEN);
    let Some(before) = parts.next().filter(|before| before.len() < text.len()) else { return text };
    parts.fold(before.to_owned(), |shown, rest| {
        let end = rest.trim_start_matches(is_of_token);
        if end.len() == rest.len() {
            format!("{shown}{TOKEN}{rest}")
        } else {
            format!("{shown}{TOKEN}***{end}")
        }
    })
}

/// The text without tokens, and without the password of a URL in it. If its end is not clear, more is hidden.
pub fn without_secret(text: String) -> String {
    let text = without_token(text);
    let Some((scheme, rest)) = text.split_once("://") else { return text };
    let hidden = rest.rsplit_once('@').and_then(|(login, place)| {
        let (user, _) = login.split_once(':')?;
        Some(format!("{scheme}://{user}:***@{place}"))
    });
    hidden.unwrap_or(text)
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.at.is_empty() {
            write!(f, "{}: ", self.at)?;
        }
        write!(f, "{} is {}: {}", self.key, self.value, self.bound)
    }
}

/// All faults of a configuration: those of the file first, by line. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.0.len() == 1 { "fault" } else { "faults" };
        write!(f, "configuration refused, {} {noun}:", self.0.len())?;
        for fault in &self.0 {
            write!(f, "\n  {fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_in_the_wrong_place_is_not_shown() {
        let fault = Fault::new("principal[0].expires", "\"sqt_uymf65wb_D9vU-x_y\"", "a date is expected");
        assert_eq!(fault.to_string(), "principal[0].expires is \"sqt_***\": a date is expected");
        let fault = Fault::new(
            "allow",
            "x",
            "\"sqt_uymf65wb_D9\" and \"sqt_abcdefgh_E8\" are no verbs, sqt_… neither",
        );
        let shown = "allow is x: \"sqt_***\" and \"sqt_***\" are no verbs, sqt_… neither";
        assert_eq!(fault.to_string(), shown, "tokens in a bound");
    }

    #[test]
    fn a_password_in_the_wrong_place_is_not_shown() {
        for (found, shown) in [
            ("\"mysql://u:geheim@h/d\"", "\"mysql://u:***@h/d\""),
            ("\"https://a:80,https://u:ge:h@eim@b:80/x\"", "\"https://a:***@b:80/x\""),
            ("mysql://u@h:3306/d", "mysql://u@h:3306/d"),
            ("https://a:80/x", "https://a:80/x"),
            ("a@b:c", "a@b:c"),
        ] {
            let fault = Fault::new("shard[0].store", found, "unknown");
            assert_eq!(fault.to_string(), format!("shard[0].store is {shown}: unknown"));
            assert_eq!(Fault::new(found, "missing", "needed").key, shown);
        }
    }
}
