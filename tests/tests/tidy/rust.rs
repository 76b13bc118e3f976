//! Just enough of Rust's lexer: text and comments blanked, test code left out, functions found.

use std::ops::Range;

/// A function and how many lines it has, from `fn` to its closing brace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its name.
    pub(crate) name: String,
    /// The line of its `fn`, from 1.
    pub(crate) line: usize,
    /// How many lines.
    pub(crate) lines: usize,
}

/// The source with comments and the insides of literals turned into blanks; offsets and lines stay.
pub(crate) fn masked(source: &str) -> String {
    let mut out: Vec<u8> = source.bytes().collect();
    let mut at = 0;
    while at < out.len() {
        let skip = literal_or_comment(&source.as_bytes()[at..], at > 0 && is_word(out[at - 1]));
        for byte in &mut out[at..at + skip] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at += skip.max(1);
    }
    String::from_utf8(out).expect("blanks replaced whole literals")
}

/// How many bytes of a comment or literal stand here, or 0.
fn literal_or_comment(rest: &[u8], in_word: bool) -> usize {
    match rest {
        [b'/', b'/', ..] => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => block_comment(rest),
        [b'"', ..] => quoted(rest),
        [b'r', b'"' | b'#', ..] if !in_word => raw(rest, 1),
        [b'b', b'r', b'"' | b'#', ..] if !in_word => raw(rest, 2),
        // A lifetime has no closing quote; a character does, after one character or an escape.
        [b'\'', b'\\', ..] => {
            2 + rest[2..].iter().skip(1).position(|byte| *byte == b'\'').map_or(0, |at| at + 2)
        }
        [b'\'', first, ..] => {
            // As many bytes as the first one of a UTF-8 character says.
            let width = (first.leading_ones() as usize).max(1);
            if rest.get(1 + width) == Some(&b'\'') { width + 2 } else { 0 }
        }
        _ => 0,
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at + 1 < rest.len() {
        match &rest[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" if depth == 1 => return at + 2,
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    rest.len()
}

fn quoted(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

fn raw(rest: &[u8], prefix: usize) -> usize {
    let hashes = rest[prefix..].iter().take_while(|byte| **byte == b'#').count();
    if rest.get(prefix + hashes) != Some(&b'"') {
        return 0; // a raw identifier
    }
    let end: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let body = prefix + hashes + 1;
    rest[body..].windows(end.len()).position(|at| at == end).map_or(rest.len(), |at| body + at + end.len())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The masked source without what is compiled for tests only.
pub(crate) fn without_tests(masked: &str) -> String {
    let mut out = masked.to_owned();
    while let Some(range) = test_item(&out) {
        let blank: String = out[range.clone()].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        out.replace_range(range, &blank);
    }
    out
}

/// The first item under `#[cfg(test)]`, `#[cfg(all(test, …))]` or `#[test]`.
fn test_item(masked: &str) -> Option<Range<usize>> {
    let marks = ["#[cfg(test)]", "#[cfg(all(test", "#[test]", "#[tokio::test"];
    let start = marks.iter().filter_map(|mark| masked.find(mark)).min()?;
    let ends = masked[start..].find(['{', ';']).map_or(masked.len(), |at| start + at);
    Some(start..braces_end(masked, ends))
}

/// The end of the item whose body or semicolon stands at `at`.
fn braces_end(masked: &str, at: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in masked.bytes().enumerate().skip(at) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return offset + 1;
        }
    }
    masked.len()
}

/// Every function with a body.
pub(crate) fn functions(masked: &str) -> Vec<Function> {
    let starts =
        masked.match_indices("fn ").filter(|(at, _)| *at == 0 || !is_word(masked.as_bytes()[at - 1]));
    starts
        .filter_map(|(at, _)| {
            let name: String =
                masked[at + 3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let body = body_of(masked, at)?;
            let lines = masked[at..braces_end(masked, body)].lines().count();
            (!name.is_empty()).then(|| Function { name, line: masked[..at].matches('\n').count() + 1, lines })
        })
        .collect()
}

/// Where the body of the `fn` at `at` opens; none for a declaration. A `;` inside `[u8; 4]` is none.
fn body_of(masked: &str, at: usize) -> Option<usize> {
    let mut brackets = 0_usize;
    for (offset, byte) in masked.bytes().enumerate().skip(at) {
        match byte {
            b'[' | b'(' => brackets += 1,
            b']' | b')' => brackets = brackets.saturating_sub(1),
            b'{' if brackets == 0 => return Some(offset),
            b';' if brackets == 0 => return None,
            _ => {}
        }
    }
    None
}

#[test]
fn literals_comments_and_tests_are_no_code() {
    let source = "fn a<'x>() { let b = \"}} fn no() {\"; let c = '}'; let d = r#\"\"}\"#; } // }\n\
                  #[cfg(test)]\nmod tests {\n fn t() { x.unwrap() }\n}\nfn z(b: [u8; 4]) {\n\n}\n";
    let code = without_tests(&masked(source));
    assert!(!code.contains("unwrap") && !code.contains("no()"), "{code}");
    let found: Vec<_> = functions(&code).into_iter().map(|f| (f.name, f.line, f.lines)).collect();
    assert_eq!(found, [("a".to_owned(), 1, 1), ("z".to_owned(), 6, 3)]);
}
