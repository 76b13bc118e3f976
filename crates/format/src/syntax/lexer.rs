//! Splits a template into text and parts, with their columns: `template := ( text | part )*`, `part := "@{" kind ( "," arg )* "}"`.

use std::{iter::Peekable, str::Chars};

use crate::{
    charset::{describe, is_visible},
    error::TemplateError,
    limits::{ARGS_MAX, PARTS_MAX, TEMPLATE_BYTES_MAX},
};

/// A piece of a template, before its kind is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// Literal text.
    Text { column: usize, text: String },
    /// `@{kind,…}`.
    Part { column: usize, kind: String, args: Vec<Arg> },
}

/// One argument of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arg {
    pub(super) column: usize,
    /// `None` for the first value, which may have no name.
    pub(super) name: Option<String>,
    pub(super) value: String,
}

/// Splits a template into text and parts.
pub(super) fn tokens(template: &str) -> Result<Vec<Token>, TemplateError> {
    if template.len() > TEMPLATE_BYTES_MAX {
        let what = format!("template has {} bytes: at most {TEMPLATE_BYTES_MAX} are allowed", template.len());
        return Err(TemplateError::new(1, what));
    }
    let mut reader = Reader { chars: template.chars().peekable(), column: 1 };
    let mut tokens = Vec::new();
    let mut text = String::new();
    let mut text_column = 1;
    while let Some(c) = reader.next() {
        let part = c == '@' && reader.chars.peek() == Some(&'{');
        if !part {
            if text.is_empty() {
                text_column = reader.column - 1;
            }
            if c == '@' && reader.chars.peek() == Some(&'@') {
                reader.next();
            }
            text.push(check_visible(c, reader.column - 1)?);
            continue;
        }
        if !text.is_empty() {
            tokens.push(Token::Text { column: text_column, text: std::mem::take(&mut text) });
        }
        tokens.push(reader.part()?);
        check_part_count(tokens.len(), reader.column)?;
    }
    if !text.is_empty() {
        tokens.push(Token::Text { column: text_column, text });
    }
    check_part_count(tokens.len(), reader.column)?;
    Ok(tokens)
}

fn check_part_count(parts: usize, column: usize) -> Result<(), TemplateError> {
    if parts <= PARTS_MAX {
        return Ok(());
    }
    Err(TemplateError::new(
        column,
        format!("template has more than {PARTS_MAX} parts: at most {PARTS_MAX} are allowed"),
    ))
}

/// Text holds only what a person can read on paper.
fn check_visible(c: char, column: usize) -> Result<char, TemplateError> {
    if c == ' ' || is_visible(c) {
        return Ok(c);
    }
    let what = format!("text has {}: visible characters and blanks are allowed", describe(c));
    let hint = "leave it out, or write the usual character: on paper it looks like another one, or like none";
    Err(TemplateError::new(column, what).hint(hint))
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    column: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.chars.next()?;
        self.column += 1;
        Some(c)
    }

    /// Reads a part after its `@`.
    fn part(&mut self) -> Result<Token, TemplateError> {
        let column = self.column - 1;
        self.next();
        let mut pieces = Vec::new();
        loop {
            let (piece, closed) = self.piece(column)?;
            pieces.push(piece);
            if pieces.len() > ARGS_MAX + 1 {
                let what = format!("part has more than {ARGS_MAX} arguments: at most {ARGS_MAX} are allowed");
                return Err(TemplateError::new(column, what));
            }
            if closed {
                break;
            }
        }
        let mut pieces = pieces.into_iter();
        let kind = pieces.next().filter(|kind| !kind.quoted && !kind.text.is_empty());
        let kind = kind.ok_or_else(|| {
            TemplateError::new(column, "part has no kind")
                .hint("write one, such as @{seq} or @{date,yyyyMMdd}")
        })?;
        let args: Result<Vec<Arg>, TemplateError> = pieces.map(Piece::arg).collect();
        Ok(Token::Part { column, kind: kind.text, args: args? })
    }

    /// Reads up to the next `,` or `}`, and returns whether it was `}`.
    fn piece(&mut self, part: usize) -> Result<(Piece, bool), TemplateError> {
        let mut piece = Piece { column: self.column, text: String::new(), quoted: false, equals: None };
        let mut in_quotes = false;
        loop {
            let column = self.column;
            let Some(c) = self.next() else {
                let hint = if in_quotes { "a quote is open: close it with \"" } else { "close it with }" };
                return Err(TemplateError::new(part, "part is not closed").hint(hint));
            };
            match c {
                '"' if in_quotes => in_quotes = false,
                '"' if piece.value().trim().is_empty() => {
                    piece.keep_only_name();
                    (in_quotes, piece.quoted) = (true, true);
                }
                '"' => {
                    return Err(TemplateError::new(column, "quote within a value")
                        .hint("put the whole value in quotes; a quote cannot be part of it"));
                }
                c if in_quotes => piece.text.push(check_visible(c, column)?),
                ',' => return Ok((piece, false)),
                '}' => return Ok((piece, true)),
                '@' if self.chars.peek() == Some(&'{') => {
                    return Err(TemplateError::new(column, "part within a part")
                        .hint("parts do not nest: close the outer one first, and name others by their id"));
                }
                c if piece.quoted && c != ' ' => {
                    return Err(
                        TemplateError::new(column, format!("{c:?} after a quote")).hint("put it inside")
                    );
                }
                '=' if piece.equals.is_none() => {
                    piece.equals = Some(piece.text.len());
                    piece.text.push('=');
                }
                c if piece.quoted => debug_assert_eq!(c, ' '),
                c => piece.text.push(check_visible(c, column)?),
            }
        }
    }
}

