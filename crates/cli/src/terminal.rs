//! Texts of others on a terminal: control characters would command it, and marks of direction would show something
//! else than there is.

use std::borrow::Cow;

use sequent_admin::is_hidden;

/// A text for a terminal. Hidden characters are written as JSON writes them (`\u001b`), except ends of lines and tabs.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    escaped_where(text, |c| is_hidden(c) && !matches!(c, '\n' | '\t'))
}

/// A text in one line of a table: ends of lines and tabs are escaped, too.
pub(crate) fn escaped_cell(text: &str) -> Cow<'_, str> {
    escaped_where(text, is_hidden)
}

fn escaped_where(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    // Each of them has at most four digits.
    let shown = |c: char| if is_escaped(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Cow::Owned(text.chars().map(shown).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown_by_their_numbers() {
        for (text, shown) in [
            ("\u{1b}]0;owned\u{7}\u{1b}[2J", "\\u001b]0;owned\\u0007\\u001b[2J"),
            ("\u{9b}2J \r", "\\u009b2J \\u000d"),
            ("abc\u{202e}fed\u{2066}", "abc\\u202efed\\u2066"),
            ("two\nlines\t京 é 🙂", "two\nlines\t京 é 🙂"),
        ] {
            assert_eq!(escaped(text), shown);
        }
        assert_eq!(escaped_cell("two\nlines\t京\u{1b}"), "two\\u000alines\\u0009京\\u001b");
    }
}
