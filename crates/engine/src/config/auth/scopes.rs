//! Scopes: the names of sequences that each verb is allowed, or denied, for.

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::Verb;

/// Upper limit of the entries of one list.
const ENTRIES_MAX: usize = 256;

/// The names that each verb is allowed, or denied, for. Nothing means nothing.
///
/// An entry is verbs and a pattern of names: `next,lease:order*`. A verb of the server (`status`, `metrics`, `operate`)
/// has no pattern, or `*`. A request without a sequence has the empty name, which only `*` matches.
///
/// ```
/// use sequent_engine::config::{Scopes, Verb};
/// let scopes = Scopes::parse(&["next,lease:order*".to_owned(), "metrics".to_owned()])?;
/// assert!(scopes.has(Verb::Next, "order-2") && scopes.has(Verb::Metrics, ""));
/// assert!(!scopes.has(Verb::Next, "invoice") && !scopes.has(Verb::Show, "order-2"));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Scopes([GlobSet; Verb::ALL.len()]);

impl Scopes {
    /// The scopes of a list of entries.
    ///
    /// # Errors
    ///
    /// A text about the first entry that can't be read.
    pub fn parse(entries: &[String]) -> Result<Self, String> {
        if entries.len() > ENTRIES_MAX {
            return Err(format!("at most {ENTRIES_MAX} entries are allowed"));
        }
        let mut of_verb = Verb::ALL.map(|_| GlobSetBuilder::new());
        for entry in entries {
            let (verbs, glob) = read(entry).map_err(|bound| format!("{entry:?}: {bound}"))?;
            for verb in verbs {
                of_verb[verb as usize].add(glob.clone());
            }
        }
        let mut scopes = Self::default();
        for (set, builder) in scopes.0.iter_mut().zip(of_verb) {
            *set =
                builder.build().map_err(|error| format!("the patterns are too large together: {error}"))?;
        }
        Ok(scopes)
    }

    /// Every name for these verbs.
    pub fn everything(verbs: &[Verb]) -> Self {
        let entries: Vec<String> = verbs.iter().map(|verb| format!("{verb}:*")).collect();
        // The pattern is known to be one.
        Self::parse(&entries).unwrap_or_default()
    }

    /// Whether a verb is named for a sequence. A request without a sequence has the empty name.
    pub fn has(&self, verb: Verb, name: &str) -> bool {
        self.0[verb as usize].is_match(name)
    }

    /// Whether a verb is named for any sequence.
    pub fn has_any(&self, verb: Verb) -> bool {
        !self.0[verb as usize].is_empty()
    }
}

/// The verbs of an entry, and its pattern.
fn read(entry: &str) -> Result<(Vec<Verb>, Glob), String> {
    let (words, pattern) = match entry.split_once(':') {
        Some((words, pattern)) => (words, Some(pattern)),
        None => (entry, None),
    };
    let pattern = pattern.map(str::trim);
    let verbs = words.split(',').map(|word| word.trim().parse()).collect::<Result<Vec<Verb>, _>>()?;
    if pattern.is_none()
        && let Some(verb) = verbs.iter().find(|verb| !verb.is_of_server())
    {
        return Err(format!("{verb} needs a pattern of names, as in {verb}:order*"));
    }
    let pattern = pattern.unwrap_or("*");
    if pattern.is_empty() {
        return Err("the pattern is empty: * matches every name".to_owned());
    }
    // It means something only at the beginning of a class.
    let is_bare = |at: usize, c: char| matches!(c, '!' | '^') && !pattern[..at].ends_with('[');
    let none = |(at, c): &(usize, char)| !may_be_in_a_pattern(*c) || is_bare(*at, *c);
    if let Some((_, found)) = pattern.char_indices().find(none) {
        return Err(format!("no name has {:?}", found.to_string()));
    }
    let of_server = verbs.iter().find(|verb| verb.is_of_server());
    if let Some(verb) = of_server.filter(|_| pattern != "*") {
        return Err(format!("{verb} has no pattern of names: write it as an entry of its own"));
    }
    let glob = Glob::new(pattern).map_err(|error| format!("the pattern: {}", error.kind()))?;
    Ok((verbs, glob))
}

/// Whether a name may have the character, or a pattern means something by it. A pattern that no name matches would deny
/// nothing.
fn may_be_in_a_pattern(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.:-".contains(c) || "*?[]{},!^".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(entries: &[&str]) -> Result<Scopes, String> {
        Scopes::parse(&entries.iter().map(|&entry| entry.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn nothing_means_nothing_and_the_empty_name_needs_a_star() {
        let none = scopes(&[]).unwrap();
        assert!(Verb::ALL.iter().all(|verb| !none.has(*verb, "order") && !none.has_any(*verb)));
        let some = scopes(&["preview:order*", "parse:*", "status"]).unwrap();
        assert!(some.has_any(Verb::Preview) && !some.has(Verb::Preview, ""));
        assert!(some.has(Verb::Parse, "") && some.has(Verb::Status, ""));
        assert!(!some.has(Verb::Metrics, ""));
    }

    #[test]
    fn an_entry_that_cannot_be_read_is_named_with_what_is_allowed() {
        for (entry, expected) in [
            ("nxt:order", "\"nxt:order\": \"nxt\" is no verb: next, lease, tell, "),
            ("next", "\"next\": next needs a pattern of names, as in next:order*"),
            ("next:", "\"next:\": the pattern is empty"),
            ("next:or[der", "\"next:or[der\": the pattern: "),
            ("next,:order", "\"next,:order\": \"\" is no verb"),
            ("next:secret/*", "\"next:secret/*\": no name has \"/\""),
            ("next:a b", "\"next:a b\": no name has \" \""),
            ("next:!secret", "\"next:!secret\": no name has \"!\""),
            ("next: ", "\"next: \": the pattern is empty"),
            ("operate:x", "\"operate:x\": operate has no pattern of names"),
            ("next,status:order", "\"next,status:order\": status has no pattern of names"),
        ] {
            let found = scopes(&[entry]).unwrap_err();
            assert!(found.starts_with(expected), "{entry}: {found}");
        }
        let many = vec!["next:a".to_owned(); ENTRIES_MAX + 1];
        assert_eq!(Scopes::parse(&many).unwrap_err(), "at most 256 entries are allowed");
    }

    /// A pattern of `deny` that no name matches would deny nothing.
    #[test]
    fn blanks_around_a_pattern_do_not_count() {
        for entry in ["next: secret*", "next:secret* ", " next : secret* "] {
            let some = scopes(&[entry]).unwrap();
            assert!(some.has(Verb::Next, "secret1"), "{entry:?}");
        }
        let some = scopes(&["next:[a-c]?{x,y}[!z]", "status:*"]).unwrap();
        assert!(some.has(Verb::Next, "b.xw") && some.has(Verb::Status, ""));
    }

    #[test]
    fn a_pattern_may_hold_a_colon_and_a_comma() {
        let some = scopes(&["next:{a:b,c}*"]).unwrap();
        assert!(some.has(Verb::Next, "a:b-1") && some.has(Verb::Next, "c") && !some.has(Verb::Next, "d"));
    }
}