/// One argument before its name and value are separated.
struct Piece {
    column: usize,
    text: String,
    quoted: bool,
    equals: Option<usize>,
}

impl Piece {
    fn value(&self) -> &str {
        &self.text[self.equals.map_or(0, |at| at + 1)..]
    }

    /// Drops blanks before an opening quote.
    fn keep_only_name(&mut self) {
        self.text.truncate(self.equals.map_or(0, |at| at + 1));
    }

    fn arg(self) -> Result<Arg, TemplateError> {
        let value = if self.quoted { self.value() } else { self.value().trim() }.to_owned();
        if value.is_empty() && !self.quoted {
            return Err(TemplateError::new(self.column, "argument is empty")
                .hint("remove the comma, or write a value"));
        }
        let name = self.equals.map(|at| self.text[..at].trim().to_owned());
        Ok(Arg { column: self.column, name, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(column: usize, text: &str) -> Token {
        Token::Text { column, text: text.into() }
    }

    fn error(template: &str) -> (usize, String) {
        let error = tokens(template).unwrap_err();
        (error.column, error.what)
    }

    #[test]
    fn an_at_sign_is_literal_unless_a_brace_follows() {
        assert_eq!(tokens("a@b@@c@").unwrap(), [text(1, "a@b@c@")]);
        assert_eq!(tokens("@@{seq}").unwrap(), [text(1, "@{seq}")]);
        assert_eq!(tokens("").unwrap(), []);
    }

    #[test]
    fn blanks_are_trimmed_outside_quotes() {
        let Token::Part { column, kind, args } =
            &tokens("京@{ctx, area , re = \" [0-9]{3},} \" , len=3}").unwrap()[1]
        else {
            panic!("a part was expected")
        };
        assert_eq!((*column, kind.as_str()), (2, "ctx"));
        let args: Vec<_> = args.iter().map(|arg| (arg.name.as_deref(), arg.value.as_str())).collect();
        assert_eq!(args, [(None, "area"), (Some("re"), " [0-9]{3},} "), (Some("len"), "3")]);
    }

    #[test]
    fn errors_have_a_column() {
        assert_eq!(error("ab@{seq"), (3, "part is not closed".into()));
        assert_eq!(error("ab@{seq,x=\"}"), (3, "part is not closed".into()));
        assert_eq!(error("@{seq,}"), (7, "argument is empty".into()));
        assert_eq!(error("@{}"), (1, "part has no kind".into()));
        assert_eq!(error("@{ctx,@{ctx,@{seq}}}"), (7, "part within a part".into()));
        assert_eq!(error("@{ctx,a\"b\"}"), (8, "quote within a value".into()));
        assert_eq!(error("@{ctx,\"a\"b}"), (10, "'b' after a quote".into()));
        assert_eq!(error("ab\u{202e}").0, 3);
    }

    #[test]
    fn bounds_are_exact() {
        assert!(tokens(&"x".repeat(TEMPLATE_BYTES_MAX)).is_ok());
        assert!(error(&"x".repeat(TEMPLATE_BYTES_MAX + 1)).1.contains("at most 4096"));
        assert!(tokens(&"@{a}".repeat(PARTS_MAX)).is_ok());
        assert!(error(&"@{a}".repeat(PARTS_MAX + 1)).1.contains("at most 64"));
        assert!(error(&format!("@{{a{}}}", ",b".repeat(ARGS_MAX + 1))).1.contains("at most 16"));
    }
}
