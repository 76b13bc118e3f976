//! `case=`: ASCII letters are put into one case before a value is checked.

use super::set::Charset;

/// What happens to ASCII letters before a value is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Case {
    /// They stay.
    #[default]
    Keep,
    /// `case=upper`.
    Upper,
    /// `case=lower`.
    Lower,
}

impl Case {
    /// A text in this case.
    pub(crate) fn apply(self, text: &str) -> String {
        match self {
            Self::Keep => text.to_owned(),
            Self::Upper => text.to_ascii_uppercase(),
            Self::Lower => text.to_ascii_lowercase(),
        }
    }

    /// The characters that texts of `charset` hold in this case.
    pub(crate) fn apply_to_set(self, charset: &Charset) -> Charset {
        let (from, to): (&str, fn(&char) -> char) = match self {
            Self::Keep => return charset.clone(),
            Self::Upper => ("abcdefghijklmnopqrstuvwxyz", char::to_ascii_uppercase),
            Self::Lower => ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", char::to_ascii_lowercase),
        };
        let changed: String = from.chars().filter(|&c| charset.contains(c)).map(|c| to(&c)).collect();
        let mut cased = charset.without(&Charset::of(from));
        cased.add(&Charset::of(&changed));
        cased
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ascii_letters_change_case() {
        let upper = Case::Upper.apply_to_set(&Charset::class("[a-cX0é]").unwrap());
        assert_eq!(upper, Charset::of("ABCX0é"));
    }
}
