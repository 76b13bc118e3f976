//! The excerpt of a template in an error: all of a short one, else the part around the fault.

/// Upper limit of the characters of a template in an error, since errors are written to logs.
pub(crate) const QUOTED_CHARS_MAX: usize = 120;

/// The quoted part of a template, around a column that counts from 1.
pub(crate) fn quoted(template: &str, column: usize) -> String {
    let count = template.chars().count();
    if count <= QUOTED_CHARS_MAX {
        return format!("{template:?}");
    }
    let place = column.saturating_sub(1).min(count);
    let first = place.saturating_sub(QUOTED_CHARS_MAX / 2).min(count - QUOTED_CHARS_MAX);
    let piece: String = template.chars().skip(first).take(QUOTED_CHARS_MAX).collect();
    let before = if first == 0 { "" } else { "…" };
    let behind = if first + QUOTED_CHARS_MAX == count { "" } else { "…" };
    format!("{:?}", format!("{before}{piece}{behind}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::Texts;

    #[test]
    fn a_long_template_is_quoted_around_what_is_wrong() {
        assert_eq!(quoted("A@{sqe}", 4), "\"A@{sqe}\"");
        let long = format!("{}@{{sqe}}{}", "A".repeat(1000), "B".repeat(1000));
        let piece = quoted(&long, 1003);
        assert!(
            piece.starts_with("\"…AAA") && piece.contains("A@{sqe}B") && piece.ends_with("B…\""),
            "{piece}"
        );
        assert_eq!(piece.chars().count(), QUOTED_CHARS_MAX + 4);
        assert!(quoted(&long, 1).ends_with("A…\"") && quoted(&long, 9999).starts_with("\"…B"));
    }

    #[test]
    fn no_template_comes_back_whole_in_an_error() {
        for long in
            ["é".repeat(65_536), "@{seq}".repeat(600), format!("{}@{{ctx,a}}@{{seq}}", "x".repeat(3000))]
        {
            let fault = Texts::new(long).proven().unwrap_err();
            assert_eq!(fault.field, "template");
            assert!(fault.value.chars().count() <= QUOTED_CHARS_MAX + 4, "{}", fault.value.len());
            assert!(fault.bound.len() < 2000, "{}", fault.bound);
        }
    }
}
