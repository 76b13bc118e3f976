//! Which counter of another system becomes which sequence: `OLD=NEW` or `TABLE.OLD=NEW`, with a `*` for what both have.

use std::str::FromStr;

/// A pair of names. One `*` on the left stands for any text, and a `*` on the right for the same text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    old: String,
    new: String,
}

impl FromStr for Mapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "OLD=NEW is expected".to_owned();
        // Names of sequences have no `=`, while keys may.
        let (old, new) = text.rsplit_once('=').ok_or_else(expected)?;
        if old.is_empty() || new.is_empty() {
            return Err(expected());
        }
        let stars = |text: &str| text.matches('*').count();
        if stars(old) > 1 || stars(new) > stars(old) {
            return Err("at most one * is allowed in OLD, and in NEW if OLD has one".to_owned());
        }
        Ok(Self { old: old.to_owned(), new: new.to_owned() })
    }
}

impl Mapping {
    /// The new name, if this pair is about the old one, or about the old one of this table.
    fn applied(&self, (table, name): (&str, &str)) -> Option<String> {
        let of_table = || self.old.strip_prefix(table)?.strip_prefix('.');
        self.replaced(&self.old, name).or_else(|| self.replaced(of_table()?, name))
    }

    /// The pair as it was written.
    pub(super) fn text(&self) -> String {
        format!("{}={}", self.old, self.new)
    }

    /// Whether this pair is about any of these old tables and names.
    pub(super) fn fits<'a>(&self, mut olds: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
        olds.any(|old| self.applied(old).is_some())
    }

    fn replaced(&self, old: &str, name: &str) -> Option<String> {
        let Some((front, back)) = old.split_once('*') else {
            return (old == name).then(|| self.new.clone());
        };
        let middle = name.strip_prefix(front)?.strip_suffix(back)?;
        Some(self.new.replace('*', middle))
    }
}

/// The name of the sequence: by the first pair about the old table and name, else the old name.
pub(super) fn name(mappings: &[Mapping], old: (&str, &str)) -> String {
    mappings.iter().find_map(|mapping| mapping.applied(old)).unwrap_or_else(|| old.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pair_about_a_name_counts() {
        let pairs: Vec<Mapping> = ["seq:order=order", "seq:*:no=*", "seq:*=other.*"]
            .iter()
            .map(|text| text.parse().unwrap())
            .collect();
        let mapped = ["seq:order", "seq:bill:no", "seq:x", "y"].map(|old| name(&pairs, ("keys", old)));
        assert_eq!(mapped, ["order", "bill", "other.x", "y"]);
    }

    #[test]
    fn a_pair_may_be_about_the_counters_of_one_table() {
        let pairs: Vec<Mapping> =
            ["new.order=order", "old.*=old.*"].iter().map(|text| text.parse().unwrap()).collect();
        let tables =
            [("new", "order"), ("old", "order"), ("old", "bill"), ("newer", "order"), ("x", "old.a")];
        assert_eq!(
            tables.map(|old| name(&pairs, old)),
            ["order", "old.order", "old.bill", "order", "old.a"],
            "the last is a name with the table in it"
        );
    }

    #[test]
    fn what_is_no_pair_is_refused() {
        for text in ["order", "=x", "x=", "a*b*=c", "a=*"] {
            assert!(text.parse::<Mapping>().is_err(), "{text}");
        }
    }
}
