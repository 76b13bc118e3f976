//! Keys in readable form: `repair 20261123 010`, where stores and ledgers have `repair|8:20261123|3:010`.

use sequent_core::Key;

/// Sequence, period and values with spaces between them. A value that is empty or has spaces is quoted. A text that is
/// not a key is returned unchanged.
pub fn shown(key: &Key) -> String {
    let rest = key.as_str().get(key.sequence().len()..).unwrap_or_default();
    let Some(parts) = parts(rest) else { return key.to_string() };
    let mut text = key.sequence().to_owned();
    for (at, part) in parts.into_iter().enumerate() {
        if at == 0 && part.is_empty() {
            // Partitions without a period.
            continue;
        }
        let is_plain = !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c == '"');
        text.push(' ');
        let word = if is_plain { part.to_owned() } else { format!("{part:?}") };
        text.push_str(&word);
    }
    text
}

/// The values behind `|length:`, and the name of a generation behind `|~`.
fn parts(mut rest: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    while !rest.is_empty() {
        rest = rest.strip_prefix('|')?;
        if rest.starts_with('~') {
            // The period comes first, or there is none.
            if parts.is_empty() {
                parts.push("");
            }
            parts.push(rest);
            break;
        }
        let (length, value) = rest.split_once(':')?;
        let length = length.parse().ok()?;
        parts.push(value.get(..length)?);
        rest = value.get(length..)?;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use sequent_core::SequenceName;

    use super::*;

    #[test]
    fn people_read_names_periods_and_values() {
        let name: SequenceName = "repair".parse().unwrap();
        let key = |period: &str, values: &[&str]| shown(&Key::new(&name, period, values).unwrap());
        assert_eq!(key("20261123", &["010"]), "repair 20261123 010");
        assert_eq!(key("20261123", &[]), "repair 20261123");
        assert_eq!(key("", &["010", "a|b:c"]), "repair 010 a|b:c");
        assert_eq!(key("", &["a b", "", "é"]), "repair \"a b\" \"\" é");
        assert_eq!(shown(&Key::of(&name)), "repair");
        assert_eq!(shown(&Key::of(&name).in_generation(3)), "repair ~3");
        assert_eq!(shown(&Key::from_stored("repair|9:short")), "repair|9:short", "no key's text");
    }
}
